// Programs of tasks, and runs of them in which every item takes 10 ns and nothing else takes any.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"
#include "models/run/distribution_plan.hpp"
#include "sim/loop/simulation.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/unit/sim/loop/fixed_time_memory.hpp"

namespace homenode::test::tasks {

inline const Time item_time = Time::nanoseconds(10), fork_cost = Time::nanoseconds(100), barrier_cost = Time::nanoseconds(40);
constexpr std::uint64_t half = FixedTimeMemory::accesses / 2, at_end = FixedTimeMemory::accesses;

inline SyncEvent submit(std::uint64_t at, std::int64_t task_less_creator, std::uint64_t execution = 0) {
  return {at, SyncOperation::task_submit, execution, static_cast<std::uint64_t>(task_less_creator)};
}
inline SyncEvent depends_in(std::uint64_t at, std::uint64_t address) { return {at, SyncOperation::depend, address, 1}; }
inline SyncEvent depends_out(std::uint64_t at, std::uint64_t address) { return {at, SyncOperation::depend, address, 2}; }
inline SyncEvent wait(std::uint64_t at) { return {at, SyncOperation::task_wait, 0, 0}; }
inline SyncEvent wait_for_dependences(std::uint64_t at) { return {at, SyncOperation::task_wait, 0, 1}; }
inline SyncEvent group_begin(std::uint64_t at) { return {at, SyncOperation::task_group_begin, 0, 0}; }
inline SyncEvent group_end(std::uint64_t at) { return {at, SyncOperation::task_group_end, 0, 0}; }

// Executions of one parallel construct unless said otherwise; each iteration with its own events.
class TaskProgram {
public:
  using Events = std::vector<SyncEvent>;
  std::size_t add(RegionKind kind, const std::string& label, const std::vector<Events>& iterations, bool barrier = true,
                  std::uint32_t parallel = 1) {
    if (workload.objects.empty())
      workload.objects.push_back({ObjectKind::global, false, 1 << 24, 64, SiteId{}, "array", ObjectId::none(), -1});
    Region region;
    region.kind = kind;
    region.label = label;
    workload.regions.push_back(region);
    Execution execution;
    execution.region = RegionId{workload.regions.size() - 1};
    execution.iterations = static_cast<std::int64_t>(iterations.size());
    execution.parallel = parallel;
    execution.barrier_after = barrier;
    auto body = std::make_shared<ExecutionBody>();
    for (std::size_t i = 0; i < iterations.size(); ++i) {
      ItemPattern pattern;
      pattern.slots = 1;
      AccessRun run;
      run.width = FixedTimeMemory::access_bytes;
      run.dimensions = 1;
      run.dimension[0] = {FixedTimeMemory::accesses, FixedTimeMemory::access_bytes, 1};
      pattern.runs.push_back(run);
      pattern.sync_events = iterations[i];
      const auto first = static_cast<std::int64_t>(i);
      body->blocks.push_back({first, first + 1, PatternId{workload.patterns.size()}, {{ObjectId{0}, 0, 0}}});
      workload.patterns.push_back(pattern);
    }
    workload.executions.push_back(execution);
    workload.bodies.push_back(body);
    return workload.executions.size() - 1;
  }
  std::size_t tasks(const std::vector<Events>& tasks, const std::string& label = "work:task") {
    return add(RegionKind::task, label, tasks, false);
  }
  std::size_t single(const Events& events, bool barrier = true) { return add(RegionKind::single, "single", {events}, barrier); }
  MemoryWorkload workload;
};

inline Machine free_machine(unsigned cores) {
  Machine machine;
  machine.name = "free";
  machine.sockets = 1;
  machine.nodes = {{SocketId{0}, Bytes{1 << 30}, Time::nanoseconds(60), {}}};
  machine.core_node.assign(cores, NodeId{0});
  CacheDescription cache;
  cache.size = Bytes{1 << 20};
  machine.caches = {cache};
  machine.fork_base = fork_cost;
  machine.barrier_base = barrier_cost;
  machine.core_to_core_local = Time{};
  machine.fork_log_factor = machine.barrier_log_factor = machine.reduction_log_factor = 0;
  return machine;
}

struct TaskRun {
  TaskRun(const TaskProgram& program, unsigned threads, std::string_view distribution = "tasks", Time signal = Time{},
          const TaskCost& costs = {})
      : machine{free_machine(std::max(threads, 2U))} {
    machine.core_to_core_local = signal;
    const auto placement = page_placements().make("first-touch");
    const auto mapping = thread_mappings().make("compact");
    const DistributionPlan plan{distribution};
    AddressSpace addresses{machine, program.workload, *placement, Bytes{4096}};
    SimulationInput input{program.workload,
                          machine,
                          *mapping,
                          [&](const std::string& label) { return label.ends_with(":task") ? plan.make_for_tasks(label) : plan.make(label); },
                          memory,
                          addresses,
                          threads};
    input.quantum = Bytes{1 << 16};
    input.keep_log = true;
    input.task_costs = costs;
    report = simulate(input);
  }
  // First start and last end of an iteration.
  std::pair<Time, Time> span(std::size_t execution, std::int64_t iteration) const {
    std::pair<Time, Time> span{Time::from_seconds(1000), Time{}};
    for (std::size_t s = 0; s < memory.slices.size(); ++s) {
      const ItemRange& items = memory.slices[s].items;
      if (items.execution.index() != execution || items.first > iteration || items.last <= iteration) continue;
      span.first = std::min(span.first, memory.slices[s].place.now);
      span.second = std::max(span.second, memory.ends[s]);
    }
    return span;
  }
  std::vector<std::int64_t> order(std::size_t execution) const {
    std::vector<std::int64_t> result;
    for (const HandOut& out : report.log)
      if (out.items.execution.index() == execution) result.push_back(out.items.first);
    return result;
  }
  Machine machine;
  FixedTimeMemory memory{item_time};
  RunReport report;
};

}  // namespace homenode::test::tasks
