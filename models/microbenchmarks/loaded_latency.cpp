#include "models/microbenchmarks/loaded_latency.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "models/engines/line/line_engine.hpp"
#include "models/placement/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/mixed_bits.hpp"
#include "sim/machine/topology.hpp"
#include "sim/program/workload_builder.hpp"

namespace homenode {
namespace {

constexpr std::int64_t page = 4096, line = 64, lines_per_page = page / line;
constexpr std::int64_t chased = 4000;                // lines, each on a page of its own
constexpr std::int64_t pages_of_a_reader = 1 << 15;  // more than it reads during the chase
constexpr std::int64_t pages_a_slice = 16;
constexpr std::array<double, 8> pauses_of_slices{0.900, 0.929, 0.957, 0.986, 1.014, 1.043, 1.071, 1.100};  // of the mean pause

struct Programs {
  std::shared_ptr<Workload> workload;
  ExecutionId chase;
  std::vector<ExecutionId> read;  // by the length of their pauses
};

Programs programs(const Machine& machine, std::size_t readers, Time pause) {
  WorkloadBuilder builder;
  const ObjectId ring = builder.object("ring", chased * page, ObjectKind::mapped);
  const ObjectId vectors = builder.object(
      "vectors", static_cast<std::uint64_t>(std::max<std::size_t>(readers, 1)) * pages_of_a_reader * page, ObjectKind::mapped);
  const RegionId chase = builder.loop("chase", 1);
  std::vector<std::int64_t> offsets(chased);
  // A stride without a common divisor with the number of pages visits each once, in no order that rows or prefetchers could follow.
  for (std::int64_t i = 0; i < chased; ++i)
    offsets[static_cast<std::size_t>(i)] =
        i * 1607 % chased * page + static_cast<std::int64_t>(mixed_bits(static_cast<std::uint64_t>(i)) % lines_per_page) * line;
  builder.stream(chase, AccessKind::read, ring, offsets, 1);
  const ExecutionId chases = builder.repeat(chase);
  std::vector<ExecutionId> reads;
  for (const double length : pauses_of_slices) {
    const RegionId read_all = builder.loop("read", static_cast<std::int64_t>(std::max<std::size_t>(readers, 1)) * pages_of_a_reader);
    builder.nest(read_all, {lines_per_page}, {read(vectors, 0, {line}, page)});
    WorkCounts pauses;
    pauses.instructions = length * pause.seconds() * machine.clock.hertz() * machine.core.issue * lines_per_page;
    builder.work(read_all, pauses);
    reads.push_back(builder.repeat(read_all));
  }
  return {builder.build(), chases, reads};
}

// Of the node's first controller.
Time described_latency(const Machine& machine, NodeId node, double utilisation) {
  const auto found = std::find_if(machine.controllers.begin(), machine.controllers.end(),
                                  [node](const ControllerDescription& controller) { return controller.node == node; });
  if (found == machine.controllers.end() || found->loaded_latency.empty()) return Time{};
  LoadedLatencyPoint before;
  for (const LoadedLatencyPoint& point : found->loaded_latency) {
    if (utilisation <= point.utilisation) {
      const double part = (utilisation - before.utilisation) / (point.utilisation - before.utilisation);
      const double extra = before.extra.seconds() + part * (point.extra - before.extra).seconds();
      return machine.nodes[node.index()].latency + Time::from_seconds(extra);
    }
    before = point;
  }
  return machine.nodes[node.index()].latency + before.extra;
}

LatencyAtLoad point(const Machine& machine, const Topology& topology, const std::vector<CoreId>& cores, Time pause, bool loaded) {
  const NodeId node = machine.node_of(cores.front());
  const std::size_t readers = loaded ? cores.size() - 1 : 0;
  const Programs program = programs(machine, readers, pause);
  const auto placement = page_placements().make("bind:" + std::to_string(node.value()));
  placement->prepare(nullptr, machine);
  AddressSpace addresses{machine, *program.workload, *placement, Bytes{page}};
  EngineOptions options;
  options.system.fault = {Time{}, Time{}, 0, 0};
  LineEngine engine{*program.workload, machine, topology, options};
  std::vector<std::int64_t> next(readers);
  const auto go_on = [&](std::size_t reader, Time now) {
    const std::int64_t first = static_cast<std::int64_t>(reader) * pages_of_a_reader + next[reader];
    next[reader] = (next[reader] + pages_a_slice) % pages_of_a_reader;
    const ExecutionId read = program.read[mixed_bits(static_cast<std::uint64_t>(first)) % program.read.size()];
    engine.start({{ThreadId{1 + reader}, cores[1 + reader], node, now}, {read, first, first + pages_a_slice}, Time{}}, addresses);
  };
  for (std::size_t reader = 0; reader < readers; ++reader)
    go_on(reader, Time::picoseconds(pause.count() * static_cast<std::int64_t>(reader) / static_cast<std::int64_t>(readers)));
  engine.start({{ThreadId{0}, cores.front(), node, Time{}}, {program.chase, 0, 1}, Time{}}, addresses);
  Time end;
  for (std::vector<Completion> done; end == Time{};) {
    done.clear();
    engine.advance(*engine.next_event(), done);
    for (const Completion& completion : done) {
      if (completion.thread == ThreadId{0})
        end = completion.time;
      else
        go_on(completion.thread.index() - 1, completion.time);
    }
  }
  const EventCounts counts = engine.counts();
  double peak = 0;
  for (const ControllerDescription& controller : machine.controllers)
    if (controller.node == node) peak += controller.read_only.bytes_per_second();
  const double drawn = static_cast<double>(counts.read_bytes[node.index()]) / end.seconds();
  return {pause, Bandwidth::bytes_per_second(drawn), drawn / peak, Time::picoseconds(end.count() / chased),
          described_latency(machine, node, drawn / peak)};
}

}  // namespace

std::vector<LatencyAtLoad> loaded_latency(const Machine& described, NodeId node) {
  Machine machine = described;
  machine.tlb.entries = 0;  // the checker uses pages so large that nothing is walked for
  std::vector<CoreId> cores;
  for (std::size_t core = 0; core < machine.cores(); ++core)
    if (machine.node_of(CoreId{core}) == node) cores.emplace_back(core);
  if (cores.empty())
    throw UsageError("node " + std::to_string(node.value()) + " of machine '" + machine.name +
                     "' has no cores; allowed: a node with cores");
  const Topology topology{machine};
  std::vector<LatencyAtLoad> points{point(machine, topology, cores, Time{}, false)};
  // From a hundredth of what the node's controllers deliver up to more than that.
  double peak = 0;
  for (const ControllerDescription& controller : machine.controllers)
    if (controller.node == node) peak += controller.read_only.bytes_per_second();
  const double readers = static_cast<double>(cores.size() - 1);
  if (readers > 0) {
    for (const double share : {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.5})
      points.push_back(point(machine, topology, cores, Time::from_seconds(readers * line / (share * peak)), true));
  }
  return points;
}

}  // namespace homenode
