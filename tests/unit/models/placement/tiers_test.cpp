// Fast and slow memory: which node is which, how few pages are left free, which pages are demoted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/placement/cold_pages.hpp"
#include "models/placement/memory_tiers.hpp"
#include "tests/unit/models/placement/tiered_pages.hpp"

namespace homenode::test {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

TEST(MemoryTiers, goByLatencyAndBandwidth) {
  Machine machine = two_tiers(64 * mebibyte, 64 * mebibyte);
  machine.nodes.push_back({SocketId{0}, Bytes{64 * mebibyte}, Time::nanoseconds(120), {}});
  machine.controllers.push_back({NodeId{2}, Bandwidth::bytes_per_second(96e9), Bandwidth::bytes_per_second(96e9), {}});
  const MemoryTiers tiers{machine};
  // 576 x 200 / 100 x 24000 / 8000 = 3456 and 576 x 120 / 100 x 24000 / 96000 = 172, in steps of 128.
  EXPECT_THAT((std::vector{tiers.tier(NodeId{0}), tiers.tier(NodeId{1}), tiers.tier(NodeId{2})}), ElementsAre(4, 27, 1));
  EXPECT_TRUE(tiers.is_top(NodeId{0}) && tiers.is_top(NodeId{2}));
  EXPECT_FALSE(tiers.is_top(NodeId{1}));
  EXPECT_TRUE(tiers.has_slow_nodes());
  EXPECT_EQ(tiers.below(NodeId{2}), NodeId{0});
  EXPECT_EQ(tiers.below(NodeId{0}), NodeId{1});
  EXPECT_TRUE(tiers.below(NodeId{1}).is_none());
  EXPECT_EQ(tiers.with_cores_near(NodeId{1}), NodeId{0});
  EXPECT_FALSE(MemoryTiers{two_sockets()}.has_slow_nodes());
}

TEST(MemoryTiers, boundANodesBandwidthByItsOwnLink) {
  Machine machine = two_tiers(64 * mebibyte, 64 * mebibyte);
  EXPECT_DOUBLE_EQ(bytes_per_second(machine, NodeId{1}), 8e9);
  machine.nodes[1].link_read = Bandwidth::bytes_per_second(4.5e9);
  EXPECT_DOUBLE_EQ(bytes_per_second(machine, NodeId{1}), 4e9);  // 64 of 72 B
}

TEST(MemoryTiers, keepFreePagesAsLinuxDoes) {
  // 256 MiB: 4 sqrt(262144) = 2048 KiB are the least, a quarter of them node 0's: 128 pages. Steps: 128 / 4 = 32 (> 16384 / 1000).
  const FreePages marks = watermarks(two_tiers(64 * mebibyte, 192 * mebibyte), NodeId{0}, page_size);
  EXPECT_THAT((std::vector{marks.min, marks.low, marks.high, marks.promotion}), ElementsAre(128, 160, 192, 224));
  // 1 TiB: 128 MiB, half of them node 0's: 16384 pages; steps of 2^27 / 1000.
  const FreePages large = watermarks(two_tiers(mebibyte << 19, mebibyte << 19), NodeId{0}, page_size);
  EXPECT_EQ(large.min, 16384u);
  EXPECT_EQ(large.low, 16384u + 134217u);
}

TEST(ColdPages, leaveInTheOrderOfTheClockUnlessTouched) {
  const Machine machine = two_tiers(8 * 4096, 8 * 4096);
  TieredPages pages{machine};
  pages.place(NodeId{0}, 4);  // 4 free
  ColdPages cold{2};
  EXPECT_EQ(cold.demote(NodeId{0}, NodeId{1}, 6, pages), 0u);  // all have been touched; their bits are cleared
  cold.touched(PageNumber{1});
  EXPECT_EQ(cold.demote(NodeId{0}, NodeId{1}, 6, pages), 2u);
  EXPECT_THAT(pages.homes, ElementsAre(NodeId{1}, NodeId{0}, NodeId{1}, NodeId{0}));
  EXPECT_EQ(cold.demote(NodeId{0}, NodeId{1}, 6, pages), 0u);  // there is room
  EXPECT_EQ(cold.demote(NodeId{0}, NodeId{1}, 7, pages), 1u);
  EXPECT_THAT(pages.homes, ElementsAre(NodeId{1}, NodeId{0}, NodeId{1}, NodeId{1}));  // the hand goes on behind page 2
}

TEST(ColdPages, stayWhereTheSlowerNodeIsFull) {
  const Machine machine = two_tiers(8 * 4096, 1 * 4096);
  TieredPages pages{machine};
  pages.place(NodeId{0}, 8);
  ColdPages cold{2};
  for (int pass = 0; pass < 4; ++pass) cold.demote(NodeId{0}, NodeId{1}, 4, pages);
  EXPECT_EQ(pages.on(NodeId{1}), 1u);
}

}  // namespace
}  // namespace homenode::test
