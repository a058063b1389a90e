// Automatic NUMA balancing as logic: which faults move a page, how scans are spaced. No simulation: faults are given by hand.
#include "models/placement/numa_balancing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "models/placement/register.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

class Pages final : public PageActions {
public:
  Pages(std::size_t pages, NodeId home) : homes(pages, home), unmapped(pages, false) {}
  std::uint64_t pages() const override { return homes.size(); }
  std::uint64_t page_bytes() const override { return 4096; }
  NodeId home(PageNumber page) const override { return homes[page.value()]; }
  void migrate(PageNumber page, NodeId to) override {
    homes[page.value()] = to;
    ++migrations;
  }
  bool unmap(PageNumber page) override {
    if (homes[page.value()].is_none() || unmapped[page.value()]) return false;
    return unmapped[page.value()] = true;
  }
  bool move_thread(ThreadId thread, NodeId to) override {
    if (!threads_move) return false;
    moved = {thread, to};
    return true;
  }
  bool exchange_threads(ThreadId a, ThreadId b) override {
    if (exchangeable) exchanged = {a, b};
    return exchangeable;
  }
  std::vector<ThreadId> threads_on(NodeId node) const override { return {ThreadId{1 - node.index()}}; }  // 1 on node 0, 0 on node 1
  std::vector<NodeId> homes;
  std::vector<bool> unmapped;
  bool exchangeable = false;
  std::pair<ThreadId, ThreadId> exchanged{ThreadId::none(), ThreadId::none()};
  std::size_t migrations = 0;
  bool threads_move = false;
  std::pair<ThreadId, NodeId> moved{ThreadId::none(), NodeId::none()};
};

constexpr Time second = Time::picoseconds(1'000'000'000'000);
constexpr Time millisecond = Time::picoseconds(1'000'000'000);

Place by(std::size_t thread, std::size_t node, Time now = Time{}) { return {ThreadId{thread}, CoreId{node}, NodeId{node}, now}; }

BalancingSettings settings(BalancingKernel kernel) {
  BalancingSettings result;
  result.kernel = kernel;
  if (kernel == BalancingKernel::linux_3_10) {
    result.scan_period_min = 100 * millisecond;
    result.scan_period_max = 5 * second;
  }
  return result;
}

struct Balanced {
  explicit Balanced(BalancingKernel kernel, std::size_t count = 1) : balancing{settings(kernel), 2}, pages{count, NodeId{0}} {}
  // One hinting fault; true if it moved the page.
  bool fault(const Place& place, std::uint64_t page = 0) {
    const std::size_t before = pages.migrations;
    const PageUse use{PageNumber{page}, pages.homes[page]};
    pages.unmapped[page] = false;
    balancing.fault(place, std::span{&use, 1}, pages);
    return pages.migrations > before;
  }
  // Every page faults by the thread, at its place.
  void fault_all(const Place& place) {
    for (std::uint64_t page = 0; page < pages.pages(); ++page) fault(place, page);
  }
  NumaBalancing balancing;
  Pages pages;
};

class EveryKernel : public ::testing::TestWithParam<BalancingKernel> {};
INSTANTIATE_TEST_SUITE_P(kernels, EveryKernel,
                         ::testing::Values(BalancingKernel::linux_3_10, BalancingKernel::linux_4_4, BalancingKernel::linux_6_1));

TEST_P(EveryKernel, movesAPageAtTheSecondFaultInARowFromOneNode) {
  // The page was last seen by thread 0 on node 0, its home. Thread 1 on node 1: the first fault is not enough, the second is.
  Balanced s{GetParam()};
  EXPECT_FALSE(s.fault(by(0, 0)));
  EXPECT_FALSE(s.fault(by(1, 1)));
  EXPECT_TRUE(s.fault(by(1, 1)));
  EXPECT_EQ(s.pages.homes[0], NodeId{1});
}

TEST_P(EveryKernel, leavesAPageWhereThreadsOfTwoNodesAlternate) {
  // Never two faults in a row from one node: 100 faults, no migration.
  Balanced s{GetParam()};
  std::size_t moved = 0;
  for (int i = 0; i < 50; ++i) moved += s.fault(by(0, 0)) + s.fault(by(1, 1));
  EXPECT_EQ(moved, 0u);
}

TEST(Balancing, aFirstFaultMovesAPageSinceFaultsKnowTheirThread) {
  // linux_4_4, linux_6_1: nobody has faulted on the page, so that no fault speaks against it. linux_3_10 asks for two in any case.
  EXPECT_FALSE(Balanced{BalancingKernel::linux_3_10}.fault(by(1, 1)));
  EXPECT_TRUE(Balanced{BalancingKernel::linux_4_4}.fault(by(1, 1)));
  EXPECT_TRUE(Balanced{BalancingKernel::linux_6_1}.fault(by(1, 1)));
}

TEST_P(EveryKernel, forgetsWhoTouchedAPageThatIsNew) {
  Balanced s{GetParam()}, fresh{GetParam()};
  s.fault(by(0, 0));
  s.balancing.forget(PageNumber{0});
  EXPECT_EQ(s.fault(by(1, 1)), fresh.fault(by(1, 1)));
}

TEST(Scan, unmapsAtMostItsSizeAndGoesOnWhereItStopped) {
  // 256 MiB of 4 KiB = 65536 pages of 100000; the next scan takes the 34464 that are left.
  Balanced s{BalancingKernel::linux_6_1, 100'000};
  const auto unmapped = [&] { return std::count(s.pages.unmapped.begin(), s.pages.unmapped.end(), true); };
  s.balancing.scan(by(0, 0, second), s.pages);
  EXPECT_EQ(unmapped(), 65'536);
  EXPECT_FALSE(s.pages.unmapped[65'536]);
  s.balancing.scan(by(1, 1, 3 * second), s.pages);
  EXPECT_EQ(unmapped(), 100'000);
}

TEST(Scan, looksAtEightTimesItsSizeOfPagesThatAreNotThere) {
  // 256 MiB of 4 KiB = 65536 pages, so 524288 are looked at: of two pages that are there the first is among them.
  Balanced s{BalancingKernel::linux_6_1, 700'000};
  std::fill(s.pages.homes.begin(), s.pages.homes.end(), NodeId::none());
  s.pages.homes[524'287] = s.pages.homes[524'288] = NodeId{0};
  s.balancing.scan(by(0, 0, second), s.pages);
  EXPECT_TRUE(s.pages.unmapped[524'287]);
  EXPECT_FALSE(s.pages.unmapped[524'288]);
  s.balancing.scan(by(1, 0, 100 * second), s.pages);
  EXPECT_TRUE(s.pages.unmapped[524'288]);
}

TEST(Migrations, ofLinux44AreAtMost128MiBInATenthOfASecond) {
  // The page with which 128 MiB are exceeded still goes: 32768 + 1 pages of 4 KiB. After 100 ms the count begins anew.
  Balanced s{BalancingKernel::linux_4_4, 80'000};
  std::size_t moved = 0;
  for (std::uint64_t page = 0; page < 40'000; ++page) moved += s.fault(by(1, 1, millisecond), page);
  EXPECT_EQ(moved, 32'769u);
  EXPECT_FALSE(s.fault(by(1, 1, 101 * millisecond), 40'000));
  EXPECT_TRUE(s.fault(by(1, 1, 102 * millisecond), 40'001));
}

TEST(Scan, waitsForItsDelayAndLeavesTheNextTurnToAnotherThread) {
  Balanced s{BalancingKernel::linux_6_1, 10};
  EXPECT_EQ(s.balancing.next_scan(), second);
  s.balancing.scan(by(0, 0, second - Time::picoseconds(1)), s.pages);
  EXPECT_FALSE(s.pages.unmapped[0]);
  s.balancing.scan(by(0, 0, second), s.pages);
  EXPECT_TRUE(s.pages.unmapped[0]);
  // One window of 256 MiB holds all pages: the period is scan_period_min, 1 s.
  EXPECT_EQ(s.balancing.next_scan(), 2 * second);
  s.pages.unmapped.assign(10, false);
  s.balancing.scan(by(0, 0, 2 * second), s.pages);
  EXPECT_FALSE(s.pages.unmapped[0]);
  s.balancing.scan(by(1, 1, 2 * second), s.pages);
  EXPECT_TRUE(s.pages.unmapped[0]);
}

TEST(Scan, periodGoesByWhatIsResidentFromTheFirstScanOn) {
  // 4.4: 5 windows of 256 MiB = 327680 pages: scan_period_min / 5 = 200 ms; 20 windows: 50 ms, but at most 2560 MiB a second, 100 ms.
  for (const auto& [windows, period] : {std::pair{5u, 200}, {20u, 100}}) {
    Balanced s{BalancingKernel::linux_4_4, windows * 65'536};
    s.balancing.scan(by(0, 0, second), s.pages);
    EXPECT_EQ(s.balancing.next_scan(), second + period * millisecond) << windows;
  }
}

TEST(Scan, ofLinux310IsPutOffByTenTicksForEachFaultThatMovesNothing) {
  // 100 ms and 10 ticks for a fault of thread 1: 110 ms at 1000 Hz, 140 ms at 250 Hz.
  for (const auto& [tick, period] : {std::pair{1, 110}, {4, 140}}) {
    BalancingSettings with_tick = settings(BalancingKernel::linux_3_10);
    with_tick.tick = tick * millisecond;
    NumaBalancing balancing{with_tick, 2};
    Pages pages{10, NodeId{0}};
    const PageUse use{PageNumber{0}, NodeId{0}};
    balancing.fault(by(1, 0), std::span{&use, 1}, pages);
    balancing.scan(by(0, 0, second), pages);
    balancing.scan(by(1, 1, second), pages);
    EXPECT_EQ(balancing.next_scan(), second + period * millisecond) << tick;
  }
}

TEST(Scan, ofLinux310StartsWhenASecondNodeIsInUse) {
  Balanced s{BalancingKernel::linux_3_10, 10};
  s.balancing.scan(by(0, 0, second), s.pages);
  s.balancing.scan(by(1, 0, 2 * second), s.pages);
  EXPECT_FALSE(s.pages.unmapped[0]);
  s.balancing.scan(by(2, 1, 3 * second), s.pages);
  EXPECT_TRUE(s.pages.unmapped[0]);
  EXPECT_EQ(s.balancing.next_scan(), 3 * second + 100 * millisecond);
}

TEST(Period, growsWhenFaultsAreLocalAndPrivate) {
  // Statistics are taken at the first fault after a pass over all pages. Of the first pass there are none: the period doubles, to 2 s.
  // Then 100 faults of thread 0, all local and its own: 10 of 10 slots, 3 over the threshold of 7.
  //   period = 2 s + 3 x 2 s / 10 = 2.6 s
  Balanced s{BalancingKernel::linux_6_1, 100};
  s.balancing.scan(by(0, 0, second), s.pages);
  s.fault_all(by(0, 0, second));
  EXPECT_EQ(s.balancing.threads().period(ThreadId{0}), 2 * second);
  s.balancing.scan(by(1, 0, 10 * second), s.pages);
  s.fault(by(0, 0, 10 * second));
  EXPECT_EQ(s.balancing.threads().period(ThreadId{0}), 2600 * millisecond);
}

TEST(Period, growsToItsLimitWhenAllPagesArePrivateAndAway) {
  // The thread changes its node after each pass, so that all its faults are remote and its own: nothing local, nothing shared. The
  // period doubles each pass, from 1 s to 60 s.
  Balanced s{BalancingKernel::linux_6_1, 100};
  Time now = second;
  std::vector<double> periods;
  for (int pass = 0; pass < 8; ++pass) {
    s.pages.unmapped.assign(100, false);
    s.balancing.scan(by(static_cast<std::size_t>(pass % 2), 0, now), s.pages);
    s.fault_all(by(5, static_cast<std::size_t>(1 - pass % 2), now));
    periods.push_back(s.balancing.threads().period(ThreadId{5}).seconds());
    now += 100 * second;
  }
  EXPECT_THAT(periods, ::testing::ElementsAre(2, 4, 8, 16, 32, 60, 60, 60));
}

TEST(Period, shrinksWhenFaultsAreSharedAndRemote) {
  // Threads 0 (node 0) and 1 (node 1) take turns on each page, which stays on node 0: all faults of thread 1 are shared and remote while
  // its group is not known to use several nodes. No statistics at first: its period doubles, from 100 to 200 ms. Then 0 of 10 slots, 7
  // below the threshold: 200 - 7 x 20 = 60 ms, but not less than 100 ms, at which scans of 256 MiB see 2560 MiB a second.
  BalancingSettings quick = settings(BalancingKernel::linux_6_1);
  quick.scan_period_min = 100 * millisecond;
  NumaBalancing balancing{quick, 2};
  Pages pages{100, NodeId{0}};
  const auto round = [&](Time now, std::size_t scanner) {
    pages.unmapped.assign(100, false);
    balancing.scan(by(scanner, 0, now), pages);
    for (std::uint64_t page = 0; page < 100; ++page) {
      const PageUse use{PageNumber{page}, pages.homes[page]};
      balancing.fault(by(0, 0, now), std::span{&use, 1}, pages);
      balancing.fault(by(1, 1, now), std::span{&use, 1}, pages);
    }
  };
  round(second, 1);
  EXPECT_EQ(balancing.threads().period(ThreadId{1}), 200 * millisecond);
  round(2 * second, 0);
  EXPECT_EQ(balancing.threads().period(ThreadId{1}), 100 * millisecond);
  EXPECT_EQ(pages.migrations, 0u);
  EXPECT_TRUE(balancing.threads().grouped(ThreadId{0}, ThreadId{1}));
}

TEST(Period, ofLinux44ShrinksLessTheMoreFaultsAreShared) {
  // Thread 0 on node 1 has 50 private and 50 shared faults on node 0. Without statistics its period doubles, to 2 s. Then 0 of 10 slots are
  // local: less by 7 slots of 0.2 s, of which (50 x 10 + 50 + 50) / (50 + 50 + 1) = 5 tenths: 2 - 0.7 s.
  BalancedThreads threads{settings(BalancingKernel::linux_4_4), 2};
  Pages pages{1, NodeId{0}};
  const LastTouch own{ThreadId{0}, NodeId{1}}, others{ThreadId{1}, NodeId{0}};
  for (int fault = 0; fault < 100; ++fault)
    threads.fault({by(0, 1, 100 * second), NodeId{0}, false, false, fault % 2 == 0 ? own : others}, 1, pages);
  EXPECT_EQ(threads.period(ThreadId{0}), 2 * second);
  threads.fault({by(0, 1, 200 * second), NodeId{0}, false, false, own}, 2, pages);
  EXPECT_EQ(threads.period(ThreadId{0}), 1300 * millisecond);
}

// In each pass each page faults once, by one of four threads, two on each of two nodes, drawn evenly. Returns migrations a page and
// pass in the second half of them.
double migrations_of_shared_pages(BalancingKernel kernel, std::size_t passes, Pages& pages) {
  NumaBalancing balancing{settings(kernel), 2};
  std::mt19937 random{1};
  std::size_t before = 0;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    const Time now = static_cast<std::int64_t>(pass + 1) * 100 * second;
    if (pass == passes / 2) before = pages.migrations;
    pages.unmapped.assign(pages.pages(), false);
    // Both nodes show themselves to linux_3_10, and one of two threads may scan.
    for (const std::size_t thread : {std::size_t{0}, std::size_t{2}}) balancing.scan(by(thread, thread / 2, now), pages);
    for (std::uint64_t page = 0; page < pages.pages(); ++page) {
      const std::size_t thread = random() % 4;
      const PageUse use{PageNumber{page}, pages.homes[page]};
      balancing.fault(by(thread, thread / 2, now), std::span{&use, 1}, pages);
    }
  }
  const auto counted = pages.pages() * (passes - passes / 2);
  return static_cast<double>(pages.migrations - before) / static_cast<double>(counted);
}

TEST(PseudoInterleaving, keepsPagesThatAGroupSharesWhereTheyAre) {
  // Without groups (linux_3_10) a page moves when two faults in a row come from the node where it is not. Let b be the share of pages
  // whose last fault came from there: b = (1 - b) / 2, so b = 1/3, and half of them move: 1/6 a pass.
  // With groups memory lies on both nodes and only two faults in a row of one thread move a page, a quarter of those by four threads:
  // b = (1 - b) / 2 + b / 4, so b = 2/5, and a quarter of them move: 1/10 a pass.
  constexpr std::size_t count = 1000;
  Pages following{count, NodeId{0}};
  EXPECT_NEAR(migrations_of_shared_pages(BalancingKernel::linux_3_10, 40, following), 1.0 / 6, 0.01);
  for (const BalancingKernel kernel : {BalancingKernel::linux_4_4, BalancingKernel::linux_6_1}) {
    Pages pages{count, NodeId{0}};
    EXPECT_NEAR(migrations_of_shared_pages(kernel, 40, pages), 1.0 / 10, 0.01);
    const auto there = std::count(pages.homes.begin(), pages.homes.end(), NodeId{1});
    EXPECT_GT(there, static_cast<std::ptrdiff_t>(count / 4));
    EXPECT_LT(there, static_cast<std::ptrdiff_t>(count * 3 / 4));
  }
}

TEST(PreferredNode, isThatOfMostFaultsAndDrawsAThreadThatMayMove) {
  // Thread 0 runs on node 1 and faults on 30 pages that stay on node 0, shared as they are with thread 1 there, in each of two passes.
  for (const bool movable : {false, true}) {
    Balanced s{BalancingKernel::linux_6_1, 30};
    s.pages.threads_move = movable;
    for (const std::size_t pass : {1u, 2u, 3u}) {
      const Time now = static_cast<std::int64_t>(pass) * 100 * second;
      s.pages.unmapped.assign(30, false);
      s.balancing.scan(by(pass % 2, 0, now), s.pages);
      s.fault_all(by(1, 0, now));
      s.fault_all(by(0, 1, now));
    }
    EXPECT_EQ(s.pages.migrations, 0u);
    if (movable) {
      EXPECT_EQ(s.pages.moved, std::pair(ThreadId{0}, NodeId{0}));
      EXPECT_EQ(s.balancing.threads().preferred(ThreadId{0}), NodeId{0});
    } else {
      // A pinned member of a group settles with the node where it is (task_numa_migrate).
      EXPECT_EQ(s.balancing.threads().preferred(ThreadId{0}), NodeId{1});
    }
  }
}

TEST(PreferredNode, isReachedByAnExchangeWhereNoCoreIsIdleAndBothGain) {
  // Each of two threads faults only on pages of the other one's node, which do not move there: with every core taken, each goes to the
  // other's core. Gain of each: all of its faults, 1000 thousandths; of the exchange 2000, less a sixteenth within a group.
  for (const bool both_gain : {true, false}) {
    BalancedThreads threads{settings(BalancingKernel::linux_4_4), 2};
    Pages pages{1, NodeId{0}};
    pages.exchangeable = true;
    std::uint64_t scan = 0;
    for (std::size_t pass = 1; pass <= 3; ++pass) {
      ++scan;
      const Time now = static_cast<std::int64_t>(pass) * 100 * second;
      // Thread 1 on node 0: on its own node's pages, or on those of node 1. Thread 0 on node 1: on those of node 0.
      const NodeId of_1{both_gain ? 1u : 0u};
      for (int fault = 0; fault < 20; ++fault) {
        threads.fault({by(1, 0, now), of_1, !both_gain, false, {ThreadId{1}, NodeId{0}}}, scan, pages);
        threads.fault({by(0, 1, now), NodeId{0}, false, false, {ThreadId{0}, NodeId{1}}}, scan, pages);
      }
    }
    EXPECT_EQ(!pages.exchanged.first.is_none(), both_gain);
    EXPECT_EQ(threads.preferred(ThreadId{0}), NodeId{0});
  }
}

TEST(PreferredNode, isNotWorthAnExchangeForLessThan30Thousandths) {
  // Of 1000 faults each thread has so many on the other one's node. Gains: 506 - 494 twice is 24, 510 - 490 twice is 40 thousandths.
  for (const int away : {506, 510}) {
    BalancedThreads threads{settings(BalancingKernel::linux_6_1), 2};
    Pages pages{1, NodeId{0}};
    pages.exchangeable = true;
    for (std::uint64_t pass = 1; pass <= 3; ++pass) {
      const Time now = static_cast<std::int64_t>(pass) * 100 * second;
      for (int fault = 0; fault < 1000; ++fault) {
        const std::size_t there = fault < away ? 1 : 0;
        threads.fault({by(1, 0, now), NodeId{there}, there == 0, false, {ThreadId{1}, NodeId{0}}}, pass, pages);
        threads.fault({by(0, 1, now), NodeId{1 - there}, there == 0, false, {ThreadId{0}, NodeId{1}}}, pass, pages);
      }
    }
    EXPECT_EQ(!pages.exchanged.first.is_none(), away == 510) << away;
  }
}

TEST(PreferredNode, isReachedByAnExchangeWithinAGroup) {
  // Thread 0 on node 1 faults on node 0 twice as often as thread 1 on node 0 does on node 1, so that node 0 is the group's. Both gain all
  // of their faults, 1000 + 1000, of which a sixteenth is taken off: 1875, more than the third that thread 0 gains for the group without
  // it.
  BalancedThreads threads{settings(BalancingKernel::linux_4_4), 2};
  Pages pages{1, NodeId{0}};
  pages.exchangeable = true;
  const LastTouch of_0{ThreadId{0}, NodeId{1}}, of_1{ThreadId{1}, NodeId{0}};
  for (std::uint64_t pass = 1; pass <= 3; ++pass) {
    const Time now = static_cast<std::int64_t>(pass) * 100 * second;
    threads.fault({by(0, 1, now), NodeId{0}, false, false, of_1}, pass, pages);  // shared: they find each other
    threads.fault({by(1, 0, now), NodeId{1}, false, false, of_0}, pass, pages);
    for (int fault = 0; fault < 40; ++fault) threads.fault({by(0, 1, now), NodeId{0}, false, false, of_0}, pass, pages);
    for (int fault = 0; fault < 20; ++fault) threads.fault({by(1, 0, now), NodeId{1}, false, false, of_1}, pass, pages);
  }
  ASSERT_TRUE(threads.grouped(ThreadId{0}, ThreadId{1}));
  EXPECT_EQ(pages.exchanged, std::pair(ThreadId{0}, ThreadId{1}));
}

TEST(Autonuma, isThatOfTheSystemsKernel) {
  OperatingSystem system;
  const auto on = [&](const char* placement) { page_placements().make(placement)->run_on(system); };
  EXPECT_NO_THROW(on("first-touch+autonuma:kernel=601"));  // the system names no kernel
  system.balancing.kernel = 310;
  EXPECT_NO_THROW(on("first-touch"));
  EXPECT_NO_THROW(on("first-touch+autonuma"));
  EXPECT_NO_THROW(on("first-touch+autonuma:kernel=310"));
  EXPECT_THAT([&] { on("first-touch+autonuma:kernel=601"); },
              ThrowsMessage<UsageError>(HasSubstr("kernel=601 on system 'default', which is kernel=310; allowed: that one")));
  system.balancing.available = 0;
  EXPECT_NO_THROW(on("first-touch"));
  EXPECT_THAT([&] { on("first-touch+autonuma"); }, ThrowsMessage<UsageError>(HasSubstr("needs automatic NUMA balancing")));
}

TEST(Autonuma, isAModifierWithTimesAndSizes) {
  const auto error = [](const char* text) -> std::string {
    try {
      page_placements().make(text);
    } catch (const UsageError& e) { return e.what(); }
    return "nothing was thrown";
  };
  EXPECT_NO_THROW(page_placements().make("interleave+autonuma:scan_delay=1ms,scan_size=1MiB"));
  EXPECT_THAT(error("autonuma"), HasSubstr("allowed: a placement before it, as in 'first-touch+autonuma'"));
  EXPECT_THAT(error("first-touch+autonuma:scan_period_max=1ms"), HasSubstr("scan_period_max = '1 ms'; allowed: at least scan_period_min"));
  EXPECT_NO_THROW(page_placements().make("first-touch+autonuma:kernel=310"));
  EXPECT_THAT(error("first-touch+autonuma:kernel=206"),
              HasSubstr("Linux 2.6 (kernel=206) has no automatic NUMA balancing; allowed: since 3.8, kernel=308"));
  EXPECT_THAT(error("first-touch+autonuma+autonuma"), HasSubstr("a modifier that migrates pages on a placement that migrates pages"));
}

}  // namespace
}  // namespace homenode::test
