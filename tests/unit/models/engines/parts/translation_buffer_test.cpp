#include "models/engines/parts/translation_buffer.hpp"

#include <gtest/gtest.h>

namespace homenode::test {
namespace {

int missed(TranslationBuffer& buffer, std::uint64_t first, std::uint64_t last) {
  int misses = 0;
  for (std::uint64_t page = first; page < last; ++page) misses += !buffer.find(page);
  return misses;
}

TEST(TranslationBuffer, walksOnceForEachPageThatFits) {
  TranslationBuffer buffer{512};
  EXPECT_EQ(missed(buffer, 1000, 1512), 512);
  for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(missed(buffer, 1000, 1512), 0);
}

TEST(TranslationBuffer, streamsOfMoreThanItHoldsAlwaysMiss) {
  // Round robin over 5 pages for each of the sets with 4 ways: the one that comes next is the one that left last.
  TranslationBuffer buffer{512};
  for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(missed(buffer, 0, 5 * 128), 5 * 128);
}

TEST(TranslationBuffer, evictsTheLeastRecentlyUsedOfASet) {
  // One set of four ways: 0 1 2 3, then 0 again; 4 takes the place of 1.
  TranslationBuffer buffer{4};
  EXPECT_EQ(missed(buffer, 0, 4), 4);
  EXPECT_TRUE(buffer.find(0));
  EXPECT_FALSE(buffer.find(4));
  EXPECT_TRUE(buffer.find(0));
  EXPECT_TRUE(buffer.find(2));
  EXPECT_FALSE(buffer.find(1));
}

TEST(TranslationBuffer, movedItIsTheOneThatFoundMovedPages) {
  // 16 sets of 4 ways: pages that move by 5 lie 5 sets further on, in the same order.
  TranslationBuffer buffer{64}, other{64};
  for (const std::uint64_t page : {7u, 23u, 39u, 7u, 100u, 3u, 15u, 16u, 31u}) {
    buffer.find(page);
    other.find(page + 5);
  }
  EXPECT_FALSE(buffer == other);
  buffer.move(5, [](std::uint64_t page) { return page + 5; });
  EXPECT_TRUE(buffer == other);
}

TEST(TranslationBuffer, neverHoldsMoreThanItsEntries) {
  // Twice as many pages as entries, in order: the second pass finds none, whatever the number of sets and ways.
  for (const std::uint64_t entries : {1u, 3u, 6u, 24u, 64u, 1536u}) {
    TranslationBuffer buffer{entries};
    missed(buffer, 0, 2 * entries);
    EXPECT_EQ(missed(buffer, 0, 2 * entries), static_cast<int>(2 * entries)) << entries;
  }
}

}  // namespace
}  // namespace homenode::test
