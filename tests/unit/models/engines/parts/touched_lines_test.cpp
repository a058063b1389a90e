#include "models/engines/parts/touched_lines.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace homenode::test {
namespace {

TEST(TouchedLines, countsEachLineOnceASlice) {
  // Lines 10..20, then 15..30: 10 and 10 more; what is there already adds none; the next slice begins anew.
  TouchedLines touched;
  EXPECT_EQ(touched.add(10, 20), 10u);
  EXPECT_EQ(touched.add(15, 30), 10u);
  EXPECT_EQ(touched.add(12, 28), 0u);
  touched.clear();
  EXPECT_EQ(touched.add(12, 28), 16u);
}

TEST(TouchedLines, agreesWithASetOfLines) {
  std::mt19937_64 random{5};
  TouchedLines touched;
  for (int slice = 0; slice < 20; ++slice) {
    std::set<std::uint64_t> lines;
    touched.clear();
    const bool sparse = slice % 2 == 0;  // a chunk each, so that the table grows
    for (int range = 0; range < 3000; ++range) {
      const std::uint64_t first = random() % (sparse ? std::uint64_t{1} << 40 : 50'000), size = 1 + random() % (sparse ? 3 : 300);
      std::uint64_t added = 0;
      for (std::uint64_t line = first; line < first + size; ++line) added += lines.insert(line).second;
      ASSERT_EQ(touched.add(first, first + size), added) << "slice " << slice << ", range " << range;
    }
  }
}

}  // namespace
}  // namespace homenode::test
