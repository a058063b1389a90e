#include "sim/scheduler/scheduler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace homenode::test {
namespace {

using ::testing::ElementsAre;

const Time millisecond = Time::from_seconds(1e-3);

// Two sockets of two cores, a last-level cache and a node each.
Machine two_sockets(unsigned cores_each = 2) {
  Machine machine;
  machine.name = "two-sockets";
  machine.sockets = 2;
  machine.nodes = {{SocketId{0}, Bytes{1 << 30}, Time::nanoseconds(60), {}}, {SocketId{1}, Bytes{1 << 30}, Time::nanoseconds(60), {}}};
  for (unsigned core = 0; core < 2 * cores_each; ++core) machine.core_node.emplace_back(core / cores_each);
  CacheDescription cache;
  cache.size = Bytes{1 << 20};
  cache.cores_per_cache = cores_each;
  machine.caches = {cache};
  return machine;
}

std::vector<CoreId> all(const Machine& machine) {
  std::vector<CoreId> cores;
  for (unsigned core = 0; core < machine.cores(); ++core) cores.emplace_back(core);
  return cores;
}

SchedulerSettings quiet() {
  SchedulerSettings settings;
  settings.disturbances = 0;
  return settings;
}

const ThreadId a{0}, b{1}, c{2}, nobody = ThreadId::none();

class OneCore : public ::testing::Test {
protected:
  OneCore() : machine{two_sockets()}, scheduler{machine, quiet(), {}, 0} {
    for (int thread = 0; thread < 2; ++thread) scheduler.add({CoreId{0}});
  }
  // Another one, whose threads spin for so long before they sleep: a has the core.
  Scheduler& spinning_for(Time spin) {
    spinning_.emplace(machine, quiet(), Scheduler::Waiting{spin, 1}, 0);
    for (int thread = 0; thread < 2; ++thread) spinning_->add({CoreId{0}});
    EXPECT_TRUE(spinning_->resume(a, nobody, Time{}));
    return *spinning_;
  }
  Machine machine;
  Scheduler scheduler;

private:
  std::optional<Scheduler> spinning_;
};

TEST_F(OneCore, servesOneThreadAtATime) {
  EXPECT_TRUE(scheduler.resume(a, nobody, Time{}));
  scheduler.start_computing(a);
  EXPECT_FALSE(scheduler.resume(b, nobody, Time{}));
  EXPECT_TRUE(scheduler.has_core(a));
  EXPECT_FALSE(scheduler.has_core(b));
  // The first sleeps: the other one gets the core, and pays for the switch.
  scheduler.start_waiting(a, Scheduler::Wait::sleeps, millisecond);
  EXPECT_THAT(scheduler.take_granted(), ElementsAre(b));
  EXPECT_EQ(scheduler.take_delay(b), quiet().context_switch);
  EXPECT_EQ(scheduler.take_delay(a), Time{});
}

// Idle for less than the residency: the wake-up of a shallow sleep; for that long: of a deep one, which counts. A thread that looks
// itself whether it can go on, and one that goes on at once, have none.
TEST_F(OneCore, wakesUpForAThreadThatSlept) {
  using Wait = Scheduler::Wait;
  const Time little = Time::nanoseconds(100), long_enough = quiet().residency;
  ASSERT_TRUE(scheduler.resume(a, nobody, Time{}));
  EXPECT_EQ(scheduler.take_delay(a), Time{});  // its first time
  EXPECT_EQ(scheduler.wakeups(CoreId{0}), 1u);
  Time now{};
  const auto after = [&](Wait how, Time idle) {
    scheduler.start_waiting(a, how, now);
    now += idle;
    EXPECT_TRUE(scheduler.resume(a, b, now));
    return scheduler.take_delay(a);
  };
  EXPECT_EQ(after(Wait::sleeps, little), quiet().wakeup);
  EXPECT_EQ(scheduler.wakeups(CoreId{0}), 1u);
  EXPECT_EQ(after(Wait::sleeps, long_enough), quiet().deep_wakeup);
  EXPECT_EQ(scheduler.wakeups(CoreId{0}), 2u);
  for (const Wait how : {Wait::yields, Wait::spins}) EXPECT_EQ(after(how, long_enough), Time{});
  EXPECT_EQ(after(Wait::sleeps, Time{}), Time{});
  EXPECT_EQ(scheduler.wakeups(CoreId{0}), 2u);
}

TEST_F(OneCore, isSharedByTimeSlices) {
  // Four cores: times are scaled by 1 + log2 4 = 3. Two threads have max(3 x 6 ms / 2, 3 x 0.75 ms) = 9 ms each in turn.
  ASSERT_TRUE(scheduler.resume(a, nobody, Time{}));
  scheduler.start_computing(a);
  ASSERT_FALSE(scheduler.resume(b, nobody, Time{}));
  Time ran[2] = {};
  std::size_t on_core = 0;
  for (Time now = millisecond; now <= millisecond * 90; now += millisecond) {
    ran[on_core] += millisecond;
    if (!scheduler.slice_ended(ThreadId{on_core}, now)) {
      EXPECT_EQ(now.count() % (millisecond * 9).count(), 0);
      on_core = 1 - on_core;
      EXPECT_THAT(scheduler.take_granted(), ElementsAre(ThreadId{on_core}));
    }
    scheduler.start_computing(ThreadId{on_core});
  }
  EXPECT_EQ(ran[0] + ran[1], millisecond * 90);
  EXPECT_EQ(ran[0], ran[1]);
}

TEST_F(OneCore, isTakenBySomebodyWhoSleptLong) {
  // b slept while a ran 100 ms: b is half a latency (9 ms) behind, more than the 3 ms of granularity; it goes at a's next boundary.
  ASSERT_TRUE(scheduler.resume(a, nobody, Time{}));
  scheduler.start_computing(a);
  EXPECT_TRUE(scheduler.slice_ended(a, millisecond * 100));
  scheduler.start_computing(a);
  EXPECT_FALSE(scheduler.resume(b, nobody, millisecond * 101));
  EXPECT_FALSE(scheduler.slice_ended(a, millisecond * 102));
  EXPECT_THAT(scheduler.take_granted(), ElementsAre(b));
}

TEST_F(OneCore, isHeldByTheSleeperUntilItsHeadStartIsUsedUp) {
  // a has run 100 ms when b wakes, and 102 when b gets the core: b begins at 100 - 18 / 2 = 91 ms. After a slice of 9 ms b has 100 < 102
  // and goes on; after two it has 109 > 102.
  ASSERT_TRUE(scheduler.resume(a, nobody, Time{}));
  scheduler.start_computing(a);
  EXPECT_TRUE(scheduler.slice_ended(a, millisecond * 100));
  scheduler.start_computing(a);
  EXPECT_FALSE(scheduler.resume(b, nobody, millisecond * 101));
  EXPECT_FALSE(scheduler.slice_ended(a, millisecond * 102));
  EXPECT_THAT(scheduler.take_granted(), ElementsAre(b));
  for (int end = 103; end < 120; ++end) {
    scheduler.start_computing(b);
    EXPECT_TRUE(scheduler.slice_ended(b, millisecond * end)) << end;
  }
  scheduler.start_computing(b);
  EXPECT_FALSE(scheduler.slice_ended(b, millisecond * 120));
  EXPECT_THAT(scheduler.take_granted(), ElementsAre(a));
}

TEST_F(OneCore, isFreeWhenItsThreadHasSpunLongEnough) {
  // It spins for 4 ms, less than the slice of 9 ms: whoever queues gets the core then.
  Scheduler& spinning = spinning_for(millisecond * 4);
  spinning.start_waiting(a, Scheduler::Wait::spins, Time{});
  EXPECT_FALSE(spinning.resume(b, nobody, millisecond));
  EXPECT_EQ(spinning.next_event(), millisecond * 4);
  spinning.advance(millisecond * 4);
  EXPECT_THAT(spinning.take_granted(), ElementsAre(b));
  EXPECT_FALSE(spinning.anybody_queues());
}

TEST_F(OneCore, isNotGivenToAThreadThatFellAsleepInTheQueue) {
  // a spins from 0 to 12 ms, but after its slice of 9 ms b has the core until 20 ms: a sleeps by then, and b goes on.
  Scheduler& spinning = spinning_for(millisecond * 12);
  spinning.start_waiting(a, Scheduler::Wait::spins, Time{});
  EXPECT_FALSE(spinning.resume(b, nobody, millisecond));
  spinning.advance(millisecond * 9);
  EXPECT_THAT(spinning.take_granted(), ElementsAre(b));
  spinning.start_computing(b);
  EXPECT_TRUE(spinning.slice_ended(b, millisecond * 20));
  EXPECT_FALSE(spinning.has_core(a));
  EXPECT_FALSE(spinning.anybody_queues());
}

TEST_F(OneCore, isGivenAwayByAThreadThatBeginsToSpinAfterItsSlice) {
  Scheduler& spinning = spinning_for(millisecond * 200);
  spinning.start_computing(a);
  EXPECT_FALSE(spinning.resume(b, nobody, millisecond));
  spinning.start_waiting(a, Scheduler::Wait::spins, millisecond * 10);  // its slice was 9 ms
  EXPECT_THAT(spinning.take_granted(), ElementsAre(b));
}

TEST_F(OneCore, isKeptByAThreadThatSpinsUntilItsSliceEnds) {
  // Three threads of two cores would be throttled; two spin for 200 ms, so the other one waits 9 ms for its slice.
  Scheduler& spinning = spinning_for(millisecond * 200);
  spinning.start_waiting(a, Scheduler::Wait::spins, Time{});
  EXPECT_FALSE(spinning.resume(b, nobody, millisecond));
  EXPECT_EQ(spinning.next_event(), millisecond * 9);
  spinning.advance(millisecond * 9);
  EXPECT_THAT(spinning.take_granted(), ElementsAre(b));
  EXPECT_TRUE(spinning.anybody_queues());
}

TEST(Creation, goesRoundTheNodesAndFillsEveryCoreOnce) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Machine machine = two_sockets(4);
    Scheduler scheduler{machine, quiet(), {}, seed};
    std::set<CoreId> cores;
    for (std::size_t thread = 0; thread < 8; ++thread) {
      scheduler.add(all(machine));
      const CoreId core = scheduler.core_of(ThreadId{thread});
      cores.insert(core);
      // 1/4 against 0, then a tie, which the creator's own node wins: nodes alternate, from the second thread on the other one first.
      const std::size_t first = machine.node_of(scheduler.core_of(a)).index();
      EXPECT_EQ(machine.node_of(core).index(), (first + thread) % 2) << thread;
    }
    EXPECT_EQ(cores.size(), 8u);
  }
}

TEST(Creation, byLoadTheLastThreadSharesACoreAndByIdleCoresNone) {
  const Machine machine = two_sockets(12);
  for (const double by_idle : {0.0, 1.0}) {
    SchedulerSettings settings = quiet();
    settings.new_by_idle_cores = by_idle;
    Scheduler scheduler{machine, settings, {}, 3};
    std::set<CoreId> cores;
    for (std::size_t thread = 0; thread < 24; ++thread) {
      scheduler.add(all(machine));
      cores.insert(scheduler.core_of(ThreadId{thread}));
    }
    // 12 threads on 12 cores against 11: nine per cent, and the margin is half of a quarter
    EXPECT_EQ(cores.size(), by_idle > 0 ? 24u : 23u);
  }
}

TEST(Creation, aFewThreadsStayOnTheirCreatorsNode) {
  // By idle cores: up to an eighth of 32 cores, while the other node has no more than two idle ones more.
  const Machine machine = two_sockets(32);
  SchedulerSettings settings = quiet();
  settings.new_by_idle_cores = 1;
  Scheduler scheduler{machine, settings, {}, 1};
  std::vector<bool> with_the_first;
  for (std::size_t thread = 0; thread < 8; ++thread) {
    scheduler.add(all(machine));
    with_the_first.push_back(machine.node_of(scheduler.core_of(ThreadId{thread})) == machine.node_of(scheduler.core_of(a)));
  }
  EXPECT_THAT(with_the_first, ElementsAre(true, true, true, false, true, false, false, false));
}

TEST(Creation, followsTheSeed) {
  const Machine machine = two_sockets(8);
  const auto cores = [&](std::uint64_t seed) {
    Scheduler scheduler{machine, quiet(), {}, seed};
    std::vector<CoreId> found;
    for (std::size_t thread = 0; thread < 8; ++thread) {
      scheduler.add(all(machine));
      found.push_back(scheduler.core_of(ThreadId{thread}));
    }
    return found;
  };
  EXPECT_EQ(cores(1), cores(1));
  EXPECT_NE(cores(1), cores(2));
}

class Unpinned : public ::testing::Test {
protected:
  Scheduler scheduler_of(std::size_t threads, Time spin = Time{}) {
    Scheduler scheduler{machine, quiet(), {spin, 1}, 5};
    for (std::size_t thread = 0; thread < threads; ++thread) scheduler.add(all(machine));
    return scheduler;
  }
  Machine machine = two_sockets();
};

TEST_F(Unpinned, aThreadWakesWhereItWasIfThatCoreIsIdle) {
  Scheduler scheduler = scheduler_of(4);
  for (std::size_t t = 0; t < 4; ++t) {
    ASSERT_TRUE(scheduler.resume(ThreadId{t}, nobody, Time{}));
    const CoreId core = scheduler.core_of(ThreadId{t});
    scheduler.start_waiting(ThreadId{t}, Scheduler::Wait::sleeps, millisecond);
    EXPECT_TRUE(scheduler.resume(ThreadId{t}, a, millisecond * 2));
    EXPECT_EQ(scheduler.core_of(ThreadId{t}), core);
  }
  EXPECT_EQ(scheduler.moves(), 0u);
}

TEST_F(Unpinned, anIdleCoreTakesAThreadThatQueuesAndIsNoLongerHot) {
  // Five threads on four cores: one queues. When another core falls idle, the queued one goes there at once, as it ran long ago.
  Scheduler scheduler = scheduler_of(5);
  std::vector<ThreadId> running, queued;
  for (std::size_t t = 0; t < 5; ++t) {
    const ThreadId thread{t};
    (scheduler.resume(thread, nobody, Time{}) ? running : queued).push_back(thread);
    if (scheduler.has_core(thread)) scheduler.start_computing(thread);
  }
  ASSERT_EQ(queued.size(), 1u);
  const CoreId busy = scheduler.core_of(queued.front());
  ThreadId other = running.front();
  for (const ThreadId thread : running)
    if (scheduler.core_of(thread) != busy) other = thread;
  const CoreId idle = scheduler.core_of(other);
  scheduler.start_waiting(other, Scheduler::Wait::sleeps, millisecond);
  EXPECT_THAT(scheduler.take_granted(), ElementsAre(queued.front()));
  EXPECT_EQ(scheduler.core_of(queued.front()), idle);
}

TEST_F(Unpinned, threadsThatAllComputeShareTheCoresFairly) {
  // 6 threads on 4 cores for 12 s in slices of 1 ms: 4 x 12 s of core time in all, 8 s a thread, within a fifth.
  Scheduler scheduler = scheduler_of(6);
  std::vector<Time> ran(6);
  for (std::size_t t = 0; t < 6; ++t)
    if (scheduler.resume(ThreadId{t}, nobody, Time{})) scheduler.start_computing(ThreadId{t});
  for (Time now = millisecond; now <= millisecond * 12000; now += millisecond) {
    std::set<CoreId> used;
    for (std::size_t t = 0; t < 6; ++t) {
      if (!scheduler.has_core(ThreadId{t})) continue;
      EXPECT_TRUE(used.insert(scheduler.core_of(ThreadId{t})).second);
      ran[t] += millisecond;
    }
    EXPECT_EQ(used.size(), 4u);
    for (std::size_t t = 0; t < 6; ++t)
      if (scheduler.has_core(ThreadId{t})) scheduler.slice_ended(ThreadId{t}, now);
    if (scheduler.next_event()) scheduler.advance(now);
    scheduler.take_granted();
    for (std::size_t t = 0; t < 6; ++t)
      if (scheduler.has_core(ThreadId{t})) scheduler.start_computing(ThreadId{t});
  }
  Time sum;
  for (const Time time : ran) {
    sum += time;
    EXPECT_NEAR(time.seconds(), 8, 1.6);
  }
  EXPECT_EQ(sum, millisecond * 48000);
  EXPECT_GT(scheduler.moves(), 0u);
}

TEST_F(Unpinned, threadsMoveToAnIdleCoreOfANodeAtTheirNextBoundary) {
  Scheduler scheduler = scheduler_of(2);  // one on each node, one idle core on each
  ASSERT_TRUE(scheduler.resume(a, nobody, Time{}));
  scheduler.start_computing(a);
  const NodeId other = machine.node_of(scheduler.core_of(b));
  ASSERT_TRUE(scheduler.resume(b, nobody, Time{}));
  scheduler.start_computing(b);
  ASSERT_NE(machine.node_of(scheduler.core_of(a)), other);
  EXPECT_TRUE(scheduler.move(a, other, millisecond));
  EXPECT_NE(machine.node_of(scheduler.core_of(a)), other);
  EXPECT_FALSE(scheduler.move(b, other, millisecond));  // the idle core is spoken for
  EXPECT_TRUE(scheduler.slice_ended(a, millisecond));
  EXPECT_EQ(machine.node_of(scheduler.core_of(a)), other);
  EXPECT_NE(scheduler.core_of(a), scheduler.core_of(b));
  EXPECT_EQ(scheduler.take_delay(a), quiet().migration);
  EXPECT_THAT(scheduler.threads_on(other), ElementsAre(a, b));
}

TEST_F(Unpinned, threadsExchangeTheirCores) {
  Scheduler scheduler = scheduler_of(4);
  for (std::size_t t = 0; t < 4; ++t) {
    ASSERT_TRUE(scheduler.resume(ThreadId{t}, nobody, Time{}));
    scheduler.start_computing(ThreadId{t});
  }
  const CoreId of_a = scheduler.core_of(a), of_b = scheduler.core_of(b);
  EXPECT_FALSE(scheduler.move(a, machine.node_of(of_b), millisecond));
  EXPECT_TRUE(scheduler.exchange(a, b, millisecond));
  EXPECT_FALSE(scheduler.slice_ended(a, millisecond));  // b still computes there
  EXPECT_TRUE(scheduler.slice_ended(b, millisecond * 2));
  EXPECT_THAT(scheduler.take_granted(), ElementsAre(a));
  EXPECT_EQ(scheduler.core_of(a), of_b);
  EXPECT_EQ(scheduler.core_of(b), of_a);
  EXPECT_FALSE(scheduler.anybody_queues());
}

TEST(Pinned, threadsNeitherMoveNorExchange) {
  const Machine machine = two_sockets();
  Scheduler scheduler{machine, SchedulerSettings{}, {}, 0};
  scheduler.add({CoreId{0}});
  scheduler.add({CoreId{2}});
  EXPECT_FALSE(scheduler.move(a, NodeId{1}, Time{}));
  EXPECT_FALSE(scheduler.exchange(a, b, Time{}));
  EXPECT_FALSE(scheduler.next_event());  // nor do daemons come
}

TEST(Daemons, takeACoreAndItsThreadGoesOnAfterwards) {
  const Machine machine = two_sockets();
  SchedulerSettings settings;
  settings.disturbances = 100;
  settings.disturbance = millisecond * 2;
  Scheduler scheduler{machine, settings, {millisecond * 200, 1}, 3};
  for (int thread = 0; thread < 4; ++thread) scheduler.add(all(machine));
  std::vector<bool> has(4, false);
  for (std::size_t t = 0; t < 4; ++t) {
    ASSERT_TRUE(scheduler.resume(ThreadId{t}, nobody, Time{}));
    scheduler.start_waiting(ThreadId{t}, Scheduler::Wait::spins, Time{});
  }
  // 4 cores x 100 a second x 2 ms: a fifth of the cores' time over 180 ms, in which all threads spin.
  std::size_t without = 0, steps = 0;
  for (Time now = millisecond; now <= millisecond * 180; now += millisecond, ++steps) {
    scheduler.advance(now);
    scheduler.take_granted();
    for (std::size_t t = 0; t < 4; ++t) without += scheduler.has_core(ThreadId{t}) ? 0 : 1;
  }
  EXPECT_GT(without, steps / 3);
  EXPECT_LT(without, steps * 4 / 2);
}

}  // namespace
}  // namespace homenode::test
