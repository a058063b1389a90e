// What walks take: sums by hand.
#include "models/engines/parts/page_walks.hpp"

#include <gtest/gtest.h>

namespace homenode {
namespace {

constexpr TlbDescription without{.entries = 64, .miss_penalty = Time::nanoseconds(20)};
constexpr TlbDescription with{.entries = 64, .miss_penalty = Time::nanoseconds(20), .stream_walk = Time::nanoseconds(100)};

Machine machine_of(double at_once) {
  Machine machine;
  machine.miss_buffers = 10;
  machine.tlb.walks = at_once;
  return machine;
}

// Two groups: streams of 3 and 2 pages at 16 outstanding lines, and 4 pages of single lines at 10; then a stream of 1 page.
PageWalks two_groups(double at_once = 0) {
  PageWalks sum;
  {
    GroupWalks walks{sum, machine_of(at_once)};
    walks.add(3, 16, true);
    walks.add(2, 16, true);
    walks.add(4, 10, false);
    walks.next_group();
    walks.add(1, 16, true);
  }
  return sum;
}

TEST(PageWalks, OverlapAsTheMissesDoWhereNothingIsKnownOfStreams) {
  const PageWalks sum = two_groups();
  EXPECT_EQ(sum.pages, 10u);
  // (3 + 2 + 1) / 16 + 4 / 10 walks of 20 ns
  EXPECT_NEAR(sum.seconds(without, 1), (6.0 / 16 + 0.4) * 20e-9, 1e-18);
}

TEST(PageWalks, OfStreamsSideBySideTakeAsLongAsTheLongestStreams) {
  // 3 + 1 pages one after the other, and the single lines as before
  EXPECT_NEAR(two_groups().seconds(with, 1), 4 * 100e-9 + 0.4 * 20e-9, 1e-18);
}

TEST(PageWalks, OfStreamsFromTheOutermostCacheAreAsAllOthers) {
  EXPECT_EQ(two_groups().seconds(with, 0), two_groups().seconds(without, 1));
  EXPECT_NEAR(two_groups().seconds(with, 0.5), (two_groups().seconds(with, 0) + two_groups().seconds(with, 1)) / 2, 1e-18);
}

TEST(PageWalks, OfAccessesThatAreNotFollowedOverlapNoMoreThanTheCoreWalksAtATime) {
  // 4 pages two at a time; streams that a prefetcher follows as before.
  EXPECT_NEAR(two_groups(2).seconds(without, 1), (6.0 / 16 + 4.0 / 2) * 20e-9, 1e-18);
  EXPECT_NEAR(two_groups(2).seconds(with, 1), 4 * 100e-9 + 2 * 20e-9, 1e-18);
  EXPECT_EQ(two_groups(10).seconds(without, 1), two_groups().seconds(without, 1));
  EXPECT_EQ(two_groups(64).seconds(without, 1), two_groups().seconds(without, 1));
}

TEST(PageWalks, OfStoresThatAPrefetcherFollowsOverlapAsItsLinesDo) {
  PageWalks sum;
  GroupWalks{sum, machine_of(2)}.add(8, 16, false);
  EXPECT_NEAR(sum.seconds(without, 1), 8.0 / 16 * 20e-9, 1e-18);
}

TEST(PageWalks, OfPagesThatTheSecondLevelHasWaitForTheFirst) {
  Machine machine = machine_of(2);
  machine.tlb.first_misses = 4;
  PageWalks sum;
  {
    GroupWalks walks{sum, machine};
    walks.add(1, 1, false);
    walks.add_first(1, 255);  // the core waits for it
    walks.add_first(1, 51);   // a fifth of such loads waits
    walks.add_first(2, 0);    // two outstanding
    walks.add_first(10, 0);   // the core does four at a time
    walks.add_first(16, 0);   // a prefetcher's stream of 16 lines
  }
  EXPECT_EQ(sum.pages, 1u);
  const TlbDescription tlb{.entries = 64, .miss_penalty = Time::nanoseconds(20), .first_miss_penalty = Time::nanoseconds(2)};
  // one walk alone and 1 + 1/5 loads that wait; of the others 4/5 + 1/2 + 1/4 + 1/16
  EXPECT_NEAR(sum.seconds(tlb, 1), 20e-9 + 1.2 * 2e-9, 1e-18);
  EXPECT_NEAR(sum.least_core_seconds(tlb), (0.8 + 0.5 + 0.25 + 0.0625) * 2e-9, 1e-18);
}

TEST(PageWalks, AddUp) {
  PageWalks twice = two_groups();
  twice += two_groups();
  EXPECT_EQ(twice.pages, 20u);
  EXPECT_NEAR(twice.seconds(with, 1), 2 * two_groups().seconds(with, 1), 1e-18);
}

TEST(PageWalks, OfTranslatedPagesTakeNoTime) {
  PageWalks sum;
  GroupWalks{sum, machine_of(0)}.add(0, 16, true);
  EXPECT_EQ(sum.seconds(with, 1), 0);
}

}  // namespace
}  // namespace homenode
