// Busy, spinning and waiting time, told by hand.
#include "sim/loop/time_accounts.hpp"

#include <gtest/gtest.h>

#include "sim/loop/threads.hpp"
#include "sim/program/workload_builder.hpp"

namespace homenode::test {
namespace {

Time ns(std::int64_t count) { return Time::nanoseconds(count); }
const ThreadId first{0u}, second{1u};
const CoreId core{0u}, other_core{1u};

struct TimeAccountsTest : ::testing::Test {
  TimeAccountsTest() {
    WorkloadBuilder builder;
    builder.object("data", 64);
    for (const char* label : {"one", "two"}) builder.repeat(builder.loop(label, 1000));
    workload = builder.build();
    timeline.begin_part(*workload, Time{});
  }
  TimeAccounts accounts(Time spin = Time{}) { return {*workload, {.threads = 2, .cores = 2}, spin, &timeline}; }
  std::shared_ptr<Workload> workload;
  Timeline timeline{100};
};

TEST_F(TimeAccountsTest, busyTimeIsThatOfTheThreadTheCoreAndTheRegion) {
  TimeAccounts accounts = this->accounts();
  accounts.busy(ThreadActivity::work, first, other_core, {ExecutionId{1}, 3, 5}, ns(10), ns(14));
  accounts.busy(ThreadActivity::runtime, first, core, {ExecutionId{0}, 0, 0}, ns(14), ns(15));
  EXPECT_EQ(accounts.busy_of(first), ns(5));
  EXPECT_EQ(accounts.busy_of(second), Time{});
  EXPECT_EQ(accounts.core_use(ns(20))[0].busy, ns(1));
  EXPECT_EQ(accounts.core_use(ns(20))[1].busy, ns(4));
  EXPECT_EQ(accounts.busy_of_region(1), (std::vector<Time>{ns(4), Time{}}));
  ASSERT_EQ(timeline.spans().size(), 2U);
  EXPECT_EQ(timeline.spans()[0].doing, ThreadActivity::work);
  EXPECT_EQ(timeline.spans()[0].first, 3);
  EXPECT_EQ(timeline.spans()[0].last, 5);
}

TEST_F(TimeAccountsTest, heapCallsAndRuntimeAreTheirPartsOfBusyTime) {
  TimeAccounts accounts = this->accounts();
  accounts.busy(ThreadActivity::work, first, core, {ExecutionId{1}, 0, 1}, ns(0), ns(2));
  accounts.busy(ThreadActivity::heap_call, first, core, {ExecutionId{1}, 0, 0}, ns(2), ns(5));
  accounts.busy(ThreadActivity::heap_call, second, other_core, {ExecutionId{1}, 0, 0}, ns(2), ns(6));
  accounts.busy(ThreadActivity::runtime, second, other_core, {ExecutionId{1}, 0, 0}, ns(6), ns(7));
  EXPECT_EQ(accounts.busy_of_region(1), (std::vector<Time>{ns(5), ns(5)}));
  EXPECT_EQ(accounts.runtime_of_region(1), ns(1));
  EXPECT_EQ(accounts.heap_calls_of_region(1), ns(7));
  EXPECT_EQ(accounts.heap_calls_of_region(0), Time{});
}

TEST_F(TimeAccountsTest, aCoreDoesNotSpinWhileAnotherThreadWorksOnIt) {
  // Of 10 ns the first thread works 6; the second spins all the time, on the same core: 4 are left for that.
  TimeAccounts accounts = this->accounts();
  accounts.busy(ThreadActivity::work, first, core, {ExecutionId{0}, 0, 1}, ns(0), ns(6));
  accounts.start_spinning(second, ns(0));
  accounts.stop_spinning(second, core, ns(10));
  accounts.stop_spinning(second, core, ns(10));  // it does not any more
  EXPECT_EQ(accounts.core_use(ns(10))[0].spinning, ns(4));
  EXPECT_EQ(accounts.core_use(ns(100))[0].spinning, ns(10));
  EXPECT_EQ(accounts.core_use(ns(3))[0].spinning, Time{});
}

TEST_F(TimeAccountsTest, aThreadSpinsNoLongerThanItsMappingLetsIt) {
  const Time second_of_run = Time::from_seconds(1);
  for (const auto& [spin, spun] : {std::pair{ns(7), ns(7)}, std::pair{Time{}, Time::from_seconds(0.2)}}) {
    TimeAccounts accounts = this->accounts(spin);
    accounts.start_spinning(first, Time{});
    accounts.stop_spinning(first, core, second_of_run);
    EXPECT_EQ(accounts.core_use(second_of_run)[0].spinning, spun);
  }
}

TEST_F(TimeAccountsTest, aWaitIsWhatItBeganAs) {
  TimeAccounts accounts = this->accounts();
  accounts.stop_waiting(first, ExecutionId{0}, ns(1));  // it waits for nothing
  accounts.start_waiting(first, ThreadActivity::count, ns(1));
  accounts.start_waiting(first, ThreadActivity::barrier, ns(2));
  accounts.start_waiting(first, ThreadActivity::core, ns(5));
  accounts.stop_waiting(first, ExecutionId{1}, ns(9));
  accounts.stop_waiting(first, ExecutionId{0}, ns(12));
  ASSERT_EQ(timeline.spans().size(), 1U);
  EXPECT_EQ(timeline.spans()[0].doing, ThreadActivity::barrier);
  EXPECT_EQ(timeline.spans()[0].from, ns(2));
  EXPECT_EQ(timeline.spans()[0].to, ns(9));
  EXPECT_EQ(timeline.labels()[timeline.spans()[0].label], "two");
  EXPECT_EQ(accounts.busy_of(first), Time{});
}

TEST(CauseOfWait, isTheRoleOrTheEventThatTheThreadIsAt) {
  Thread thread;
  EXPECT_EQ(cause_of_wait(thread, nullptr), ThreadActivity::count);
  thread.role = TeamRole::member;
  EXPECT_EQ(cause_of_wait(thread, nullptr), ThreadActivity::items);
  thread.role = TeamRole::at_barrier;
  EXPECT_EQ(cause_of_wait(thread, nullptr), ThreadActivity::barrier);
  ItemPattern pattern;
  const std::pair<SyncOperation, ThreadActivity> causes[] = {
      {SyncOperation::lock, ThreadActivity::lock},          {SyncOperation::critical_enter, ThreadActivity::lock},
      {SyncOperation::atomic_wait, ThreadActivity::signal}, {SyncOperation::barrier, ThreadActivity::barrier},
      {SyncOperation::join, ThreadActivity::join},          {SyncOperation::ordered_enter, ThreadActivity::turn},
      {SyncOperation::task_wait, ThreadActivity::tasks}};
  for (const auto& [operation, cause] : causes) {
    pattern.sync_events = {{0, operation, 1, 1}};
    EXPECT_EQ(cause_of_wait(thread, &pattern), cause);
  }
  thread.sync_events = 1;  // it is behind them
  EXPECT_EQ(cause_of_wait(thread, &pattern), ThreadActivity::count);
}

}  // namespace
}  // namespace homenode::test
