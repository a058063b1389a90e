// Runs of pages in the page table, held against a look at each page.
#include "sim/memory/page_table.hpp"

#include <gtest/gtest.h>

#include <random>

namespace homenode::test {
namespace {

template <class Is>
PageNumber first_that(PageNumber first, PageNumber last, Is&& is) {
  for (; first < last; ++first)
    if (is(first)) break;
  return first;
}

TEST(PageTable, isUnmappedAtFirst) {
  PageTable table;
  EXPECT_EQ(table.size(), 0u);
  table.grow(3);
  table.set(PageNumber{2}, 7);
  table.grow(2);
  EXPECT_EQ(table.size(), 5u);
  const std::uint8_t expected[] = {PageTable::unmapped, PageTable::unmapped, 7, PageTable::unmapped, PageTable::unmapped};
  for (std::uint64_t page = 0; page < 5; ++page) EXPECT_EQ(table[PageNumber{page}], expected[page]) << page;
  EXPECT_EQ(table.home(PageNumber{2}), NodeId{7});
  EXPECT_TRUE(table.home(PageNumber{1}).is_none());
}

// Of 100 pages in runs of up to 20 that are anything a page can be, from each first page to each last one.
TEST(PageTable, findsRunsAsALookAtEachPageDoes) {
  const std::uint8_t kinds[] = {0, 1, 126, 127, 128, 252, PageTable::pending, PageTable::zero_page, PageTable::unmapped};
  std::mt19937_64 random{7};
  for (int round = 0; round < 20; ++round) {
    PageTable table;
    table.grow(100);
    for (PageNumber page; page < PageNumber{100};) {
      const PageNumber end = std::min(page + 1 + random() % 20, PageNumber{100});
      table.fill(page, end, kinds[random() % std::size(kinds)]);
      page = end;
    }
    for (PageNumber first; first < PageNumber{100}; ++first) {
      for (PageNumber last = first + 1; last <= PageNumber{100}; ++last) {
        for (const bool write : {false, true}) {
          const auto to_map = [&](PageNumber page) { return table[page] >= (write ? PageTable::zero_page : PageTable::unmapped); };
          ASSERT_EQ(table.first_to_map(first, last, write), first_that(first, last, to_map));
          ASSERT_EQ(table.end_to_map(first, last, write), first_that(first, last, [&](PageNumber page) { return !to_map(page); }));
        }
        ASSERT_EQ(table.end_of_equal(first, last), first_that(first, last, [&](PageNumber page) { return table[page] != table[first]; }));
      }
    }
  }
}

}  // namespace
}  // namespace homenode::test
