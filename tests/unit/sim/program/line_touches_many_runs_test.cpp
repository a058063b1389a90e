// Patterns of more runs than have cursors at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "sim/program/line_touches.hpp"
#include "tests/unit/models/caches/programs.hpp"

namespace homenode::test {
namespace {

// Serial code of a program: more runs than are followed at a time, in any order, loops among them that reach over thousands of others.
TEST(LineTouches, ManyRunsAreFollowedAPartAtATimeInTheOrderOfTheirAccesses) {
  constexpr std::uint64_t runs = 20'000, apart = 100;
  ItemPattern pattern;
  std::map<LineNumber, std::uint64_t> expected;
  const auto touched = [&](std::uint64_t byte) { ++expected[LineNumber{(base_address + byte) / 64}]; };
  for (std::uint64_t i = 0; i < runs; ++i) {
    const std::uint64_t offset = i * 4096 % 524'288;
    const bool loop = i % 5 == 0;
    // 3 rows of 4 words, whose words are 37 accesses apart and whose rows are 250,000: distant rows are streams of their own
    pattern.runs.push_back(loop ? run(0, AccessKind::read, static_cast<std::int64_t>(offset), i * apart, {{4, 8, 37}, {3, 6400, 250'000}})
                                : run(0, AccessKind::read, static_cast<std::int64_t>(offset), i * apart, {}));
    for (std::uint64_t word = 0; word < (loop ? 12U : 1U); ++word) touched(offset + word / 4 * 6400 + word % 4 * 8);
    pattern.accesses += loop ? 12 : 1;
  }
  pattern.slots = 1;
  const auto groups_of = [](const ItemPattern& followed) {
    Program program;
    program.patterns.push_back(followed);
    program.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}}});
    LineTouches touches{LineTouchOptions{}};
    touches.start(program.patterns, program.body, 0, 1, [](ObjectId) { return Address{base_address}; });
    std::vector<std::vector<LineTouch>> all;
    for (std::vector<LineTouch> group; touches.next(group);) all.push_back(group);
    return all;
  };
  const auto groups = groups_of(pattern);
  std::map<LineNumber, std::uint64_t> found;
  for (const auto& group : groups)
    for (const LineTouch& touch : group) {
      ASSERT_EQ(touch.lines.size(), 1U);
      found[touch.lines.first] += touch.accesses;
    }
  EXPECT_EQ(found, expected);
  std::shuffle(pattern.runs.begin(), pattern.runs.end(), std::mt19937_64{3});
  const auto again = groups_of(pattern);
  ASSERT_EQ(again.size(), groups.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    ASSERT_EQ(again[group].size(), groups[group].size());
    for (std::size_t touch = 0; touch < groups[group].size(); ++touch) {
      EXPECT_EQ(again[group][touch].lines.first, groups[group][touch].lines.first);
      EXPECT_EQ(again[group][touch].accesses, groups[group][touch].accesses);
    }
  }
}

}  // namespace
}  // namespace homenode::test
