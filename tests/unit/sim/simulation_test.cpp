#include "sim/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "models/policies.hpp"
#include "sim/errors.hpp"
#include "tests/unit/sim/fixed_time_memory.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

const Time fork_cost = Time::nanoseconds(100), barrier_cost = Time::nanoseconds(40), iteration_time = Time::nanoseconds(10);

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

Machine four_cores() {
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
                        bool oversubscribe = false)
      : workload{workload_}, placement{page_placements().make("first-touch")}, mapping{thread_mappings().make("compact")} {
    const DistributionPlan plan{distribution};
    AddressSpace addresses{machine, workload, *placement, Bytes{4096}};
    report = simulate({workload, machine, *mapping, [&](const std::string& label) { return plan.make(label); }, memory, addresses, threads,
                       oversubscribe, Bytes{1 << 16}, true});
  }
  const ListedWorkload& workload;
  Machine machine = four_cores();
  std::unique_ptr<PagePlacement> placement;
  std::unique_ptr<ThreadMapping> mapping;
  FixedTimeMemory memory{iteration_time};
  RunReport report;
};

TEST(Simulation, aLoopTakesForkPlusTheLongestBlockPlusBarrier) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 10, 1, true, "sweep");
  // 10 iterations on 4 threads: blocks of 3, 3, 2, 2. T = fork + 3 t + barrier.
  const SimulatedRun run{workload, 4};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 3 + barrier_cost);
  EXPECT_EQ(run.report.threads[0].busy, iteration_time * 3);
  EXPECT_EQ(run.report.threads[3].busy, iteration_time * 2);
  EXPECT_EQ(run.report.threads[3].idle, run.report.time - iteration_time * 2);
  EXPECT_EQ(run.report.regions.at(0).executions, 1u);
  EXPECT_TRUE(run.memory.flushed);
}

TEST(Simulation, oneThreadPaysNeitherForkNorBarrier) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 10, 1, true, "sweep");
  EXPECT_EQ((SimulatedRun{workload, 1}.report.time), iteration_time * 10);
}

TEST(Simulation, serialCodeRunsOnTheMasterWhileOthersIdle) {
  ListedWorkload workload;
  workload.add(RegionKind::serial, Binding::free, 1, 0, false, "main:serial#0");
  workload.add(RegionKind::loop, Binding::free, 4, 1, true, "sweep");
  workload.add(RegionKind::serial, Binding::free, 1, 0, false, "main:serial#1");
  // T = serial + fork + one iteration each + barrier + serial.
  const SimulatedRun run{workload, 4};
  EXPECT_EQ(run.report.time, iteration_time * 3 + fork_cost + barrier_cost);
  EXPECT_EQ(run.report.threads[0].busy, iteration_time * 3);
  EXPECT_EQ(run.report.threads[1].busy, iteration_time);
}

TEST(Simulation, nowaitLetsAThreadGoAheadIntoTheNextLoop) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 1, 1, false, "first");  // only thread 0 has work here
  workload.add(RegionKind::loop, Binding::free, 4, 1, true, "second");
  // With nowait thread 0 needs 2 t, the others t; with a barrier between, all would need 2 t + barrier.
  const SimulatedRun run{workload, 4};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 2 + barrier_cost);
  EXPECT_EQ(run.report.threads[1].busy, iteration_time);
  workload.executions[0].barrier_after = true;
  EXPECT_EQ((SimulatedRun{workload, 4}.report.time), fork_cost + iteration_time * 2 + barrier_cost * 2);
}

TEST(Simulation, rankBoundCodeRunsOnItsRankAndRefusesOtherTeams) {
  ListedWorkload workload;
  workload.add(RegionKind::thread, Binding::rank, 2, 1, true, "patches");
  const SimulatedRun run{workload, 2};
  ASSERT_EQ(run.report.log.size(), 2u);
  for (const HandOut& out : run.report.log) EXPECT_EQ(out.items.first, static_cast<std::int64_t>(out.thread.index()));
  try {
    SimulatedRun{workload, 4};
    FAIL() << "a team of another size was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'patches' is bound to the ranks of a team of 2"));
    EXPECT_THAT(error.what(), HasSubstr("--threads 2, found 4"));
  }
}

TEST(Simulation, replicatedCodeRunsOnceOnEveryThread) {
  ListedWorkload workload;
  workload.add(RegionKind::thread, Binding::replicated, 1, 1, true, "prologue");
  const SimulatedRun run{workload, 3};
  EXPECT_EQ(run.report.log.size(), 3u);
  EXPECT_EQ(run.report.time, fork_cost + iteration_time + barrier_cost);
}

TEST(Simulation, aSingleIsTakenOnceByWhoeverComesFirst) {
  ListedWorkload workload;
  workload.add(RegionKind::single, Binding::free, 1, 1, true, "single");
  const SimulatedRun run{workload, 4};
  ASSERT_EQ(run.report.log.size(), 1u);
  EXPECT_EQ(run.report.log[0].thread, ThreadId{0});
}

TEST(Simulation, threadsThatShareACoreTakeTurns) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 8, 1, true, "sweep");
  EXPECT_THROW((SimulatedRun{workload, 8}), UsageError);
  // Two threads a core, one iteration each: T = fork + 2 t + barrier; a thread's waiting for its core is idle time.
  const SimulatedRun run{workload, 8, "static", true};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 2 + barrier_cost);
  EXPECT_EQ(run.report.threads[7].busy, iteration_time);
}

TEST(Simulation, workIsCutIntoSlicesOfAtMostAQuantum) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 64, 1, true, "sweep");
  // 4 KiB an iteration (and one byte of rounding), 64 KiB a quantum: at most 15 iterations a slice.
  const SimulatedRun run{workload, 1};
  std::int64_t total = 0;
  for (const Work& slice : run.memory.slices) {
    EXPECT_LE(slice.items.size(), 15);
    total += slice.items.size();
  }
  EXPECT_EQ(total, 64);
}

TEST(Simulation, releasedObjectsLeaveTheCachesAndTheirPages) {
  ListedWorkload workload;
  workload.add(RegionKind::serial, Binding::free, 1, 0, false, "temporaries");
  workload.objects[0].kind = ObjectKind::heap;
  workload.patterns[0].heap_events = {{0, HeapOperation::allocate, 0, false}, {9, HeapOperation::release, 0, false}};
  const SimulatedRun run{workload, 1};
  ASSERT_EQ(run.memory.dropped.size(), 1u);
  EXPECT_EQ(run.memory.dropped[0].second - run.memory.dropped[0].first, std::uint64_t{1} << 20);
}

// Every distribution hands out each iteration exactly once, whatever the sizes.
class EveryDistribution : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryDistribution, handsOutEachIterationOnce) {
  for (const std::int64_t iterations : {0, 1, 3, 4, 17, 100, 1000}) {
    for (const unsigned threads : {1u, 2u, 3u, 4u}) {
      ListedWorkload workload;
      workload.add(RegionKind::loop, Binding::free, iterations, 1, true, "sweep");
      const SimulatedRun run{workload, threads, GetParam()};
      std::vector<int> seen(static_cast<std::size_t>(iterations), 0);
      for (const HandOut& out : run.report.log) {
        for (std::int64_t i = out.items.first; i < out.items.last; ++i) ++seen[static_cast<std::size_t>(i)];
      }
      EXPECT_THAT(seen, ::testing::Each(1)) << GetParam() << " " << iterations << " on " << threads;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, EveryDistribution,
                         ::testing::Values("static", "static:1", "static:7", "dynamic", "dynamic:4", "guided", "guided:8"));

TEST(Simulation, aDistributionThatLosesIterationsIsRefused) {
  class Loser final : public WorkDistribution {
    void prepare(const RegionView&, const Team&, const CostOracle*) override {}
    Decision next(ThreadId, Time) override { return {}; }
  };
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 5, 1, true, "sweep");
  const Machine machine = four_cores();
  const auto placement = page_placements().make("first-touch");
  const auto mapping = thread_mappings().make("compact");
  FixedTimeMemory memory{iteration_time};
  AddressSpace addresses{machine, workload, *placement, Bytes{4096}};
  EXPECT_THROW(simulate({workload, machine, *mapping, [](const std::string&) { return std::make_unique<Loser>(); }, memory, addresses, 2}),
               PolicyError);
}

}  // namespace
}  // namespace homenode::test
