// Whole simulations of listed executions, in which every iteration takes 10 ns on a machine of four cores.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"
#include "models/run/distribution_plan.hpp"
#include "sim/loop/simulation.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/unit/sim/loop/fixed_time_memory.hpp"

namespace homenode::test {

inline const Time fork_cost = Time::nanoseconds(100), barrier_cost = Time::nanoseconds(40), iteration_time = Time::nanoseconds(10);

class ListedWorkload final : public Workload {
public:
  std::size_t add(RegionKind kind, Binding binding, std::int64_t iterations, std::uint32_t parallel, bool barrier, std::string label) {
    if (patterns.empty()) {
      ItemPattern pattern;
      pattern.slots = 1;
      AccessRun run;
      run.width = 8;
      run.dimensions = 1;
      run.dimension[0] = {512, 8, 1};
      pattern.runs.push_back(run);
      patterns.push_back(pattern);
      objects.push_back({ObjectKind::global, false, 1 << 20, 64, SiteId{}, "array", ObjectId::none(), -1});
    }
    Region region;
    region.kind = kind;
    region.label = std::move(label);
    regions.push_back(region);
    Execution execution;
    execution.region = RegionId{regions.size() - 1};
    execution.iterations = iterations;
    execution.binding = binding;
    execution.team = binding == Binding::rank ? static_cast<std::uint32_t>(iterations) : 1;
    execution.parallel = parallel;
    execution.barrier_after = barrier;
    executions.push_back(execution);
    auto body = std::make_shared<ExecutionBody>();
    body->blocks.push_back({0, iterations, PatternId{0}, {{ObjectId{0}, 0, 4096}}});
    bodies.push_back(body);
    return executions.size() - 1;
  }
  std::shared_ptr<const ExecutionBody> body(ExecutionId id) const override { return bodies.at(id.index()); }
  std::vector<std::shared_ptr<ExecutionBody>> bodies;
};

inline Machine four_cores() {
  Machine machine;
  machine.name = "four-cores";
  machine.sockets = 2;
  machine.nodes = {{SocketId{0}, Bytes{1 << 30}, Time::nanoseconds(60), {}}, {SocketId{1}, Bytes{1 << 30}, Time::nanoseconds(60), {}}};
  machine.core_node = {NodeId{0}, NodeId{0}, NodeId{1}, NodeId{1}};
  CacheDescription cache;
  cache.size = Bytes{1 << 20};
  machine.caches = {cache};
  machine.fork_base = fork_cost;
  machine.barrier_base = barrier_cost;
  machine.fork_log_factor = machine.barrier_log_factor = machine.reduction_log_factor = 0;
  return machine;
}

struct SimulatedRun {
  explicit SimulatedRun(const ListedWorkload& workload_, unsigned threads, std::string_view distribution = "static",
                        bool oversubscribe = false, Bytes quantum = Bytes{1 << 16},
                        std::function<void(const Work&, AddressSpace&)> at_start = nullptr)
      : workload{workload_}, placement{page_placements().make("first-touch")}, mapping{thread_mappings().make("compact")} {
    const DistributionPlan plan{distribution};
    AddressSpace addresses{machine, workload, *placement, Bytes{4096}};
    memory.at_start = std::move(at_start);
    report = simulate({workload, machine, *mapping, [&](const std::string& label) { return plan.make(label); }, memory, addresses, threads,
                       oversubscribe, quantum, true});
    expect_accounted(report);
  }
  const ListedWorkload& workload;
  Machine machine = four_cores();
  std::unique_ptr<PagePlacement> placement;
  std::unique_ptr<ThreadMapping> mapping;
  FixedTimeMemory memory{iteration_time};
  RunReport report;
};

}  // namespace homenode::test
