// Which free frames are still in a cache.
#include "sim/memory/warm_frames.hpp"

#include <gtest/gtest.h>

#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t page = 4096;

// Two nodes of two cores; each pair shares a last level of 16 pages.
Machine two_nodes() {
  Machine described = machine("two", 2, 2, {{0, 1}});
  described.caches.back().cores_per_cache = 2;
  described.caches.back().size = Bytes{16 * page};
  return described;
}

TEST(WarmFrames, AreAsManyAsTheLastLevelHolds) {
  WarmFrames frames{two_nodes(), page};
  EXPECT_EQ(frames.take(NodeId{0}, 10), 0u);
  EXPECT_EQ(frames.take(NodeId{0}, 10), 4u);
  EXPECT_EQ(frames.take(NodeId{0}, 10), 10u);
  EXPECT_EQ(frames.take(NodeId{1}, 16), 0u);  // each node has its own
}

TEST(WarmFrames, ComeBackUpToThatMany) {
  WarmFrames frames{two_nodes(), page};
  frames.take(NodeId{0}, 100);
  frames.give_back(NodeId{0}, 3);
  EXPECT_EQ(frames.take(NodeId{0}, 5), 2u);
  frames.give_back(NodeId{0}, 100);
  EXPECT_EQ(frames.take(NodeId{0}, 20), 4u);
}

TEST(WarmFrames, LieInThePrivateCachesOfAllCoresWithoutASharedLevel) {
  Machine described = two_nodes();
  described.caches.back().cores_per_cache = 1;
  WarmFrames frames{described, page};
  EXPECT_EQ(frames.take(NodeId{0}, 40), 8u);
}

TEST(WarmFrames, AreNoneWithoutCaches) {
  Machine described = two_nodes();
  described.caches.clear();
  WarmFrames frames{described, page};
  EXPECT_EQ(frames.take(NodeId{0}, 3), 3u);
}

}  // namespace
}  // namespace homenode::test
