#include "sim/loop/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/errors.hpp"
#include "tests/unit/sim/loop/simulated_run.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

const Time context_switch = SchedulerSettings{}.context_switch;

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
  EXPECT_EQ(run.report.regions[0].exclusive, iteration_time * 3);
  EXPECT_EQ(run.report.overheads.fork, fork_cost);
  EXPECT_EQ(run.report.overheads.barrier, barrier_cost);
  EXPECT_EQ(run.report.overheads.waiting, Time{});
}

TEST(Simulation, regionsThatOverlapShareTheTime) {
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 6, 1, false, "first");
  workload.add(RegionKind::loop, Binding::free, 2, 1, true, "second");
  // Threads 0 and 1 have two iterations of the first loop, 2 and 3 one; then 0 and 1 have one of the second. From entry to exit the first
  // takes 2 t and the second 3 t, one of which is that of both: 2 threads of 2 are in the first; then it is the second's alone.
  const SimulatedRun run{workload, 4};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 3 + barrier_cost);
  EXPECT_EQ(run.report.regions[0].exclusive, iteration_time * 2);
  EXPECT_EQ(run.report.regions[1].exclusive, iteration_time);
}

TEST(Simulation, codeThatIsBoundToRanksRunsOnTheFirstOfALargerTeam) {
  ListedWorkload workload;
  workload.add(RegionKind::thread, Binding::rank, 2, 1, true, "patches");
  workload.add(RegionKind::loop, Binding::free, 4, 1, true, "sweep");
  const SimulatedRun run{workload, 4};
  // Two threads have one iteration each of the patches, all four one of the loop.
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 2 + barrier_cost * 2);
  EXPECT_EQ(run.report.threads[1].busy, iteration_time * 2);
  EXPECT_EQ(run.report.threads[2].busy, iteration_time);
  EXPECT_EQ(run.report.regions[0].ranks, 2u);
  EXPECT_EQ(run.report.regions[1].ranks, 0u);
  try {
    const SimulatedRun refused{workload, 1};
    FAIL() << "a team without the second rank was accepted";
  } catch (const UsageError& error) { EXPECT_THAT(error.what(), HasSubstr("allowed: --threads 2 or more, found 1")); }
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
    const SimulatedRun refused{workload, 4};
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
  // Two threads a core, one iteration each: T = fork + 2 t + switch + barrier; a thread's waiting for its core is idle time.
  const SimulatedRun run{workload, 8, "static", true};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 2 + context_switch + barrier_cost);
  EXPECT_EQ(run.report.threads[0].busy, iteration_time);
  EXPECT_EQ(run.report.threads[7].busy, context_switch + iteration_time);
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

// Accesses [first, last) of the slices that ran on a thread; whole iterations count as one range up to the end.
std::vector<std::pair<std::uint64_t, std::uint64_t>> stretches(const FixedTimeMemory& memory, ThreadId thread = ThreadId{0}) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> result;
  for (const Work& slice : memory.slices) {
    if (slice.place.thread != thread) continue;
    result.emplace_back(slice.stretch ? slice.stretch->first : 0, slice.stretch ? slice.stretch->last : Stretch::to_the_end);
  }
  return result;
}

TEST(Simulation, anIterationThatTouchesMoreThanAQuantumIsCutInside) {
  ListedWorkload workload;
  workload.add(RegionKind::serial, Binding::free, 1, 0, false, "serial");
  // 512 accesses of 8 bytes by quanta of 1 KiB: 128 accesses a slice, 4 slices. T = one iteration; it is logged as one.
  const SimulatedRun run{workload, 1, "static", false, Bytes{1024}};
  ASSERT_EQ(run.memory.slices.size(), 4u);
  for (std::uint64_t s = 0; s < 4; ++s) {
    EXPECT_EQ(run.memory.slices[s].stretch->first, 128 * s);
    EXPECT_EQ(run.memory.slices[s].items, (ItemRange{ExecutionId{0}, 0, 1}));
  }
  EXPECT_EQ(run.report.time, iteration_time);
  EXPECT_EQ(run.report.threads[0].busy, iteration_time);
  ASSERT_EQ(run.report.log.size(), 1u);
  EXPECT_EQ(run.report.log[0].items, (ItemRange{ExecutionId{0}, 0, 1}));
}

TEST(Simulation, threadsAreCutIndependentlyAndShareCores) {
  ListedWorkload workload;
  workload.add(RegionKind::thread, Binding::rank, 8, 1, true, "bodies");
  // 8 threads on 4 cores, one iteration of 4 slices each, all within one time slice of the scheduler: T = fork + 2 t + switch + barrier.
  const SimulatedRun run{workload, 8, "static", true, Bytes{1024}};
  EXPECT_EQ(run.report.time, fork_cost + iteration_time * 2 + context_switch + barrier_cost);
  for (std::size_t t = 0; t < 8; ++t) {
    const auto of_thread = stretches(run.memory, ThreadId{t});
    ASSERT_EQ(of_thread.size(), 4u) << t;
    for (std::uint64_t s = 0; s < 4; ++s) EXPECT_EQ(of_thread[s].first, 128 * s);
    EXPECT_EQ(run.report.threads[t].busy, iteration_time + (t < 4 ? Time{} : context_switch));
  }
}

TEST(Simulation, completionIsToldOnceForAllThatWasHandedOut) {
  class Whole final : public WorkDistribution {
  public:
    explicit Whole(std::vector<ItemRange>& completed) : completed_{completed} {}
    void prepare(const RegionView& region, const Team&, const CostOracle*) override { region_ = region; }
    Decision next(ThreadId, Time) override {
      if (std::exchange(given_, true)) return {};
      return {Decision::Kind::run, {region_.execution, 0, region_.iterations}, Time{}};
    }
    void complete(ItemRange items, ThreadId, Time) override { completed_.push_back(items); }

  private:
    std::vector<ItemRange>& completed_;
    RegionView region_;
    bool given_ = false;
  };
  ListedWorkload workload;
  workload.add(RegionKind::loop, Binding::free, 5, 1, true, "sweep");
  const Machine machine = four_cores();
  const auto placement = page_placements().make("first-touch");
  const auto mapping = thread_mappings().make("compact");
  FixedTimeMemory memory{iteration_time};
  AddressSpace addresses{machine, workload, *placement, Bytes{4096}};
  std::vector<ItemRange> completed;
  simulate({workload, machine, *mapping, [&](const std::string&) { return std::make_unique<Whole>(completed); }, memory, addresses, 2,
            false, Bytes{1024}});
  ASSERT_EQ(completed.size(), 1u);
  EXPECT_EQ(completed[0], (ItemRange{ExecutionId{0}, 0, 5}));
  EXPECT_EQ(memory.slices.size(), 5u * 4);
}

TEST(Simulation, releasedObjectsLeaveTheCachesAndTheirPages) {
  ListedWorkload workload;
  workload.add(RegionKind::serial, Binding::free, 1, 0, false, "temporaries");
  workload.objects[0].kind = ObjectKind::heap;
  workload.patterns[0].heap_events = {{0, HeapOperation::allocate, 0, false}, {9, HeapOperation::release, 0, false}};
  const SimulatedRun run{workload, 1};
  ASSERT_EQ(run.memory.dropped.size(), 1u);
  EXPECT_EQ(run.memory.dropped[0].size(), std::uint64_t{1} << 20);
}

// An iteration that allocates and releases objects 1, 2 and 3, all of one size, beside its accesses to object 0.
ListedWorkload with_heap(std::vector<HeapEvent> events, std::int64_t iterations = 1) {
  ListedWorkload workload;
  workload.add(iterations == 1 ? RegionKind::serial : RegionKind::loop, Binding::free, iterations, iterations == 1 ? 0 : 1, iterations > 1,
               "temporaries");
  for (int i = 0; i < 3; ++i) workload.objects.push_back({ObjectKind::heap, false, 1 << 20, 64, SiteId{}, "block", ObjectId::none(), -1});
  workload.patterns[0].slots = 4;
  workload.patterns[0].heap_events = std::move(events);
  for (std::size_t object = 1; object < 4; ++object) workload.bodies[0]->blocks[0].slots.push_back({ObjectId{object}, 0, 0});
  return workload;
}

// Which of the objects 1 to 3 are placed when each slice starts, and where.
struct Seen {
  std::string placed;
  std::vector<Address> address;
};
std::vector<Seen> heap_at_each_slice(const ListedWorkload& workload, RunReport* report = nullptr) {
  std::vector<Seen> result;
  SimulatedRun run{
      workload, 1, "static", false, Bytes{1 << 16}, [&](const Work&, AddressSpace& addresses) {
        Seen seen;
        for (std::size_t object = 1; object < 4; ++object) {
          seen.placed += addresses.placed(ObjectId{object}) ? std::to_string(object) : "-";
          seen.address.push_back(addresses.placed(ObjectId{object}) ? addresses.address(ObjectId{object}, ThreadId{0}) : Address{});
        }
        result.push_back(seen);
      }};
  if (report) *report = run.report;
  return result;
}

TEST(Simulation, heapCallsTakeEffectJustBeforeTheAccessThatFollowsThem) {
  // allocate 1 | 100 accesses | release 1, allocate 2 | 200 accesses | release 2 | the rest
  const ListedWorkload workload = with_heap({{0, HeapOperation::allocate, 1, false},
                                             {100, HeapOperation::release, 1, false},
                                             {100, HeapOperation::allocate, 2, false},
                                             {300, HeapOperation::release, 2, false},
                                             {512, HeapOperation::allocate, 3, false}});
  RunReport report;
  const std::vector<Seen> seen = heap_at_each_slice(workload, &report);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].placed, "1--");
  EXPECT_EQ(seen[1].placed, "-2-");
  EXPECT_EQ(seen[2].placed, "---");  // 3 comes after the last access
  // A block of the size that was given back last gets its addresses.
  EXPECT_EQ(seen[1].address[1], seen[0].address[0]);
  // 512 accesses by 100, 200 and 212: the cuts cost nothing.
  EXPECT_NEAR(static_cast<double>(report.time.count()), static_cast<double>(iteration_time.count()), 3);
}

TEST(Simulation, heapCallsBesideNoAccessTakeEffectOnceAndInOrder) {
  // release 1 between two allocations of it: addresses must go back before 2 asks for the same number of bytes.
  ListedWorkload workload = with_heap({{0, HeapOperation::allocate, 1, false},
                                       {0, HeapOperation::release, 1, false},
                                       {0, HeapOperation::allocate, 2, false},
                                       {0, HeapOperation::allocate, 1, false}});
  workload.patterns[0].runs.clear();
  const std::vector<Seen> seen = heap_at_each_slice(workload);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].placed, "12-");
  EXPECT_LT(seen[0].address[1], seen[0].address[0]);  // 2 lies where 1 was first
}

TEST(Simulation, eachIterationMakesItsOwnHeapCalls) {
  // Three iterations that allocate, work and release: 2 slices each, the same addresses every time, 3 releases.
  const ListedWorkload workload = with_heap({{0, HeapOperation::allocate, 1, false}, {256, HeapOperation::release, 1, false}}, 3);
  const std::vector<Seen> seen = heap_at_each_slice(workload);
  ASSERT_EQ(seen.size(), 6u);
  for (std::size_t s = 0; s < 6; ++s) EXPECT_EQ(seen[s].placed, s % 2 == 0 ? "1--" : "---");
  EXPECT_EQ(seen[2].address[0], seen[0].address[0]);
  EXPECT_EQ(seen[4].address[0], seen[0].address[0]);
}

TEST(Simulation, aReallocationGivesTheOldBlockBack) {
  ListedWorkload workload = with_heap({{0, HeapOperation::allocate, 1, false}, {100, HeapOperation::reallocate, 2, false}});
  workload.objects[2].reallocated_from = ObjectId{1};
  const std::vector<Seen> seen = heap_at_each_slice(workload);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].placed, "1--");
  EXPECT_EQ(seen[1].placed, "-2-");
  EXPECT_NE(seen[1].address[1], seen[0].address[0]);  // both exist while the contents move
}

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
