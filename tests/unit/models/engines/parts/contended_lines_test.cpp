// Hand-overs of lines that several cores write, against the share of other cores' updates.
#include "models/engines/parts/contended_lines.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace homenode::test {
namespace {

LineTouch touch(std::uint64_t first, std::uint64_t accesses, bool atomic, bool reads = true, std::uint64_t lines = 1) {
  LineTouch made;
  made.lines = LineRange::of(first, first + lines);
  made.reads = reads;
  made.writes = true;
  made.atomic = atomic;
  made.accesses = accesses;
  return made;
}

enum class Where { everywhere, beginning, end };
struct Slice {
  std::size_t core = 0;
  std::vector<LineTouch> touches;
  std::uint64_t accesses = 0;  // of all kinds
  Where where = Where::everywhere;
};

// The touches, spread evenly over the slice, or at its beginning or end.
void pass(ContendedLines& lines, const Slice& slice, std::uint64_t time, bool ahead, Contention& found) {
  lines.begin(CoreId{slice.core}, time);
  std::uint64_t before = slice.where == Where::end ? slice.accesses : 0;
  for (const LineTouch& one : slice.touches) before -= slice.where == Where::end ? one.accesses : 0;
  for (LineTouch one : slice.touches) {
    if (slice.where != Where::everywhere) {
      before += one.accesses;
      lines.wrote(one, before);
      continue;
    }
    const std::uint64_t accesses = one.accesses;  // in two halves, at both ends
    one.accesses = accesses / 2;
    lines.wrote(one, one.accesses);
    one.accesses = accesses - one.accesses;
    lines.wrote(one, slice.accesses);
  }
  lines.end(found, slice.accesses, ahead);
}

// What becomes of the slices of a round, one of each core.
std::vector<Contention> round_of(ContendedLines& lines, const std::vector<Slice>& slices, std::uint64_t time = 7) {
  std::vector<Contention> found(slices.size());
  for (std::size_t i = 0; i < slices.size(); ++i) { pass(lines, slices[i], time, true, found[i]); }
  lines.end_round();
  return found;
}

Contention pass(ContendedLines& lines, const Slice& slice) {
  Contention found;
  pass(lines, slice, 7, false, found);
  return found;
}

TEST(ContendedLines, ofARoundComeFromOthersInProportionToTheirUpdates) {
  // 300 atomic updates beside 100: 75 of the 300 come behind the other core, 75 of the 100; the caches count one of each.
  ContendedLines lines;
  const auto found = round_of(lines, {{0, {touch(40, 300, true)}, 300}, {3, {touch(40, 60, true), touch(40, 40, true)}, 100}});
  EXPECT_DOUBLE_EQ(found[0].late.atomic, 74);
  EXPECT_DOUBLE_EQ(found[1].late.atomic, 74);
  EXPECT_DOUBLE_EQ(found[0].updates.atomic, 300);
  EXPECT_DOUBLE_EQ(found[0].busiest.atomic, 74);
  EXPECT_EQ(found[0].lines, 1);
  ASSERT_EQ(found[0].writers.size(), 1);
  EXPECT_EQ(found[0].writers[0].core, CoreId{3});
  EXPECT_DOUBLE_EQ(found[0].writers[0].share, 1);
  EXPECT_DOUBLE_EQ(found[0].late.plain, 0);
}

TEST(ContendedLines, ofMoreCoresAreHandedOverByEachOfThem) {
  // Four cores of 100 updates each: three of four come behind another core's.
  ContendedLines lines;
  std::vector<Slice> slices;
  for (std::size_t core = 0; core < 4; ++core) slices.push_back({core, {touch(8, 100, true)}, 100});
  for (const Contention& one : round_of(lines, slices)) {
    EXPECT_DOUBLE_EQ(one.late.atomic, 74);
    EXPECT_EQ(one.writers.size(), 3);
    for (const Contention::Writer& writer : one.writers) EXPECT_DOUBLE_EQ(writer.share, 1.0 / 3);
  }
}

TEST(ContendedLines, countALoadAndItsStoreAsOneUpdate) {
  // 100 loads and 100 stores of one line: 100 updates, half of them behind the other core's 100 stores.
  ContendedLines lines;
  const auto found = round_of(lines, {{0, {touch(5, 200, false)}, 200}, {1, {touch(5, 100, false, false)}, 100}});
  EXPECT_DOUBLE_EQ(found[0].late.plain, 49);
  EXPECT_DOUBLE_EQ(found[0].late.plain_read, 49);
  EXPECT_DOUBLE_EQ(found[1].late.plain, 49);
  EXPECT_DOUBLE_EQ(found[1].late.plain_read, 0);
}

TEST(ContendedLines, areThoseThatOthersWriteInTheSameTime) {
  ContendedLines lines;
  // A line of each core; one update of a common one; a stream of many lines; an earlier time.
  EXPECT_FALSE(round_of(lines, {{0, {touch(5, 100, true)}, 100}, {1, {touch(6, 100, true)}, 100}})[0].any());
  EXPECT_FALSE(round_of(lines, {{0, {touch(5, 1, true)}, 1}, {1, {touch(5, 1, true)}, 1}})[0].any());
  EXPECT_FALSE(round_of(lines, {{0, {touch(5, 100, false, true, 9)}, 100}, {1, {touch(5, 100, false, true, 9)}, 100}})[0].any());
  EXPECT_FALSE(round_of(lines, {{0, {touch(5, 100, true)}, 100}}, 8)[0].any());
  EXPECT_FALSE(round_of(lines, {{1, {touch(5, 100, true)}, 100}}, 9)[0].any());
  // The same core twice: threads that share it.
  EXPECT_FALSE(round_of(lines, {{2, {touch(5, 100, true)}, 100}, {2, {touch(5, 100, true)}, 100}}, 10)[0].any());
}

TEST(ContendedLines, areWrittenInTheSamePartOfTheSlices) {
  // One thread's share ends in the line in which the next one's begins.
  ContendedLines lines;
  const Slice ends{0, {touch(5, 8, false, false)}, 1000, Where::end}, begins{1, {touch(5, 8, false, false)}, 1000, Where::beginning};
  EXPECT_FALSE(round_of(lines, {ends, begins})[0].any());
  // 100 of one core in the first tenth of its slice, beside 1000 of another's in all of it: 100 there, so that half comes late.
  const Slice first{0, {touch(5, 100, true)}, 1000, Where::beginning}, whole{1, {touch(5, 1000, true)}, 1000};
  const auto found = round_of(lines, {first, whole}, 8);
  EXPECT_NEAR(found[0].late.atomic, 49, 1e-9);
  EXPECT_NEAR(found[1].late.atomic, 49, 1e-9);
}

TEST(ContendedLines, areNotHiddenByALineThatIsWrittenMoreAtOtherTimes) {
  // Line 1 at the end of one slice and the beginning of the other, 500 times; line 2 in all of both, 100 times.
  ContendedLines lines;
  std::vector<Contention> found(2);
  for (const std::size_t core : {0U, 1U}) {
    const std::uint64_t end = core == 0 ? 1000 : 500;
    lines.begin(CoreId{core}, 7);
    lines.wrote(touch(2, 50, true), 50);
    lines.wrote(touch(1, 500, true), end);
    lines.wrote(touch(2, 50, true), 1000);
    lines.end(found[core], 1000, true);
  }
  lines.end_round();
  for (const Contention& one : found) {
    EXPECT_EQ(one.lines, 1);
    EXPECT_DOUBLE_EQ(one.busiest.atomic, 49);
    ASSERT_EQ(one.writers.size(), 1);
    EXPECT_DOUBLE_EQ(one.writers[0].share, 1);
  }
}

TEST(ContendedLines, withinOneTouchAreLeftToWhoeverKnowsTheTouches) {
  // 600 of each core, in one touch and in two: 300 late, one and two of which are met as they come.
  ContendedLines lines;
  lines.know_touches();
  const std::vector<Slice> slices{{0, {touch(5, 600, true)}, 600, Where::beginning}, {1, {touch(5, 600, true)}, 600}};
  const auto found = round_of(lines, slices);
  EXPECT_NEAR(found[0].late.atomic, 300 - 1, 1e-9);
  EXPECT_NEAR(found[1].late.atomic, 300 - 2, 1e-9);
}

TEST(ContendedLines, ofAtomicsMayBeTouchedManyTogether) {
  // The bins of a histogram in turn: 128 lines, 20 times each by both cores. Plain stores to as many are streams.
  ContendedLines lines;
  LineTouch bins = touch(100, 128 * 20, true);
  bins.lines.last = bins.lines.first + 128;
  const auto atomic = round_of(lines, {{0, {bins}, 128 * 20}, {1, {bins}, 128 * 20}});
  EXPECT_EQ(atomic[0].lines, 128U);
  EXPECT_NEAR(atomic[0].late.atomic, 128 * (20 / 2 - 1), 1e-9);
  bins.atomic = false;
  EXPECT_FALSE(round_of(lines, {{0, {bins}, 128 * 20}, {1, {bins}, 128 * 20}}, 8)[0].any());
}

TEST(ContendedLines, tellTheBusiestOfTheRound) {
  // Line 1 by all three, line 2 by two of them, less.
  ContendedLines lines;
  const auto found = round_of(lines, {{0, {touch(1, 100, true), touch(2, 10, true)}, 110},
                                      {1, {touch(1, 100, true), touch(2, 10, true)}, 110},
                                      {2, {touch(1, 100, true)}, 100}});
  EXPECT_EQ(found[0].lines, 2);
  EXPECT_NEAR(found[0].busiest.atomic, 200.0 / 3 - 1, 1e-9);
  EXPECT_NEAR(found[0].late.atomic, 200.0 / 3 - 1 + 5 - 1, 1e-9);
  EXPECT_EQ(found[0].writers.size(), 2);
}

TEST(ContendedLines, inTheOrderOfTimeGoByTheOthersLastSlice) {
  // Core 1 makes an update in every second access, and goes on: 50 beside the 100 of core 0's next 100 accesses.
  ContendedLines lines;
  EXPECT_FALSE(pass(lines, {1, {touch(4, 400, true)}, 800}).any());
  EXPECT_NEAR(pass(lines, {0, {touch(4, 100, true)}, 100}).late.atomic, 100.0 / 3 - 1, 1e-9);
  // Core 1 has begun another slice, which leaves the line alone.
  EXPECT_FALSE(pass(lines, {1, {touch(9, 10, true)}, 100}).any());
  EXPECT_FALSE(pass(lines, {0, {touch(4, 100, true)}, 100}).any());
}

TEST(ContendedLines, areFollowedAmongVeryManyOthers) {
  // 100 000 lines of each core's own beside a common one, which is written most.
  ContendedLines lines;
  std::vector<Slice> slices(2);
  for (std::size_t core = 0; core < 2; ++core) {
    slices[core] = {core, {}, 300000};
    for (std::uint64_t line = 0; line < 100000; ++line) {
      if (line % 1000 == 0) slices[core].touches.push_back(touch(77, 1000, true));
      slices[core].touches.push_back(touch(1000000 * (core + 1) + line, 1, true));
    }
  }
  for (const Contention& one : round_of(lines, slices)) EXPECT_NEAR(one.busiest.atomic, 50000, 1001);
}

}  // namespace
}  // namespace homenode::test
