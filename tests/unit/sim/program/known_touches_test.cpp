// Blocks whose pattern came before: their touches are those that following the runs gives.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "sim/program/line_touches.hpp"
#include "tests/unit/models/caches/programs.hpp"

namespace homenode::test {
namespace {

using Groups = std::vector<std::vector<LineTouch>>;

Groups groups_of(LineTouches& touches, const Program& program, std::int64_t first, std::int64_t last) {
  touches.start(program.patterns, program.body, first, last,
                [](ObjectId object) { return Address{base_address + object.index() * (std::uint64_t{1} << 28)}; });
  Groups groups;
  std::vector<LineTouch> group;
  while (touches.next(group)) groups.push_back(group);
  return groups;
}

bool same(const LineTouch& a, const LineTouch& b) {
  return a.lines.first == b.lines.first && a.lines.last == b.lines.last && a.reads == b.reads && a.writes == b.writes &&
         a.non_temporal == b.non_temporal && a.waited == b.waited && a.parallelism == b.parallelism && a.accesses == b.accesses;
}
void expect_same(const Groups& found, const Groups& expected, const std::string& where) {
  ASSERT_EQ(found.size(), expected.size()) << where;
  for (std::size_t g = 0; g < found.size(); ++g) {
    ASSERT_EQ(found[g].size(), expected[g].size()) << where << ", group " << g;
    for (std::size_t i = 0; i < found[g].size(); ++i)
      ASSERT_TRUE(same(found[g][i], expected[g][i])) << where << ", group " << g << ", touch " << i;
  }
}

// A few operands of an inner loop, single accesses, now and then a second loop.
ItemPattern random_pattern(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const auto one_of = [&](std::initializer_list<std::int64_t> values) {
    return *(values.begin() + static_cast<long>(below(values.size())));
  };
  ItemPattern pattern;
  const std::size_t loops = 1 + below(2);
  std::uint64_t sequence = 0;
  for (std::size_t loop = 0; loop < loops; ++loop) {
    const auto operands = static_cast<std::uint32_t>(1 + below(4));
    const auto count = static_cast<std::uint32_t>(one_of({1, 2, 3, 8, 20, 100}));
    const auto outer = static_cast<std::uint32_t>(below(4) == 0 ? 3 : 1);
    for (std::uint32_t operand = 0; operand < operands; ++operand) {
      std::vector<RunDimension> dimensions;
      if (count > 1) dimensions.push_back({count, one_of({0, 8, -8, 4, 64, 200, 1000, -4096}), operands});
      if (outer > 1) dimensions.push_back({outer, one_of({8, 800, -640, 5000}), count * operands});
      AccessRun made = run(static_cast<SlotNumber>(below(6)), below(3) == 0 ? AccessKind::write : AccessKind::read, one_of({0, 8, 60, 512}),
                           sequence + operand, dimensions, below(2) == 0, static_cast<std::uint16_t>(one_of({8, 8, 8, 4, 64, 512, 4096})));
      if (below(3) == 0) made.producer_distance = static_cast<std::uint32_t>(1 + below(2 * operands));
      pattern.runs.push_back(made);
    }
    sequence += std::uint64_t{count} * operands * outer;
  }
  pattern.accesses = sequence;
  pattern.slots = 6;
  return pattern;
}

TEST(KnownTouches, AreThoseOfFollowingTheRuns) {
  std::mt19937_64 random(17);
  for (int trial = 0; trial < 300; ++trial) {
    Program program;
    const std::size_t patterns = 1 + random() % 3;
    for (std::size_t p = 0; p < patterns; ++p) program.patterns.push_back(random_pattern(random));
    const std::int64_t shifts[] = {0, 8, -8, 24, 64, 72, 160, 320, 800, 5000, -4096, 1 << 20};
    std::int64_t at = 0;
    for (int block = 0; block < 40; ++block) {
      ItemBlock made;
      made.first = at;
      made.last = at += 1 + static_cast<std::int64_t>(random() % (block % 3 == 0 ? 40 : 3));
      made.pattern = PatternId{random() % patterns};
      for (int slot = 0; slot < 6; ++slot)
        made.slots.push_back({ObjectId{random() % 3}, (1 << 27) + static_cast<std::int64_t>(random() % 100000) * 4, shifts[random() % 12]});
      program.body.blocks.push_back(made);
    }
    LineTouchOptions options;
    options.prefetch_trigger = 3;
    options.stores = trial % 2 == 0 ? StoreTreatment::regular : StoreTreatment::nontemporal;
    if (trial % 5 == 0) options.group_lines = 64;
    LineTouches known{options};
    for (const ItemBlock& block : program.body.blocks) {
      LineTouches fresh{options};
      expect_same(groups_of(known, program, block.first, block.last), groups_of(fresh, program, block.first, block.last),
                  "trial " + std::to_string(trial) + ", iteration " + std::to_string(block.first));
    }
  }
}

TEST(KnownTouches, AreNotDisturbedByACallerThatStops) {
  std::mt19937_64 random(3);
  Program program;
  program.patterns.push_back(random_pattern(random));
  for (std::int64_t i = 0; i < 8; ++i)
    program.body.blocks.push_back({2 * i, 2 * i + 2, PatternId{0u}, std::vector<SlotBinding>(6, {ObjectId{0u}, i * 8192, 128})});
  LineTouches known{{}}, fresh{{}};
  std::vector<LineTouch> group;
  for (std::int64_t i = 0; i < 8; ++i) {
    known.start(program.patterns, program.body, 2 * i, 2 * i + 2, [](ObjectId) { return Address{base_address}; });
    known.next(group);  // and no further
  }
  expect_same(groups_of(known, program, 0, 16), groups_of(fresh, program, 0, 16), "whole");
}

}  // namespace
}  // namespace homenode::test
