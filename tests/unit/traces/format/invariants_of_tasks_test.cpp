// Each invariant of tasks: a sound construct, broken in one place, is told of in one line.
#include "traces/format/invariants_of_tasks.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "sim/program/workload_builder.hpp"
#include "traces/format/invariants.hpp"

namespace homenode {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A single creates three tasks, the last of which follows the first, and waits for them. Pattern 1 is the single's.
std::shared_ptr<MemoryWorkload> sound() {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 160);
  builder.parallel(1);
  const RegionId tasks = builder.tasks("work:task", 3);
  builder.nest(tasks, {2}, {write(a, 0, {8}, 16)});
  builder.repeat(tasks);
  const RegionId single = builder.single("work");
  builder.sync(single, SyncOperation::task_group_begin);
  builder.sync(single, SyncOperation::depend, 7, 2);
  for (std::uint64_t task = 0; task < 2; ++task) builder.sync(single, SyncOperation::task_submit, 0, task);
  builder.sync(single, SyncOperation::depend, 7, 1);
  builder.sync(single, SyncOperation::task_submit, 0, 2);
  builder.sync(single, SyncOperation::task_group_end);
  builder.nest(single, {1}, {read(a, 0, {8})});
  builder.repeat(single);
  return std::dynamic_pointer_cast<MemoryWorkload>(builder.build());
}

std::vector<std::string> after(const std::function<void(MemoryWorkload&, std::vector<SyncEvent>&)>& change) {
  const auto workload = sound();
  change(*workload, workload->patterns.at(1).sync_events);
  return broken_invariants_of_tasks(*workload);
}

TEST(InvariantsOfTasks, HoldForWhatIsBuilt) { EXPECT_THAT(broken_invariants(*sound()), IsEmpty()); }

TEST(InvariantsOfTasks, EachTaskIsCreatedOnceByAnItemThatIsRun) {
  // events: group_begin, depend, submit 0, submit 1, depend, submit 2, group_end
  EXPECT_THAT(after([](auto&, auto& events) { events.at(5).match = 1; }),
              ElementsAre("execution 1: creates task 1 of execution 0 again", "execution 0: task 2 is created by nobody"));
  EXPECT_THAT(after([](auto&, auto& events) { events.at(5).match = 3; }),
              ElementsAre("execution 1: creates task 3 of execution 0, which has 3", "execution 0: task 2 is created by nobody"));
  EXPECT_THAT(after([](auto&, auto& events) { events.at(5).object = 1; }),
              ElementsAre("execution 1: creates a task of execution 1 of tasks in a construct that has 1",
                          "execution 0: task 2 is created by nobody"));
  EXPECT_THAT(
      after([](auto& workload, auto&) { workload.executions.at(1).binding = Binding::replicated; }),
      ElementsAre("execution 1: creates tasks, and is done by every thread of the team", "execution 0: task 0 is created by nobody"));
}

TEST(InvariantsOfTasks, TheyBelongToAParallelConstruct) {
  EXPECT_THAT(after([](auto& workload, auto&) { workload.executions.at(0).parallel = 0; }),
              ElementsAre("execution 0: consists of tasks that belong to no parallel construct", "execution 0: task 0 is created by nobody",
                          "execution 1: creates a task of execution 0 of tasks in a construct that has 0"));
  EXPECT_THAT(after([](auto& workload, auto&) { workload.executions.at(1).parallel = 0; }),
              ElementsAre("execution 0: task 0 is created by nobody", "execution 1: has events of tasks outside of a parallel construct"));
}

TEST(InvariantsOfTasks, DependencesAndGroupsBelongToWhatFollows) {
  EXPECT_THAT(after([](auto&, auto& events) { std::swap(events.at(4), events.at(6)); }),
              ElementsAre("pattern 1: names a dependence that no task and no wait follows"));
  EXPECT_THAT(after([](auto&, auto& events) { events.at(0).operation = SyncOperation::task_group_end; }),
              ElementsAre("pattern 1: ends a group of tasks that it did not begin"));
  EXPECT_THAT(after([](auto&, auto& events) { events.pop_back(); }),
              ElementsAre("pattern 1: begins a group of tasks that it does not end"));
  EXPECT_THAT(after([](auto&, auto& events) { events.at(1).sequence = 1; }),
              ElementsAre("pattern 1: synchronisation is not in order of its sequence numbers"));
  // Of a killed program the end is missing.
  EXPECT_THAT(after([](auto& workload, auto& events) { events.pop_back(), workload.complete = false; }), IsEmpty());
}

}  // namespace
}  // namespace homenode
