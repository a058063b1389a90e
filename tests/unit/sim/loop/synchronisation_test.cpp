// Who goes on and who waits, event by event.
#include "sim/loop/synchronisation.hpp"

#include <gtest/gtest.h>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

const ThreadId a{0u}, b{1u}, c{2u};
using Released = std::vector<ThreadId>;

struct Fixture : ::testing::Test {
  Synchronisation sync;
  Released released;
  bool pass(ThreadId thread, SyncOperation operation, std::uint64_t object, std::uint64_t match = 0) {
    released.clear();
    return sync.pass(thread, {0, operation, object, match}, released);
  }
  bool lock_or_queue(ThreadId thread) {
    released.clear();
    return sync.pass(thread, {0, SyncOperation::lock, 7, 0}, released, true);
  }
};
using SynchronisationTest = Fixture;

TEST_F(SynchronisationTest, ALockGoesToWhoeverCameFirst) {
  EXPECT_TRUE(pass(a, SyncOperation::lock, 7));
  EXPECT_FALSE(pass(c, SyncOperation::lock, 7));
  EXPECT_FALSE(pass(b, SyncOperation::lock, 7));
  EXPECT_TRUE(pass(b, SyncOperation::critical_enter, 7));  // not the same thing as mutex 7
  EXPECT_TRUE(pass(a, SyncOperation::unlock, 7));
  EXPECT_EQ(released, Released{c});
  EXPECT_TRUE(pass(c, SyncOperation::unlock, 7));
  EXPECT_EQ(released, Released{b});
  EXPECT_TRUE(pass(b, SyncOperation::unlock, 7));
  EXPECT_TRUE(released.empty());
  EXPECT_FALSE(sync.anybody_waits());
  EXPECT_THROW(pass(a, SyncOperation::unlock, 7), PolicyError);
}

TEST_F(SynchronisationTest, ALockThatIsSleptForIsFreeAndTheSleeperAsksAgain) {
  EXPECT_TRUE(lock_or_queue(a));
  EXPECT_FALSE(lock_or_queue(b));
  EXPECT_FALSE(lock_or_queue(c));
  EXPECT_TRUE(pass(a, SyncOperation::unlock, 7));
  EXPECT_TRUE(released.empty());
  EXPECT_EQ(sync.take_woken(), Released{b});
  EXPECT_TRUE(sync.take_woken().empty());
  EXPECT_TRUE(lock_or_queue(a));  // before b is awake
  EXPECT_EQ(sync.describe_waits(), "thread 2 waits for lock 7, held by thread 0");
  EXPECT_FALSE(lock_or_queue(b));  // behind c now
  EXPECT_TRUE(pass(a, SyncOperation::unlock, 7));
  EXPECT_EQ(sync.take_woken(), Released{c});
  EXPECT_TRUE(lock_or_queue(c));
  EXPECT_TRUE(pass(c, SyncOperation::unlock, 7));
  EXPECT_EQ(sync.take_woken(), Released{b});
  EXPECT_TRUE(lock_or_queue(b));
  EXPECT_TRUE(pass(b, SyncOperation::unlock, 7));
  EXPECT_FALSE(sync.anybody_waits());
}

TEST_F(SynchronisationTest, ThoseThatQueueOnWaitForTheNewHolder) {
  pass(a, SyncOperation::lock, 7);
  pass(b, SyncOperation::lock, 7);
  pass(c, SyncOperation::lock, 7);
  EXPECT_EQ(sync.describe_waits(), "thread 1 waits for lock 7, held by thread 0; thread 2 waits for lock 7, held by thread 0");
  pass(a, SyncOperation::unlock, 7);
  EXPECT_EQ(sync.describe_waits(), "thread 2 waits for lock 7, held by thread 1");
}

TEST_F(SynchronisationTest, ATryThatFailedIsNothingAndOneThatSucceededIsALock) {
  EXPECT_TRUE(pass(a, SyncOperation::try_lock, 7, 1));
  EXPECT_TRUE(pass(b, SyncOperation::try_lock, 7, 0));
  EXPECT_FALSE(pass(b, SyncOperation::try_lock, 7, 1));
  pass(a, SyncOperation::unlock, 7);
  EXPECT_EQ(released, Released{b});
}

TEST_F(SynchronisationTest, AWaitFollowsTheRecordedSignalWhicheverComesFirst) {
  EXPECT_FALSE(pass(a, SyncOperation::wait, 5, 100));
  EXPECT_TRUE(pass(b, SyncOperation::signal, 5, 99));  // another one
  EXPECT_TRUE(released.empty());
  EXPECT_TRUE(pass(b, SyncOperation::signal, 5, 100));
  EXPECT_EQ(released, Released{a});
  EXPECT_TRUE(pass(c, SyncOperation::wait, 5, 99));
  EXPECT_TRUE(pass(c, SyncOperation::wait, 5, 0));  // timed out
}

TEST_F(SynchronisationTest, ABarrierOpensWhenAllAreThereAndAgain) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(pass(b, SyncOperation::barrier, 3, 3));
    EXPECT_FALSE(pass(a, SyncOperation::barrier, 3, 3));
    EXPECT_TRUE(pass(c, SyncOperation::barrier, 3, 3));
    EXPECT_EQ(released, (Released{b, a}));
  }
}

TEST_F(SynchronisationTest, AJoinWaitsForTheEnd) {
  EXPECT_TRUE(pass(a, SyncOperation::create, 1));
  EXPECT_FALSE(pass(a, SyncOperation::join, 1));
  released.clear();
  sync.thread_ended(b, released);
  EXPECT_EQ(released, Released{a});
  EXPECT_TRUE(pass(c, SyncOperation::join, 1));
}

TEST_F(SynchronisationTest, OrderedTurnsFollowEachOtherAndATurnMayStayOut) {
  EXPECT_FALSE(pass(b, SyncOperation::ordered_enter, 9, 2));
  EXPECT_TRUE(pass(a, SyncOperation::ordered_enter, 9, 0));
  released.clear();
  sync.turn_done(9, 1, released);  // ended without entering
  EXPECT_TRUE(released.empty());
  EXPECT_TRUE(pass(a, SyncOperation::ordered_leave, 9, 0));
  EXPECT_EQ(released, Released{b});
}

TEST_F(SynchronisationTest, ACycleOfLocksIsNamed) {
  pass(a, SyncOperation::lock, 1);
  pass(b, SyncOperation::lock, 2);
  EXPECT_FALSE(pass(a, SyncOperation::lock, 2));
  EXPECT_FALSE(pass(b, SyncOperation::lock, 1));
  EXPECT_FALSE(pass(c, SyncOperation::join, 0));
  EXPECT_EQ(sync.describe_waits(), "cycle: thread 0 waits for lock 2, held by thread 1; thread 1 waits for lock 1, held by thread 0");
}

TEST_F(SynchronisationTest, WaitsWithoutACycleAreAllNamed) {
  pass(a, SyncOperation::wait, 5, 100);
  pass(b, SyncOperation::barrier, 3, 2);
  EXPECT_EQ(sync.describe_waits(), "thread 0 waits for signal 100; thread 1 waits for barrier 3");
}

}  // namespace
}  // namespace homenode
