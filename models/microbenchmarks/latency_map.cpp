#include "models/microbenchmarks/latency_map.hpp"

#include <string>

#include "models/engines/line/line_engine.hpp"
#include "models/placement/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/ring_geometry.hpp"
#include "sim/machine/topology.hpp"
#include "sim/program/workload_builder.hpp"

namespace homenode {
namespace {

constexpr std::uint64_t page_bytes = 4096;
// Longer than a controller keeps a row open.
constexpr Time pause_between = Time::nanoseconds(1000);

// Of loads alone: no instructions, no page walks.
Machine without_instructions(Machine machine) {
  const double no_limit = 1e9;
  machine.core = {.issue = no_limit,
                  .integer = no_limit,
                  .fp_add = no_limit,
                  .fp_multiply = no_limit,
                  .fp_fma = no_limit,
                  .divide = no_limit,
                  .load = no_limit,
                  .store = no_limit,
                  .branch = no_limit,
                  .llvm_cpu = {}};
  machine.tlb.entries = 0;
  return machine;
}

}  // namespace

std::vector<BlockLatencies> latency_map(const Machine& described, std::uint64_t first, std::uint64_t blocks) {
  if (!described.ring)
    throw UsageError("machine '" + described.name + "' has no ring: its latencies are those of its nodes; allowed: machines with a ring");
  const auto line = static_cast<std::uint64_t>(described.caches.front().line.count());
  const auto memory = static_cast<std::uint64_t>(described.nodes.front().memory.count());
  if (blocks == 0 || first >= memory || blocks > (memory - first) / line)
    throw UsageError(std::to_string(blocks) + " blocks from " + std::to_string(first) + " on; allowed: at least 1, within the " +
                     to_string(described.nodes.front().memory) + " of machine '" + described.name + "'");
  const Machine machine = without_instructions(described);
  const Topology topology{machine};
  const RingGeometry ring{machine};
  WorkloadBuilder builder;
  const ObjectId object = builder.object("memory", blocks * line, ObjectKind::mapped);
  const RegionId loop = builder.loop("read", static_cast<std::int64_t>(blocks));
  builder.nest(loop, {1}, {read(object, 0, {8}, static_cast<std::int64_t>(line))});
  const ExecutionId reads = builder.repeat(loop);
  const std::shared_ptr<Workload> workload = builder.build();
  const auto placement = page_placements().make("bind:0");
  placement->prepare(nullptr, machine);

  std::vector<BlockLatencies> map(blocks);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    const LineNumber number{first / line + block};
    map[block] = {number.value() * line, ring.directory_of(number), ring.controller_of(number), {}};
  }
  for (std::size_t core = 0; core < machine.cores(); ++core) {
    AddressSpace addresses{machine, *workload, *placement, Bytes{page_bytes}};
    const LineNumber base = line_of(addresses.address(object, ThreadId{0}), line);
    EngineOptions options;
    options.system.fault = {Time{}, Time{}, 0, 0};
    options.physical_memory = PhysicalMemory::shifted(first / line - base.value());  // may wrap round: so does adding it
    LineEngine engine{*workload, machine, topology, options};
    Time now;
    std::vector<Completion> done;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      const auto item = static_cast<std::int64_t>(block);
      engine.start({{ThreadId{0}, CoreId{core}, NodeId{0}, now}, {reads, item, item + 1}, Time{}}, addresses);
      for (done.clear(); done.empty();) engine.advance(*engine.next_event(), done);
      map[block].latency.push_back(done.front().time - now);
      now = done.front().time + pause_between;
    }
  }
  return map;
}

}  // namespace homenode
