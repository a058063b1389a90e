// An array on a machine with round numbers, loops over it, and the engine `line` to run them: one line at a time or many. Faults cost
// nothing unless a test says so; rows close at once, so that every read takes the idle latency, but where a test leaves them open.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/engines/line/line_engine.hpp"
#include "models/placement/register.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {

inline constexpr std::int64_t page = 4096, line = 64;

// An array and loops over it; iteration t of a loop is run by thread t.
struct LineBench {
  explicit LineBench(Machine described, std::string_view placement = "bind:0", std::int64_t bytes = 64 << 20, bool rows_close = true)
      : machine{std::move(described)} {
    if (rows_close) machine.dram.row_closes_after = Time{};
    topology.emplace(machine);
    policy = page_placements().make(placement);
    array = builder.object("array", static_cast<std::uint64_t>(bytes), ObjectKind::mapped);
  }
  // Iteration t accesses the offsets plus t times `shift`, one after the other (distance 1: each needs the one before).
  ExecutionId loop(AccessKind kind, const std::vector<std::int64_t>& offsets, std::uint32_t distance = 0, std::int64_t shift = 0,
                   std::int64_t iterations = 8) {
    const RegionId region = builder.loop("loop" + std::to_string(regions_++), iterations);
    builder.stream(region, kind, array, offsets, distance, shift);
    return builder.repeat(region);
  }
  void build() {
    workload = builder.build();
    policy->prepare(nullptr, machine);
    addresses = std::make_unique<AddressSpace>(machine, *workload, *policy, Bytes{page});
    options.system.fault = {Time{}, Time{}, 0, 0};
    engine = std::make_unique<LineEngine>(*workload, machine, *topology, options);
  }
  void start(ExecutionId execution, unsigned thread, unsigned core) {
    const CoreId on{core};
    engine->start({{ThreadId{thread}, on, machine.node_of(on), now}, {execution, thread, thread + 1}, Time{}}, *addresses);
  }
  Time finish() {
    const Time begin = now;
    std::vector<Completion> done;
    while (const auto next = engine->next_event()) {
      done.clear();
      engine->advance(*next, done);
      for (const Completion& completion : done) now = std::max(now, completion.time);
    }
    return now - begin;
  }
  Time time(ExecutionId execution, unsigned thread = 0, unsigned core = 0) {
    start(execution, thread, core);
    return finish();
  }

  Machine machine;
  std::optional<Topology> topology;
  std::unique_ptr<PagePlacement> policy;
  WorkloadBuilder builder;
  ObjectId array;
  std::shared_ptr<Workload> workload;
  std::unique_ptr<AddressSpace> addresses;
  EngineOptions options;
  std::unique_ptr<LineEngine> engine;
  Time now;

private:
  int regions_ = 0;
};

}  // namespace homenode::test
