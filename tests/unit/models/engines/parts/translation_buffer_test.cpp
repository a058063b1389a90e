#include "models/engines/parts/translation_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>

namespace homenode::test {
namespace {

TranslationBuffer of(std::uint64_t entries, unsigned ways = 0, TlbIndex index = TlbIndex::low) {
  return {entries, TlbDescription{.miss_penalty = Time{}, .ways = ways, .index = index}};
}

int missed(TranslationBuffer& buffer, std::uint64_t first, std::uint64_t last) {
  int misses = 0;
  for (std::uint64_t page = first; page < last; ++page) misses += !buffer.find(page);
  return misses;
}

TEST(TranslationBuffer, walksOnceForEachPageThatFits) {
  TranslationBuffer buffer = of(512);
  EXPECT_EQ(missed(buffer, 1000, 1512), 512);
  for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(missed(buffer, 1000, 1512), 0);
}

TEST(TranslationBuffer, streamsOfMoreThanItHoldsAlwaysMiss) {
  // Round robin over 5 pages for each of the sets with 4 ways: the one that comes next is the one that left last.
  TranslationBuffer buffer = of(512);
  for (int pass = 0; pass < 3; ++pass) EXPECT_EQ(missed(buffer, 0, 5 * 128), 5 * 128);
}

TEST(TranslationBuffer, evictsTheLeastRecentlyUsedOfASet) {
  // One set of four ways: 0 1 2 3, then 0 again; 4 takes the place of 1.
  TranslationBuffer buffer = of(4);
  EXPECT_EQ(missed(buffer, 0, 4), 4);
  EXPECT_TRUE(buffer.find(0));
  EXPECT_FALSE(buffer.find(4));
  EXPECT_TRUE(buffer.find(0));
  EXPECT_TRUE(buffer.find(2));
  EXPECT_FALSE(buffer.find(1));
}

TEST(TranslationBuffer, movedItIsTheOneThatFoundMovedPages) {
  // 16 sets of 4 ways: pages that move by 5 lie 5 sets further on, in the same order.
  TranslationBuffer buffer = of(64), other = of(64);
  for (const std::uint64_t page : {7u, 23u, 39u, 7u, 100u, 3u, 15u, 16u, 31u}) {
    buffer.find(page);
    other.find(page + 5);
  }
  EXPECT_FALSE(buffer == other);
  buffer.move(5, [](std::uint64_t page) { return page + 5; });
  EXPECT_TRUE(buffer == other);
}

TEST(TranslationBuffer, isAsWideAsItIsDescribed) {
  // 128 sets of 16 ways: 16 pages of one set are held, of 17 none.
  TranslationBuffer buffer = of(2048, 16);
  EXPECT_EQ(buffer.sets(), 128u);
  const auto round = [&](std::uint64_t pages) {
    int misses = 0;
    for (std::uint64_t page = 0; page < pages; ++page) misses += !buffer.find(128 * page);
    return misses;
  };
  EXPECT_EQ(round(16), 16);
  EXPECT_EQ(round(16), 0);
  EXPECT_EQ(round(17), 1);  // 0 to 15 are there, 16 takes the place of 0
  EXPECT_EQ(round(17), 17);
  EXPECT_EQ(round(17), 17);
}

TEST(TranslationBuffer, foldsPagesOfOneLowFieldOverAllSets) {
  // 2048 pages, 128 apart, fill 128 sets of 16 ways where both fields count; by the low bits alone they lie in one.
  for (const TlbIndex index : {TlbIndex::low, TlbIndex::folded}) {
    TranslationBuffer buffer = of(2048, 16, index);
    int misses = 0;
    for (int pass = 0; pass < 3; ++pass)
      for (std::uint64_t page = 0; page < 2048; ++page) misses += !buffer.find(128 * page);
    EXPECT_EQ(misses, index == TlbIndex::folded ? 2048 : 3 * 2048);
  }
  TranslationBuffer buffer = of(2048, 16, TlbIndex::folded);
  EXPECT_EQ(missed(buffer, 0, 2048), 2048);  // side by side: 16 in each set, too
  EXPECT_EQ(missed(buffer, 0, 2048), 0);
}

TEST(TranslationBuffer, pagesOfAFoldedIndexStayTogetherByWholeTurns) {
  // 16 sets: by 16 pages all move by one set, by 5 they do not move alike.
  const TranslationBuffer start = of(64, 4, TlbIndex::folded);
  EXPECT_EQ(start.unit(), 16u);
  EXPECT_EQ(start.sets_moved(5), std::nullopt);
  EXPECT_EQ(start.sets_moved(48), 3u);
  EXPECT_EQ(start.sets_moved(-16), 15u);
  EXPECT_EQ(of(64).sets_moved(5), 5u);
  TranslationBuffer buffer = start, other = start;
  for (const std::uint64_t page : {7u, 23u, 39u, 7u, 100u, 3u, 15u, 16u, 31u, 700u}) {
    buffer.find(page);
    other.find(page + 48);
  }
  buffer.move(3, [](std::uint64_t page) { return page + 48; });
  EXPECT_TRUE(buffer == other);
}

TEST(TranslationBuffer, neverHoldsMoreThanItsEntries) {
  // Twice as many pages as entries, in order: the second pass finds none, whatever the number of sets and ways.
  for (const std::uint64_t entries : {1u, 3u, 6u, 24u, 64u, 1536u}) {
    TranslationBuffer buffer = of(entries);
    missed(buffer, 0, 2 * entries);
    EXPECT_EQ(missed(buffer, 0, 2 * entries), static_cast<int>(2 * entries)) << entries;
  }
}

TEST(TranslationBuffer, agreesWithListsOfPages) {
  // Eight sets, each a list with the page used last in front; four ways take other code than more or fewer.
  for (const unsigned ways : {1u, 2u, 4u, 8u}) {
    TranslationBuffer buffer = of(8 * ways, ways);
    std::vector<std::list<std::uint64_t>> sets(8);
    std::mt19937_64 random{ways};
    for (int use = 0; use < 20000; ++use) {
      const std::uint64_t page = random() % 4 == 0 ? random() % 8 : random() % (12 * ways);
      std::list<std::uint64_t>& set = sets[page % 8];
      const auto found = std::find(set.begin(), set.end(), page);
      const bool held = found != set.end();
      if (held) set.erase(found);
      set.push_front(page);
      if (set.size() > ways) set.pop_back();
      ASSERT_EQ(buffer.find(page), held) << ways << " ways, use " << use;
    }
  }
}

}  // namespace
}  // namespace homenode::test
