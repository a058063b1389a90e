// Locks, turns, conditions and created threads in simulated time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/errors.hpp"
#include "tests/unit/sim/loop/simulated_run.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

// An iteration has 512 accesses and takes 10 ns, so 256 of them take 5 ns.
constexpr std::uint64_t half = 256, end_of_iteration = 512;
const Time half_time = Time::nanoseconds(5), call = MappingCost{}.call, wakeup = SchedulerSettings{}.wakeup;

// Gives the execution a pattern of its own with these events.
void synchronise(ListedWorkload& workload, std::size_t execution, std::vector<SyncEvent> events) {
  ItemPattern pattern = workload.patterns[0];
  pattern.sync_events = std::move(events);
  workload.patterns.push_back(pattern);
  workload.bodies[execution]->blocks[0].pattern = PatternId{workload.patterns.size() - 1};
}

TEST(Synchronised, criticalSectionsFollowEachOther) {
  ListedWorkload workload;
  const std::size_t loop = workload.add(RegionKind::loop, Binding::free, 4, 1, true, "sweep");
  synchronise(workload, loop, {{0, SyncOperation::critical_enter, 7, 0}, {half, SyncOperation::critical_leave, 7, 0}});
  // Four threads, half of each iteration one after the other, the other half beside the next one's. T = fork + 4 h + h + barrier.
  const SimulatedRun run{workload, 4};
  EXPECT_EQ(run.report.time, fork_cost + half_time * 5 + barrier_cost);
  EXPECT_EQ(run.report.threads[3].busy, iteration_time);  // waiting is idle time
}

TEST(Synchronised, theSignalOfAReleaseTakesTheWayBetweenTheCores) {
  ListedWorkload workload;
  const std::size_t loop = workload.add(RegionKind::loop, Binding::free, 2, 1, true, "sweep");
  synchronise(workload, loop, {{0, SyncOperation::lock, 7, 0}, {half, SyncOperation::unlock, 7, 0}});
  SimulatedRun run{workload, 2};
  const Time without = run.report.time;
  run.machine.core_to_core_local = Time::nanoseconds(3);  // cores 0 and 1 are of one socket
  AddressSpace addresses{run.machine, workload, *run.placement, Bytes{4096}};
  FixedTimeMemory memory{iteration_time};
  const DistributionPlan plan{"static"};
  const RunReport slower = simulate({workload, run.machine, *run.mapping, [&](const std::string& label) { return plan.make(label); },
                                     memory, addresses, 2, false, Bytes{1 << 16}, false});
  EXPECT_EQ(slower.time, without + Time::nanoseconds(3));
}

TEST(Synchronised, orderedPartsKeepTheLoopsOrder) {
  ListedWorkload workload;
  const std::size_t loop = workload.add(RegionKind::loop, Binding::free, 4, 1, true, "sweep");
  workload.regions[0].ordered = true;
  synchronise(workload, loop, {{half, SyncOperation::ordered_enter, 0, 0}, {end_of_iteration, SyncOperation::ordered_leave, 0, 0}});
  // First halves at once, second halves in turn. T = fork + h + 4 h + barrier, whichever thread has which iteration.
  EXPECT_EQ((SimulatedRun{workload, 4}.report.time), fork_cost + half_time * 5 + barrier_cost);
  // One iteration a thread and a time: thread 0 has 0 and 2, thread 1 has 1 and 3. 0: 0-2h, 1: 0-h, 2h-3h, 2: 2h-3h, 3h-4h,
  // 3: 3h-4h, 4h-5h.
  EXPECT_EQ((SimulatedRun{workload, 2, "static:1"}.report.time), fork_cost + half_time * 5 + barrier_cost);
}

TEST(Synchronised, anIterationWithoutAnOrderedPartEndsItsTurnWithItself) {
  // Of four iterations on two threads the last two have an ordered second half. Thread 1 is there after h and waits for the end of 0 and 1
  // after 4 h; then three halves follow: fork + 7 h + barrier.
  ListedWorkload workload;
  const std::size_t loop = workload.add(RegionKind::loop, Binding::free, 4, 1, true, "sweep");
  workload.regions[0].ordered = true;
  synchronise(workload, loop, {{half, SyncOperation::ordered_enter, 0, 0}, {end_of_iteration, SyncOperation::ordered_leave, 0, 0}});
  auto& blocks = workload.bodies[loop]->blocks;
  blocks = {{0, 2, PatternId{0}, {{ObjectId{0}, 0, 4096}}}, {2, 4, blocks[0].pattern, {{ObjectId{0}, 2 * 4096, 4096}}}};
  EXPECT_EQ((SimulatedRun{workload, 2}.report.time), fork_cost + half_time * 7 + barrier_cost);
}

// main creates two threads, works, and joins them.
struct TwoThreads {
  explicit TwoThreads(std::vector<SyncEvent> first = {}, std::vector<SyncEvent> second = {}) {
    const std::size_t main = workload.add(RegionKind::serial, Binding::free, 1, 0, false, "main");
    const std::size_t one = workload.add(RegionKind::thread, Binding::free, 1, 0, false, "work");
    const std::size_t two = workload.add(RegionKind::thread, Binding::free, 2, 0, false, "work2");
    workload.threads.resize(3);
    synchronise(workload, main,
                {{0, SyncOperation::create, 1, one},
                 {0, SyncOperation::create, 2, two},
                 {end_of_iteration, SyncOperation::join, 1, 0},
                 {end_of_iteration, SyncOperation::join, 2, 0}});
    synchronise(workload, one, std::move(first));
    synchronise(workload, two, std::move(second));
  }
  ListedWorkload workload;
};

TEST(Synchronised, createdThreadsRunBesideTheirCreatorUntilItJoinsThem) {
  const TwoThreads program;
  // The longer routine ends behind creation + two iterations, while main is on its way to sleep: T = an iteration + the call for that.
  const SimulatedRun run{program.workload, 3};
  EXPECT_EQ(run.report.time, iteration_time + call);
  EXPECT_EQ(run.report.threads[0].busy, iteration_time);
  EXPECT_EQ(run.report.threads[1].busy, iteration_time);
  EXPECT_EQ(run.report.threads[2].busy, iteration_time * 2);
  ASSERT_EQ(run.report.regions.size(), 3u);
  EXPECT_EQ(run.report.regions[2].time, iteration_time * 2);
}

TEST(Synchronised, aMutexIsNotKeptForASleeper) {
  // Second halves of iterations hold a mutex. Thread 2 comes to it with thread 1, h behind its beginning, and goes to sleep in a call.
  // Thread 1 gives the mutex up before that is over, so that thread 2 was never asleep: h + call, h, and its second iteration, which nobody
  // holds up. Main joins both, each in a call.
  const std::vector<SyncEvent> second_half{{half, SyncOperation::lock, 7, 0}, {end_of_iteration, SyncOperation::unlock, 7, 0}};
  const TwoThreads program{second_half, second_half};
  const SimulatedRun run{program.workload, 3};
  EXPECT_EQ(run.report.regions[1].time, iteration_time);
  EXPECT_EQ(run.report.regions[2].time, iteration_time * 2 + call);
  EXPECT_EQ(run.report.time, iteration_time + call * 2);
}

TEST(Synchronised, executionsOfOneRegionThatOverlapAreNotAddedUp) {
  TwoThreads program;
  program.workload.executions[2].region = program.workload.executions[1].region;
  // One thread is in the region for one iteration, another for two, from the same moment on: the region takes two.
  const SimulatedRun run{program.workload, 3};
  ASSERT_EQ(run.report.regions.size(), 2u);
  EXPECT_EQ(run.report.regions[1].executions, 2u);
  EXPECT_EQ(run.report.regions[1].time, iteration_time * 2);
}

TEST(Synchronised, aConditionWaitsForTheSignalThatEndedItAtCapture) {
  // Thread 1 waits at its half for the signal that thread 2 gives at the end of each of its two iterations: the first one does.
  const TwoThreads program{{{half, SyncOperation::wait, 9, 5}}, {{end_of_iteration, SyncOperation::signal, 9, 5}}};
  // Thread 1: h, asleep until thread 2's first iteration ends (2 h), awake behind that, and h more. Thread 2 calls the system for the
  // signal. Main sleeps in its first join until thread 1 ends, and thread 2 has ended when it is awake.
  const SimulatedRun run{program.workload, 3};
  EXPECT_EQ(run.report.regions[1].time, half_time * 3 + wakeup);
  EXPECT_EQ(run.report.regions[2].time, iteration_time * 2 + call);
  EXPECT_EQ(run.report.time, fork_cost + half_time * 3 + wakeup * 2);
}

TEST(Synchronised, aMutexIsLookedAtByWhoIsAwake) {
  // Thread 2 signals and gives the mutex up at the half of each of its iterations. Thread 1 waits for the first signal and comes for the
  // mutex behind it: when it is awake, so that thread 2 has the mutex again before it. The call that wakes it lies before thread 2's
  // unlock.
  const TwoThreads program{{{0, SyncOperation::wait, 9, 5}, {0, SyncOperation::lock, 7, 0}, {half, SyncOperation::unlock, 7, 0}},
                           {{0, SyncOperation::lock, 7, 0}, {half, SyncOperation::signal, 9, 5}, {half, SyncOperation::unlock, 7, 0}}};
  const Machine machine = four_cores();
  const auto placement = page_placements().make("first-touch");
  const auto mapping = thread_mappings().make("compact");
  AddressSpace addresses{machine, program.workload, *placement, Bytes{4096}};
  FixedTimeMemory memory{iteration_time};
  const DistributionPlan plan{"static"};
  SimulationInput input{program.workload, machine,   *mapping, [&](const std::string& label) { return plan.make(label); },
                        memory,           addresses, 3};
  input.map_costs.call = Time::nanoseconds(1);  // so that thread 1 sleeps when the signal comes
  const RunReport report = simulate(input);
  EXPECT_EQ(report.regions[1].time, half_time + wakeup + iteration_time);
  EXPECT_EQ(report.regions[2].time, iteration_time * 2 + input.map_costs.call);
}

// main creates so many threads one after the other in each of two waves, and joins a wave before it creates the next.
ListedWorkload waves(std::uint64_t threads) {
  ListedWorkload workload;
  std::vector<SyncEvent> events;
  for (std::uint64_t wave = 0; wave < 2; ++wave) {
    for (const SyncOperation operation : {SyncOperation::create, SyncOperation::join})
      for (std::uint64_t t = 0; t < threads; ++t) {
        const std::uint64_t number = 1 + wave * threads + t;
        events.push_back({end_of_iteration, operation, number, operation == SyncOperation::create ? number - 1 : 0});
      }
  }
  for (std::uint64_t t = 0; t < 2 * threads; ++t) workload.add(RegionKind::thread, Binding::free, 1, 0, false, "work");
  const std::size_t main = workload.add(RegionKind::serial, Binding::free, 1, 0, false, "main");
  workload.threads.resize(1 + 2 * threads);
  synchronise(workload, main, events);
  return workload;
}

TEST(Synchronised, threadsCountAgainstCoresWhileTheyAreAlive) {
  // Seven threads in all, four at once on four cores: those of the second wave take the cores of the first one's.
  const ListedWorkload two_waves = waves(3);
  const SimulatedRun run{two_waves, 7};
  EXPECT_EQ(run.report.threads_at_once, 4u);
  for (std::size_t t = 1; t <= 3; ++t) EXPECT_EQ(run.report.threads[t].core, run.report.threads[t + 3].core);
  const ListedWorkload larger = waves(4);
  try {
    const SimulatedRun refused{larger, 9};
    FAIL() << "five threads at once on four cores were accepted";
  } catch (const UsageError& error) { EXPECT_THAT(error.what(), HasSubstr("5 threads at once on machine 'four-cores' with 4 cores")); }
  EXPECT_EQ((SimulatedRun{larger, 9, "static", true}.report.threads_at_once), 5u);
}

TEST(Synchronised, threadsOfTheProgramAreRefusedOnAnotherNumber) {
  const TwoThreads program;
  try {
    const SimulatedRun run{program.workload, 2};
    FAIL() << "no error";
  } catch (const UsageError& error) { EXPECT_THAT(error.what(), HasSubstr("allowed: --threads 3, or none said, found 2")); }
}

TEST(Synchronised, aDeadlockIsNamed) {
  const TwoThreads program{{{0, SyncOperation::lock, 1, 0}, {half, SyncOperation::lock, 2, 0}},
                           {{0, SyncOperation::lock, 2, 0}, {half, SyncOperation::lock, 1, 0}}};
  try {
    const SimulatedRun run{program.workload, 3};
    FAIL() << "no deadlock";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cycle: thread 1 waits for lock 2, held by thread 2; thread 2 waits for lock 1, held by thread 1"));
  }
}

}  // namespace
}  // namespace homenode::test
