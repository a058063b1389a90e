// Stack distances and pasts by hand.
#include "models/engines/closed_form/reuse_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace homenode::test {
namespace {

std::vector<LineReuse> access(ReuseHistory& history, LineRange lines, std::uint32_t cell, bool writes = false) {
  std::vector<LineReuse> found;
  history.begin_group();
  history.look_up(lines, found);
  for (const LineReuse& reuse : found) history.touch(reuse, cell, writes);
  return found;
}

TEST(ReuseHistory, countsOtherLinesSinceTheLastTouch) {
  ReuseHistory history;
  history.begin_execution(0);
  EXPECT_EQ(access(history, LineRange::of(0, 10), 0).front().cell_before, no_cell);
  access(history, LineRange::of(100, 130), 0);
  access(history, LineRange::of(105, 110), 1);
  // Since lines 0 to 9: 30 others, whatever part of them was touched again.
  const auto again = access(history, LineRange::of(0, 10), 2);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again.front().cell_before, 0U);
  EXPECT_FLOAT_EQ(again.front().distance, 30);
  // Lines 100 to 104 and 110 to 129 were last touched before 5 + 10 others; 105 to 109 before 10.
  const auto parts = access(history, LineRange::of(100, 130), 3);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_FLOAT_EQ(parts[1].distance, 10);
  EXPECT_EQ(parts[1].cell_before, 1U);
  EXPECT_EQ(parts[2].lines.first, LineNumber{110});
}

TEST(ReuseHistory, tellsWhatEarlierExecutionsDid) {
  ReuseHistory history;
  history.begin_execution(3);
  access(history, LineRange::of(0, 8), 5, true);
  access(history, LineRange::of(8, 16), 6);
  history.begin_execution(4);
  access(history, LineRange::of(100, 107), 0);
  const auto found = access(history, LineRange::of(4, 12), 1, true);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].past.loop, 3U);
  EXPECT_EQ(found[0].past.writer, 3U);
  EXPECT_EQ(found[0].past.writer_cell, 5U);
  EXPECT_EQ(found[1].past.writer, no_loop);
  // Since lines 4 to 7: lines 0 to 3 of the same group and 8 to 15 in execution 3, 100 to 106 in execution 4.
  EXPECT_FLOAT_EQ(found[0].past.tail, 12);
  EXPECT_FLOAT_EQ(found[0].past.since, 7);
  // Later touches of the same execution know the same past, and the cell before.
  const auto later = access(history, LineRange::of(4, 8), 2);
  EXPECT_EQ(later.front().past.loop, 3U);
  EXPECT_TRUE(later.front().written_before);
}

TEST(ReuseHistory, forgetsLinesThatWereWrittenPastTheCaches) {
  ReuseHistory history;
  history.begin_execution(0);
  access(history, LineRange::of(0, 10), 0);
  history.forget(LineRange::of(2, 4));
  const auto found = access(history, LineRange::of(0, 10), 1);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1].cell_before, no_cell);
  EXPECT_EQ(found[2].cell_before, 0U);
}

}  // namespace
}  // namespace homenode::test
