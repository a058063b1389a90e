// Addresses become objects by the rule of import_objects.hpp.
#include "traces/importers/objects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace homenode {
namespace {

constexpr std::uint64_t page = AddressRanges::page, gap = AddressRanges::largest_gap;

TEST(AddressRanges, GapsAboveAMebibyteSplitObjects) {
  // pages [0, 4096) and [4096 + gap, ...): exactly the largest gap between them, one object; a page more, two
  AddressRanges joined;
  joined.touch(100, 8);
  joined.touch(page + gap, 8);
  joined.seal();
  ASSERT_EQ(joined.objects().size(), 1u);
  EXPECT_EQ(joined.objects()[0].bytes(), gap + 2 * page);

  AddressRanges split;
  split.touch(100, 8);
  split.touch(page + gap + page, 8);
  split.seal();
  ASSERT_EQ(split.objects().size(), 2u);
  EXPECT_EQ(split.objects()[0].bytes(), page);
}

TEST(AddressRanges, ObjectsAreWholePagesInTheOrderOfTheirFirstAccess) {
  AddressRanges ranges;
  ranges.touch(0x7fff00000ffc, 8);  // over a page's end: two pages
  ranges.touch(0x10000, 1);
  ranges.touch(0x7fff00000000, 1);
  ranges.seal();
  ASSERT_EQ(ranges.objects().size(), 2u);
  EXPECT_EQ(ranges.objects()[0].first, 0x7fff00000000u);
  EXPECT_EQ(ranges.objects()[0].bytes(), 2 * page);
  EXPECT_EQ(ranges.objects()[1].first, 0x10000u);
  EXPECT_EQ(ranges.object_of(0x7fff00001fff), 0u);
  EXPECT_EQ(ranges.object_of(0x10fff), 1u);
  EXPECT_EQ(ranges.object_of(0x11000), 2u) << "no object";
}

TEST(AddressRanges, BothEndsOfTheAddressesAreObjects) {
  AddressRanges ranges;
  ranges.touch(0, 1);
  ranges.touch(UINT64_MAX - 7, 8);
  ranges.seal();
  ASSERT_EQ(ranges.objects().size(), 2u);
  EXPECT_EQ(ranges.object_of(UINT64_MAX), 1u);
  EXPECT_EQ(ranges.objects()[1].bytes(), page);
}

TEST(AddressRanges, TheOrderOfAccessesDoesNotChangeWhatBelongsTogether) {
  // objects = connected components of touched pages under "gap of at most 1 MiB", computed here from the sorted pages
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random{seed};
    std::vector<std::uint64_t> pages;
    for (int i = 0; i < 300; ++i) pages.push_back(random() % 100000);
    AddressRanges ranges;
    for (const std::uint64_t number : pages) ranges.touch(number * page + random() % page, 1);
    ranges.seal();
    std::sort(pages.begin(), pages.end());
    std::size_t components = 1;
    for (std::size_t i = 1; i < pages.size(); ++i)
      components += pages[i] > pages[i - 1] && (pages[i] - pages[i - 1] - 1) * page > gap && pages[i] != pages[i - 1];
    EXPECT_EQ(ranges.objects().size(), components) << seed;
    for (const std::uint64_t number : pages) ASSERT_LT(ranges.object_of(number * page), ranges.objects().size());
  }
}

}  // namespace
}  // namespace homenode
