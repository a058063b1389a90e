// Who has a heap's lock next. Ways of the lock's line are given by hand: 50 ns to core 1, 150 ns to any other; a sleeper wakes in 3 us.
#include "sim/loop/call_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace homenode::test {
namespace {

constexpr Time ns(std::int64_t nanoseconds) { return Time::picoseconds(1000 * nanoseconds); }
Place on(std::size_t core, Time now) { return {ThreadId{core}, CoreId{core}, NodeId{0}, now}; }

const SpinLockTimes times{ns(3000), [](CoreId, CoreId to) { return to == CoreId{1} ? ns(50) : ns(150); }};

TEST(FairLock, goesByTheOrderOfAsking) {
  CallLock lock{true};
  EXPECT_TRUE(lock.ask(on(0, ns(0))));
  EXPECT_FALSE(lock.ask(on(1, ns(1))));
  EXPECT_FALSE(lock.ask(on(2, ns(2))));
  EXPECT_EQ(lock.pass_on(), ThreadId{1});
  EXPECT_EQ(lock.pass_on(), ThreadId{2});
  EXPECT_EQ(lock.pass_on(), std::nullopt);
  EXPECT_TRUE(lock.ask(on(0, ns(3))));
}

TEST(SpinLock, isTakenAgainByTheCoreThatHasItsLine) {
  std::mt19937_64 random{1};
  CallLock lock{false, ns(1000)};
  lock.ask(on(0, ns(0)));
  lock.ask(on(1, ns(10)));
  const auto looks = lock.give_up(on(0, ns(100)), times, random);
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks[0].thread, ThreadId{1});
  EXPECT_EQ(looks[0].time, ns(150));
  EXPECT_TRUE(lock.ask(on(0, ns(120))));    // before the line has come to core 1
  EXPECT_FALSE(lock.look(on(1, ns(150))));  // which spins on
  const auto again = lock.give_up(on(0, ns(200)), times, random);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].time, ns(250));
  EXPECT_TRUE(lock.look(on(1, ns(250))));
}

TEST(SpinLock, isFoundByANearCoreMoreOften) {
  // Chances go by 1 / way: 1/50 to 1/150, so core 1 has it in three of four. 4000 draws: standard deviation sqrt(3/16 / 4000) = 0.0068.
  std::mt19937_64 random{7};
  int near = 0;
  for (int i = 0; i < 4000; ++i) {
    CallLock lock{false};
    lock.ask(on(0, ns(0)));
    lock.ask(on(1, ns(1)));
    lock.ask(on(2, ns(2)));
    near += lock.give_up(on(0, ns(10)), times, random).at(0).thread == ThreadId{1};
  }
  EXPECT_NEAR(near / 4000.0, 0.75, 4 * 0.0068);
}

TEST(SpinLock, sleepersAreOvertakenUntilTheyAreAwake) {
  // Core 1 spins for 1 us from 0 on, so it sleeps at 2 us, is woken then, and awake at 5 us. Who asks at 4 us has the lock at once.
  std::mt19937_64 random{1};
  CallLock lock{false, ns(1000)};
  lock.ask(on(0, ns(0)));
  lock.ask(on(1, ns(0)));
  const auto looks = lock.give_up(on(0, ns(2000)), times, random);
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks[0].time, ns(5000));
  EXPECT_TRUE(lock.ask(on(2, ns(4000))));
  EXPECT_FALSE(lock.look(on(1, ns(5000))));
  // It spins anew from 5 us on: at 5.5 us it sees the release over its way.
  const auto again = lock.give_up(on(2, ns(5500)), times, random);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].time, ns(5550));
}

TEST(SpinLock, wakesTheLongestSleeperAndLetsOthersSpin) {
  std::mt19937_64 random{1};
  CallLock lock{false, ns(1000)};
  lock.ask(on(0, ns(0)));
  lock.ask(on(2, ns(0)));
  lock.ask(on(1, ns(1500)));
  const auto looks = lock.give_up(on(0, ns(2000)), times, random);
  ASSERT_EQ(looks.size(), 2u);
  EXPECT_EQ(looks[0].thread, ThreadId{1});  // spins: over its way
  EXPECT_EQ(looks[0].time, ns(2050));
  EXPECT_EQ(looks[1].thread, ThreadId{2});  // sleeps
  EXPECT_EQ(looks[1].time, ns(5000));
}

}  // namespace
}  // namespace homenode::test
