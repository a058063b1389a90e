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

// A group ends where the first of all streams has given a batch, or has ended an iteration. Each access has a line of its own here.
TEST(LineTouches, ManyIrregularStreamsEndTheirGroupsWhereTheFirstBatchEnds) {
  constexpr std::size_t streams = 300, batch = 32;
  constexpr std::int64_t iterations = 3;
  std::mt19937_64 random{7};
  Program program;
  ItemPattern pattern;
  pattern.slots = 1;
  std::vector<std::size_t> left(streams);
  for (std::size_t& length : left) length = random() % 5 == 0 ? 0 : 1 + random() % 100;
  pattern.streams.resize(streams);
  for (IrregularStream& stream : pattern.streams) stream.width = 8;
  std::vector<std::size_t> order;
  for (std::size_t stream = 0; stream < streams; ++stream) order.insert(order.end(), left[stream], stream);
  std::shuffle(order.begin(), order.end(), random);
  for (const std::size_t number : order) {
    IrregularStream& stream = pattern.streams[number];
    stream.slot.push_back(0);
    stream.offset.push_back(static_cast<std::int64_t>(pattern.accesses) * 4096);
    stream.producer_distance.push_back(0);
    stream.sequence.push_back(pattern.accesses++);
  }
  program.patterns.push_back(pattern);
  program.body.blocks.push_back({0, iterations, PatternId{0u}, {{ObjectId{0u}, 0, static_cast<std::int64_t>(pattern.accesses) * 4096}}});

  std::vector<std::size_t> expected;
  std::vector<std::size_t> position(streams, 0);
  const std::uint64_t all = pattern.accesses * iterations;
  for (std::uint64_t begin = 0; begin < all;) {
    std::uint64_t end = all;
    for (std::size_t number = 0; number < streams; ++number) {
      const auto& sequence = pattern.streams[number].sequence;
      if (sequence.empty() || position[number] == sequence.size() * iterations) continue;
      const std::size_t iteration = position[number] / sequence.size(), behind = position[number] % sequence.size() + batch;
      end = std::min(end, iteration * pattern.accesses + (behind < sequence.size() ? sequence[behind] : sequence.back() + 1));
    }
    for (std::uint64_t at = begin; at < end; ++at) ++position[order[at % pattern.accesses]];
    expected.push_back(end - begin);
    begin = end;
  }

  LineTouches touches{LineTouchOptions{}};
  touches.start(program.patterns, program.body, 0, iterations, [](ObjectId) { return Address{base_address}; });
  std::vector<std::size_t> found;
  for (std::vector<LineTouch> group; touches.next(group);) found.push_back(group.size());
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace homenode::test
