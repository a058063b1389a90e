#include "models/engines/parts/page_marks.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace homenode::test {
namespace {

TEST(PageMarks, tellsOfEachKindOfTouchOnceASlice) {
  // Pages 3 and 4 are read; written later, which is news once; a read of what was written is none; the next slice begins anew.
  PageMarks pages;
  EXPECT_TRUE(pages.add(3, 5, false));
  EXPECT_FALSE(pages.add(4, 5, false));
  EXPECT_TRUE(pages.add(4, 5, true));
  EXPECT_FALSE(pages.add(4, 5, true));
  EXPECT_FALSE(pages.add(3, 5, false));
  EXPECT_TRUE(pages.add(3, 5, true));
  pages.clear();
  EXPECT_TRUE(pages.add(4, 5, false));
}

TEST(PageMarks, agreesWithSetsOfPages) {
  // News is a page that is not in the set of touched pages; for a write, one that is not in the set of written pages.
  std::mt19937_64 random{5};
  PageMarks marks;
  for (int slice = 0; slice < 20; ++slice) {
    std::set<std::uint64_t> touched, written;
    marks.clear();
    for (int touch = 0; touch < 3000; ++touch) {
      const std::uint64_t first = random() % 4000, last = first + 1 + random() % 3;
      const bool writes = random() % 3 == 0;
      bool news = false;
      for (std::uint64_t page = first; page < last; ++page) {
        const bool first_touch = touched.insert(page).second;
        news |= writes ? written.insert(page).second : first_touch;
      }
      const bool said = last == first + 1 && touch % 2 == 0 ? marks.add(first, writes) : marks.add(first, last, writes);
      ASSERT_EQ(said, news) << "slice " << slice << ", touch " << touch;
    }
  }
}

}  // namespace
}  // namespace homenode::test
