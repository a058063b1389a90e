// Tasks in simulated time, where every item takes 10 ns and nothing else takes any.
#include "sim/loop/tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/base/errors.hpp"
#include "tests/unit/sim/loop/task_program.hpp"

namespace homenode::test::tasks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string policy_error(const TaskProgram& program, unsigned threads = 2) {
  try {
    TaskRun{program, threads};
  } catch (const PolicyError& error) { return error.what(); }
  return "no error";
}

TaskProgram independent(int tasks) {
  TaskProgram program;
  program.tasks(std::vector<TaskProgram::Events>(static_cast<std::size_t>(tasks)));
  TaskProgram::Events events;
  for (int k = 0; k < tasks; ++k) events.push_back(submit(0, k));
  program.single(events);
  return program;
}

TEST(Tasks, runOnAnyThreadOfTheTeam) {
  // The single creates 8 tasks before it works itself: 9 items on n threads. T = fork + ceil(9 / n) t + barrier, on one thread 9 t.
  const TaskProgram program = independent(8);
  EXPECT_EQ((TaskRun{program, 1}.report.time), item_time * 9);
  EXPECT_EQ((TaskRun{program, 2}.report.time), fork_cost + item_time * 5 + barrier_cost);
  EXPECT_EQ((TaskRun{program, 4}.report.time), fork_cost + item_time * 3 + barrier_cost);
  EXPECT_EQ((TaskRun{program, 9}.report.time), fork_cost + item_time + barrier_cost);
  EXPECT_THAT((TaskRun{program, 4}.order(0)), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Tasks, theRegionOfTasksLastsFromItsFirstCreationToItsLastEnd) {
  const TaskRun run{independent(8), 3};
  EXPECT_EQ(run.report.regions.at(0).label, "work:task");
  EXPECT_EQ(run.report.regions.at(0).executions, 1u);
  EXPECT_EQ(run.report.regions.at(0).time, item_time * 3);
}

TEST(Tasks, puttingInAndTakingOutTakeTheTimeOfAnAtomicUpdate) {
  // One producer, one taker, s = 3 ns, one at a time: the first task is put in until s, the taker has waited for that and takes it until
  // 2 s, the producer, who came back at s, puts the second in until 3 s.
  TaskProgram program = independent(2);
  const TaskRun run{program, 2, "tasks", Time::nanoseconds(3)};
  EXPECT_EQ(run.span(1, 0).first, fork_cost + Time::nanoseconds(9));
  EXPECT_EQ(run.memory.slices.at(0).overhead, Time::nanoseconds(6));
}

TEST(Tasks, puttingInIsWorkOfTheProducer) {
  // As above: the producer puts in until s and from s until 3 s. The rest of the busy time is that of the slices.
  TaskProgram program = independent(2);
  const TaskRun run{program, 2, "tasks", Time::nanoseconds(3)};
  Time slices, busy;
  for (std::size_t s = 0; s < run.memory.slices.size(); ++s) slices += run.memory.ends[s] - run.memory.slices[s].place.now;
  for (const ThreadReport& thread : run.report.threads) busy += thread.busy;
  EXPECT_EQ(busy, slices + Time::nanoseconds(9));
}

TEST(Tasks, aFullQueueMakesTheProducerRunTheNextOneItself) {
  // One thread, two places: 0 and 1 are queued, 2 and 3 run at once, 0 and 1 at the barrier.
  EXPECT_THAT((TaskRun{independent(4), 1, "tasks:queue=2"}.order(0)), ElementsAre(2, 3, 0, 1));
  EXPECT_THAT((TaskRun{independent(4), 1, "tasks:queue=256"}.order(0)), ElementsAre(0, 1, 2, 3));
}

TEST(Tasks, theRuntimeTakesItsTimeForEach) {
  const TaskCost costs{.call = Time::nanoseconds(1), .create = Time::nanoseconds(2), .take = Time::nanoseconds(4)};
  const auto time = [&](const TaskProgram& program, std::string_view distribution) {
    return TaskRun{program, 1, distribution, Time{}, costs}.report.time;
  };
  // Three items. 0 is queued and taken at the end; 1 finds the queue full and runs at once.
  EXPECT_EQ(time(independent(2), "tasks:queue=1"), item_time * 3 + costs.create + costs.take + costs.call);
  EXPECT_EQ(time(independent(2), "tasks"), item_time * 3 + (costs.create + costs.take) * 2);
  // One that waits for another is created like one in a queue; a taskwait takes its child as a barrier does.
  TaskProgram chain;
  chain.tasks({{}, {}});
  chain.single({depends_out(0, 8), submit(0, 0), depends_in(0, 8), submit(0, 1), wait(half)});
  EXPECT_EQ(time(chain, "tasks"), item_time * 3 + (costs.create + costs.take) * 2);
}

TEST(Tasks, followTheirDependences) {
  // 0 writes a; 1 and 2 read it; 3 writes it; 4 writes b. Path 0, 1 or 2, 3: three items long, whatever else is free.
  TaskProgram program;
  const std::size_t tasks = program.tasks(std::vector<TaskProgram::Events>(5));
  program.single({depends_out(0, 7), submit(0, 0), depends_in(0, 7), submit(0, 1), depends_in(0, 7), submit(0, 2), depends_out(0, 7),
                  submit(0, 3), depends_out(0, 8), submit(0, 4)});
  const TaskRun run{program, 4};
  EXPECT_EQ(run.report.time, fork_cost + item_time * 3 + barrier_cost);
  for (const std::int64_t reader : {1, 2}) {
    EXPECT_EQ(run.span(tasks, reader).first, run.span(tasks, 0).second);
    EXPECT_EQ(run.span(tasks, 3).first, run.span(tasks, reader).second);
  }
  EXPECT_EQ(run.span(tasks, 4).first, fork_cost);
}

TEST(Tasks, aTaskwaitWaitsForTheChildrenAndRunsThemMeanwhile) {
  // Two threads: the single creates 3 tasks, waits for them after half of its work: T = fork + h + ... thread 1 runs 0 and 1 from 0 to 2 t,
  // thread 0 runs 2 from h to h + t, waits until 2 t, then h. T = fork + 2 t + h + barrier.
  TaskProgram program;
  const std::size_t tasks = program.tasks(std::vector<TaskProgram::Events>(3));
  program.single({submit(0, 0), submit(0, 1), submit(0, 2), wait(half)});
  const TaskRun run{program, 2};
  EXPECT_EQ(run.report.time, fork_cost + item_time * 2 + Time::nanoseconds(5) + barrier_cost);
  EXPECT_THAT(run.order(tasks), ElementsAre(0, 1, 2));
  // One thread: all three between the halves.
  EXPECT_EQ((TaskRun{program, 1}.report.time), item_time * 4);
}

TEST(Tasks, aTaskwaitDoesNotWaitForGrandchildren) {
  // Task 0 creates task 1 at its end and does not wait; the creator's taskwait ends with task 0.
  TaskProgram program;
  const std::size_t tasks = program.tasks({{submit(at_end, 1)}, {}});
  const std::size_t single = program.single({submit(0, 0), wait(0)});
  const TaskRun run{program, 1};
  EXPECT_LT(run.span(single, 0).second, run.span(tasks, 1).second);
  EXPECT_EQ(run.report.time, item_time * 3);
}

TEST(Tasks, theEndOfAGroupWaitsForDescendants) {
  TaskProgram program;
  const std::size_t tasks = program.tasks({{submit(at_end, 1)}, {}});
  const std::size_t single = program.single({group_begin(0), submit(0, 0), group_end(0)});
  for (const unsigned threads : {1U, 2U}) {
    const TaskRun run{program, threads};
    EXPECT_EQ(run.span(single, 0).first, run.span(tasks, 1).second);
  }
}

TEST(Tasks, aTaskThatRunsInItsCreatorWaitsForWhatItDependsOn) {
  // if(0) depend(in: a): the creator goes on when 0, which writes a, is over; 1 may still wait.
  TaskProgram program;
  const std::size_t tasks = program.tasks(std::vector<TaskProgram::Events>(2));
  const std::size_t single =
      program.single({depends_out(0, 7), submit(0, 0), depends_out(0, 8), submit(0, 1), depends_in(0, 7), wait_for_dependences(0)});
  const TaskRun run{program, 1};
  EXPECT_EQ(run.span(single, 0).first, run.span(tasks, 0).second);
  EXPECT_LT(run.span(single, 0).first, run.span(tasks, 1).second);
}

TEST(Tasks, whatATaskwaitWaitedForConcernsNoLaterTask) {
  // `taskwait depend(in: a)` names a for itself: task 1 names nothing, so that 2, which writes a, does not follow it.
  TaskProgram program;
  const std::size_t tasks = program.tasks(std::vector<TaskProgram::Events>(3));
  program.single(
      {depends_out(0, 7), submit(0, 0), depends_in(0, 7), wait_for_dependences(0), submit(0, 1), depends_out(0, 7), submit(0, 2)});
  const TaskRun run{program, 4};
  EXPECT_EQ(run.span(tasks, 1).first, run.span(tasks, 0).second);
  EXPECT_EQ(run.span(tasks, 2).first, run.span(tasks, 0).second);
}

TEST(Tasks, areOverAtABarrier) {
  // Two singles, a barrier between them: the tasks of the first one end before the second one begins.
  TaskProgram program;
  const std::size_t tasks = program.tasks(std::vector<TaskProgram::Events>(5));
  program.single({submit(0, 0), submit(0, 1), submit(0, 2), submit(0, 3)});
  const std::size_t second = program.single({submit(half, 4)});
  const TaskRun run{program, 3};
  for (std::int64_t task = 0; task < 4; ++task) EXPECT_LE(run.span(tasks, task).second, run.span(second, 0).first);
  EXPECT_GT(run.span(tasks, 4).first, run.span(second, 0).first);
  EXPECT_EQ(run.order(tasks).size(), 5u);
}

TEST(Tasks, withoutABarrierTheOthersGoOnWhileTheyRun) {
  TaskProgram program;
  const std::size_t tasks = program.tasks(std::vector<TaskProgram::Events>(6));
  program.single({submit(0, 0), submit(0, 1), submit(0, 2), submit(0, 3), submit(0, 4), submit(0, 5)}, false);
  const std::size_t loop = program.add(RegionKind::loop, "loop", std::vector<TaskProgram::Events>(3));
  const TaskRun run{program, 3};
  // Threads 1 and 2 take their share of the loop first: it lies before any task.
  EXPECT_EQ(run.span(loop, 2).first, fork_cost);
  for (std::int64_t task = 0; task < 6; ++task) EXPECT_GE(run.span(tasks, task).first, run.span(loop, 2).second);
}

TEST(Tasks, whoIsWokenInVainStaysBehindTheJoin) {
  // The last task wakes three idle threads, one of which ends the construct. What comes after is the first thread's, once, and then
  // another construct: 100 + 10 (single) + 10 (task) + 40, 10 (serial), 100 + 10 + 10 + 40.
  TaskProgram program;
  program.tasks(std::vector<TaskProgram::Events>(1));
  program.single({submit(at_end, 0)});
  const std::size_t serial = program.add(RegionKind::serial, "serial", {{}}, true, 0);
  program.add(RegionKind::task, "more:task", std::vector<TaskProgram::Events>(1), false, 2);
  program.add(RegionKind::single, "more", {{submit(at_end, 0)}}, true, 2);
  const TaskRun run{program, 4};
  EXPECT_EQ(run.report.time, (fork_cost + item_time * 2 + barrier_cost) * 2 + item_time);
  for (const Work& slice : run.memory.slices) EXPECT_TRUE(slice.items.execution.index() != serial || slice.place.thread == ThreadId{0});
}

TEST(Tasks, whoGetsItsCoreInVainStaysBehindTheJoin) {
  // Threads 0 and 2 share a core, every iteration takes 1 ms, time slices 6 ms. Of the first loop thread 2 has the last iteration, so that
  // it begins the second loop, 2 ms each, before thread 0. It is at the barrier when thread 1 creates a task, and queues for the core
  // behind thread 0; thread 1 runs the task. Thread 0 ends the construct and goes on, until its time slice is over: then thread 2 has
  // nothing to do.
  TaskProgram program;
  program.add(RegionKind::loop, "first", std::vector<TaskProgram::Events>(3));
  program.tasks(std::vector<TaskProgram::Events>(1));
  program.add(RegionKind::loop, "second", {{}, {}, {}, {submit(at_end, -3)}, {}, {}});
  const std::size_t serial = program.add(RegionKind::serial, "serial", std::vector<TaskProgram::Events>(64), true, 0);
  const Machine machine = free_machine(2);
  const auto placement = page_placements().make("first-touch");
  const auto mapping = thread_mappings().make("cores:0:1:0");
  const DistributionPlan plan{"tasks"};
  FixedTimeMemory memory{Time::nanoseconds(1'000'000)};
  AddressSpace addresses{machine, program.workload, *placement, Bytes{4096}};
  SimulationInput input{program.workload,
                        machine,
                        *mapping,
                        [&](const std::string& label) { return label.ends_with(":task") ? plan.make_for_tasks(label) : plan.make(label); },
                        memory,
                        addresses,
                        3};
  input.oversubscribe = true;
  input.quantum = Bytes{4 * 4096};
  const RunReport report = simulate(input);
  for (const Work& slice : memory.slices) EXPECT_TRUE(slice.items.execution.index() != serial || slice.place.thread == ThreadId{0});
  EXPECT_GE(report.regions.at(serial).time, Time::nanoseconds(64'000'000));
  EXPECT_EQ(report.cores.at(0).switches, 4u);  // to thread 2 in the first loop, to 0 in the second, to 2 in vain and back
}

TEST(Tasks, createdByIterationsOfALoopBelongToWhoeverRunsThem) {
  // Iteration i creates task i (less the creator's own number: 0). 8 iterations and 8 tasks on 4 threads: 4 items each.
  TaskProgram program;
  const std::size_t tasks = program.tasks(std::vector<TaskProgram::Events>(8));
  program.add(RegionKind::loop, "loop", std::vector<TaskProgram::Events>(8, {submit(0, 0)}));
  const TaskRun run{program, 4};
  EXPECT_EQ(run.report.time, fork_cost + item_time * 4 + barrier_cost);
  EXPECT_EQ(run.order(tasks).size(), 8u);
}

// fib(n) as everybody writes it: tasks for n - 1 and n - 2, a taskwait, the sum.
struct Fibonacci {
  std::vector<TaskProgram::Events> tasks;
  std::int64_t add(int n) {
    const auto own = static_cast<std::int64_t>(tasks.size());
    tasks.emplace_back();
    if (n < 2) return own;
    for (const int smaller : {n - 1, n - 2}) {
      const std::int64_t child = add(smaller);
      tasks[static_cast<std::size_t>(own)].push_back(submit(half, child - own));
    }
    tasks[static_cast<std::size_t>(own)].push_back(wait(half));
    return own;
  }
};

TEST(Tasks, nestAsDeepAsTheProgramDoes) {
  Fibonacci fibonacci;
  fibonacci.add(9);
  const auto count = static_cast<std::int64_t>(fibonacci.tasks.size());
  TaskProgram program;
  const std::size_t tasks = program.tasks(fibonacci.tasks);
  program.single({submit(0, 0), wait(at_end)});
  EXPECT_EQ((TaskRun{program, 1}.report.time), item_time * (count + 1));
  Time before = Time::from_seconds(1);
  for (const unsigned threads : {1U, 2U, 4U, 8U}) {
    // A thread that waits for a child which another thread runs runs that child's children.
    const TaskRun run{program, threads};
    const std::vector<std::int64_t> order = run.order(tasks);
    EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), static_cast<std::size_t>(count));
    EXPECT_EQ(order.size(), static_cast<std::size_t>(count));
    EXPECT_LT(run.report.time, before);
    before = run.report.time;
  }
}

TEST(Tasks, aDeadlockNamesWhoWaitsForWhichTask) {
  // The creator holds the lock that its child wants, and waits for it.
  TaskProgram program;
  program.tasks({{{0, SyncOperation::lock, 5, 0}, {at_end, SyncOperation::unlock, 5, 0}}});
  program.single({submit(0, 0), {0, SyncOperation::lock, 5, 0}, wait(half), {at_end, SyncOperation::unlock, 5, 0}});
  for (const unsigned threads : {1U, 2U}) {
    try {
      const TaskRun run{program, threads};
      FAIL() << "no deadlock";
    } catch (const DeadlockError& error) {
      EXPECT_THAT(error.what(), HasSubstr("lock 5"));
      EXPECT_THAT(error.what(), threads == 1 ? HasSubstr("thread 0 waits for lock 5, held by thread 0")
                                             : HasSubstr("thread 0 waits in implicit task 0 for 1 task, first task 0 of region "
                                                         "'work:task', which runs"));
    }
  }
}

TEST(Tasks, wrongEventsAreRefusedByName) {
  TaskProgram never;
  never.tasks(std::vector<TaskProgram::Events>(2));
  never.single({submit(0, 0)});
  EXPECT_THAT(policy_error(never), HasSubstr("task 1 of region 'work:task' is created by nobody"));
  TaskProgram twice;
  twice.tasks(std::vector<TaskProgram::Events>(1));
  twice.single({submit(0, 0), submit(0, 0)});
  EXPECT_THAT(policy_error(twice), HasSubstr("task 0 of region 'work:task' is created twice"));
  TaskProgram beyond;
  beyond.tasks(std::vector<TaskProgram::Events>(1));
  beyond.single({submit(0, 1)});
  EXPECT_THAT(policy_error(beyond), HasSubstr("creates task 1 of region 'work:task', which has 1"));
  TaskProgram unknown;
  unknown.tasks(std::vector<TaskProgram::Events>(1));
  unknown.single({submit(0, 0, 1)});
  EXPECT_THAT(policy_error(unknown), HasSubstr("execution 1 of tasks in a construct that has 1"));
  TaskProgram outside;
  outside.add(RegionKind::serial, "serial", {{submit(0, 0)}}, false, 0);
  EXPECT_THAT(policy_error(outside), HasSubstr("region 'serial' has an event of tasks outside of a parallel construct"));
  TaskProgram group;
  group.tasks(std::vector<TaskProgram::Events>(1));
  group.single({submit(0, 0), group_end(0)});
  EXPECT_THAT(policy_error(group), HasSubstr("ends a group of tasks that it did not begin"));
}

}  // namespace
}  // namespace homenode::test::tasks
