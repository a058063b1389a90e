// Combined touches against a map of lines.
#include "sim/program/touch_combiner.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace homenode::test {
namespace {

struct OfLine {
  bool reads = false, writes = false, ordinary_write = false, atomic = false;
};

// `count` touches of lines below `lines`: most of one line, some of up to five.
std::vector<LineTouch> drawn(std::mt19937_64& random, std::size_t count, std::uint64_t lines) {
  std::vector<LineTouch> touches(count);
  for (LineTouch& touch : touches) {
    const std::uint64_t first = random() % lines, size = random() % 8 == 0 ? 1 + random() % 5 : 1;
    touch.lines = LineRange::of(first, first + size);
    touch.writes = random() % 3 == 0;
    touch.reads = !touch.writes || random() % 2 == 0;
    touch.non_temporal = touch.writes && !touch.reads && random() % 4 == 0;
    touch.atomic = touch.writes && touch.reads && random() % 4 == 0;
    touch.parallelism = static_cast<float>(1 + random() % 10);
    touch.accesses = 1 + random() % 20;
  }
  return touches;
}

TEST(TouchCombiner, givesEachLineOnceWithAllThatIsDoneToIt) {
  std::mt19937_64 random{11};
  TouchCombiner combiner;
  for (const std::size_t count : {1, 5, 40, 255, 256, 700, 5000, 300, 20}) {
    for (const std::uint64_t lines : {3, 60, 3000}) {
      std::vector<LineTouch> touches = drawn(random, count, lines);
      std::map<std::uint64_t, OfLine> expected;
      std::uint64_t accesses = 0;
      for (const LineTouch& touch : touches) {
        accesses += touch.accesses;
        for (LineNumber line = touch.lines.first; line != touch.lines.last; ++line) {
          OfLine& of = expected[line.value()];
          of.reads |= touch.reads;
          of.writes |= touch.writes;
          of.ordinary_write |= touch.writes && !touch.non_temporal;
          of.atomic |= touch.atomic;
        }
      }
      std::map<std::uint64_t, OfLine> found;
      LineNumber before{0};
      for (const LineTouch& touch : combiner.combine(touches)) {
        accesses -= touch.accesses;
        EXPECT_GE(touch.lines.first, before);
        before = touch.lines.last;
        EXPECT_GE(touch.parallelism, 1);
        for (LineNumber line = touch.lines.first; line != touch.lines.last; ++line) {
          OfLine& of = found[line.value()];
          of = {touch.reads, touch.writes, touch.writes && !touch.non_temporal, touch.atomic};
        }
      }
      EXPECT_EQ(accesses, 0) << count << " touches of " << lines << " lines";
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [line, of] : expected) {
        ASSERT_TRUE(found.contains(line));
        EXPECT_EQ(found[line].reads, of.reads);
        EXPECT_EQ(found[line].writes, of.writes);
        EXPECT_EQ(found[line].ordinary_write, of.ordinary_write);
        EXPECT_TRUE(found[line].atomic || !of.atomic);  // of a stream, one line's access counts for all
      }
    }
  }
}

}  // namespace
}  // namespace homenode::test
