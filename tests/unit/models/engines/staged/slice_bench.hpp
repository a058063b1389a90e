// One slice at a time on idle machines with round numbers (tests/support/machines.hpp). What the caches answer is scripted, so that each
// duration stands as an equation. Unless a test says so, faults, core time and page walks cost nothing.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/engines/parts/controller_load.hpp"
#include "models/engines/staged/flow_sharing.hpp"
#include "models/engines/staged/staged_memory_model.hpp"
#include "models/placement/register.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {

using Script = std::function<void(const LineRange& touched, CacheOutcome&)>;

class ScriptedCaches final : public CacheModel {
public:
  explicit ScriptedCaches(Script script) : script_{std::move(script)} {}
  void access(CoreId, std::span<const LineTouch> group, CacheOutcome& outcome) override {
    for (const LineTouch& touch : group) script_(touch.lines, outcome);
  }
  void drop(LineRange, bool, CacheOutcome&) override {}
  void flush(CacheOutcome&) override {}
  std::unique_ptr<CacheModel> clone() const override { return std::make_unique<ScriptedCaches>(*this); }

private:
  Script script_;
};

constexpr std::uint64_t lines = 64 * 10;  // whole pages, and less than a group of touches

inline Script reads(float parallelism) {
  return [parallelism](const LineRange& touched, CacheOutcome& outcome) { outcome.reads.push_back({touched, parallelism}); };
}
inline Script transfers(CoreId owner) {
  return [owner](const LineRange& touched, CacheOutcome& outcome) { outcome.transfers.push_back({touched, owner, 1}); };
}
inline const Script hits_only = [](const LineRange&, CacheOutcome&) {};

// Threads that each write their own `lines` lines once; the pages lie where the placement says.
struct SliceBench {
  explicit SliceBench(Machine described, std::string_view placement = "bind:0", unsigned threads = 1, WorkCounts counts = {})
      : machine{std::move(described)}, topology{machine}, policy{page_placements().make(placement)} {
    WorkloadBuilder builder;
    const ObjectId array = builder.object("array", threads * lines * 64, ObjectKind::mapped);
    const RegionId region = builder.loop("loop", threads);
    builder.nest(region, {lines * 8}, {write(array, 0, {8}, lines * 64)});
    builder.work(region, counts);
    builder.repeat(region);
    workload = builder.build();
    policy->prepare(nullptr, machine);
    addresses = std::make_unique<AddressSpace>(machine, *workload, *policy, Bytes{4096});
    options.system.fault.parallel = Time{};
    options.threads = threads;
  }

  void caches_answer(Script script) {
    model = std::make_unique<StagedMemoryModel>(*workload, machine, topology, std::make_unique<ScriptedCaches>(std::move(script)),
                                                std::make_unique<FlowSharing>(shared_resources(machine, topology)), options);
  }
  void start(unsigned thread, unsigned core, Time overhead = {}) {
    const CoreId on{core};
    model->start({{ThreadId{thread}, on, machine.node_of(on), Time{}}, {ExecutionId{0}, thread, thread + 1}, overhead}, *addresses);
  }
  Time last_end() {
    Time last;
    std::vector<Completion> done;
    while (const auto next = model->next_event()) {
      done.clear();
      model->advance(*next, done);
      for (const Completion& completion : done) last = std::max(last, completion.time);
    }
    return last;
  }
  // Thread 0's only iteration up to access number `last` at most; returns what it takes and where it ends.
  std::pair<Time, std::uint64_t> stretch(std::uint64_t first, std::uint64_t last, Bytes quantum) {
    const Time begin = now;
    const Work work{{ThreadId{0}, CoreId{0}, NodeId{0}, now}, {ExecutionId{0}, 0, 1}, Time{}, Stretch{first, last, quantum}};
    const std::uint64_t reached = model->start(work, *addresses).reached;
    now = last_end();
    return {now - begin, reached};
  }
  // One slice by thread 0 on `core`.
  Time time(const Script& script, unsigned core = 0, Time overhead = {}) {
    caches_answer(script);
    start(0, core, overhead);
    return last_end();
  }
  std::string bound_by() const { return model->bottlenecks().at(0).front().resource; }

  Machine machine;
  Topology topology;
  std::unique_ptr<PagePlacement> policy;
  std::shared_ptr<Workload> workload;
  std::unique_ptr<AddressSpace> addresses;
  EngineOptions options;
  std::unique_ptr<StagedMemoryModel> model;
  Time now;
};

inline testing::Matcher<Time> about(double seconds) {  // one picosecond of rounding at each end
  return testing::AllOf(testing::Ge(Time::from_seconds(seconds) - Time::picoseconds(2)),
                        testing::Le(Time::from_seconds(seconds) + Time::picoseconds(2)));
}
constexpr double n = lines;

}  // namespace homenode::test
