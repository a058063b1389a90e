// Folding loses nothing: what is unfolded again, by sequence, is what went in.
#include "traces/capture/folding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace homenode {
namespace {

// sequence, object, address in the object, site
using Access = std::tuple<std::uint64_t, std::uint32_t, std::int64_t, std::uint32_t>;

void unfold(const AccessRun& run, std::uint32_t object, std::int64_t base, std::vector<Access>& out) {
  std::array<std::uint32_t, AccessRun::max_dimensions> index{};
  for (std::uint64_t n = 0; n < run.accesses(); ++n) {
    std::int64_t address = base + run.offset;
    std::uint64_t sequence = run.sequence;
    for (unsigned d = 0; d < run.dimensions; ++d) {
      address += index[d] * run.dimension[d].stride;
      sequence += std::uint64_t{index[d]} * run.dimension[d].sequence_stride;
    }
    out.emplace_back(sequence, object, address, run.site.value());
    for (unsigned d = 0; d < run.dimensions && ++index[d] == run.dimension[d].count; ++d) index[d] = 0;
  }
}

std::vector<Access> unfold(const std::vector<PlacedRun>& runs) {
  std::vector<Access> out;
  for (const PlacedRun& placed : runs) unfold(placed.run, placed.object.value(), 0, out);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Access> unfold(const ItemBlock& block, const ItemPattern& pattern, std::int64_t iteration) {
  std::vector<Access> out;
  for (const AccessRun& run : pattern.runs) {
    const SlotBinding& slot = block.slots.at(run.slot);
    unfold(run, slot.object.value(), slot.base + (iteration - block.first) * slot.shift, out);
  }
  std::sort(out.begin(), out.end());
  return out;
}

PlacedRun access(std::uint32_t object, std::uint32_t site, std::int64_t offset, std::uint64_t sequence) {
  PlacedRun placed;
  placed.object = ObjectId{object};
  placed.run.site = SiteId{site};
  placed.run.width = 8;
  placed.run.offset = offset;
  placed.run.sequence = sequence;
  return placed;
}

// A program: nests of loops, in each innermost step one access of every site of the nest.
struct Nest {
  std::vector<std::uint32_t> counts;  // innermost first
  struct Reference {
    std::uint32_t object, site;
    std::int64_t offset;
    std::vector<std::int64_t> strides;
  };
  std::vector<Reference> references;
};

// Its accesses; with `runs`, the innermost loop arrives as runs of one dimension, as the recording runtime sends it.
std::vector<PlacedRun> execute(const std::vector<Nest>& nests, bool runs) {
  std::vector<PlacedRun> out;
  std::uint64_t sequence = 0;
  for (const Nest& nest : nests) {
    std::vector<std::uint32_t> index(nest.counts.size());
    const std::size_t inner = runs ? 1 : 0;
    std::uint64_t outer_steps = 1;
    for (std::size_t d = inner; d < nest.counts.size(); ++d) outer_steps *= nest.counts[d];
    for (std::uint64_t step = 0; step < outer_steps; ++step) {
      for (const Nest::Reference& reference : nest.references) {
        std::int64_t offset = reference.offset;
        for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * reference.strides[d];
        PlacedRun placed = access(reference.object, reference.site, offset, sequence++);
        if (runs && nest.counts[0] > 1) {
          placed.run.dimensions = 1;
          placed.run.dimension[0] = {nest.counts[0], reference.strides[0], static_cast<std::uint32_t>(nest.references.size())};
        }
        out.push_back(placed);
      }
      if (runs) sequence += std::uint64_t{nest.counts[0] - 1} * nest.references.size();
      for (std::size_t d = inner; d < index.size() && ++index[d] == nest.counts[d]; ++d) index[d] = 0;
    }
  }
  return out;
}

TEST(Folding, RandomNestsUnfoldToTheirAccesses) {
  std::mt19937_64 random{20261121};
  const auto pick = [&](std::uint64_t from, std::uint64_t to) { return from + random() % (to - from + 1); };
  for (int round = 0; round < 500; ++round) {
    std::vector<Nest> nests(pick(1, 4));
    for (Nest& nest : nests) {
      nest.counts.resize(pick(1, 5));
      for (auto& count : nest.counts) count = static_cast<std::uint32_t>(pick(1, 5));
      nest.references.resize(pick(1, 4));
      for (auto& reference : nest.references) {
        // Few sites and objects: nests share them, so that runs of different nests meet.
        reference.object = static_cast<std::uint32_t>(pick(0, 2)), reference.site = static_cast<std::uint32_t>(pick(0, 5));
        reference.offset = static_cast<std::int64_t>(pick(0, 100) * 8);
        for (std::size_t d = 0; d < nest.counts.size(); ++d) reference.strides.push_back(static_cast<std::int64_t>(pick(0, 12)) * 8 - 48);
      }
    }
    auto runs = execute(nests, round % 2 == 1);
    const auto expected = unfold(runs);
    std::shuffle(runs.begin(), runs.end(), random);  // runs close in any order
    fold_runs(runs);
    // unfold(fold(x)) = x
    ASSERT_EQ(unfold(runs), expected) << "round " << round;
    EXPECT_TRUE(std::is_sorted(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.run.sequence < b.run.sequence; }));
    // no two accesses share a place: the sequence is 0, 1, 2 ...
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(std::get<0>(expected[i]), i);
  }
}

TEST(Folding, ANestOfThreeLoopsBecomesOneRunOfThreeDimensions) {
  for (const bool as_runs : {false, true}) {
    // for k < 3, j < 4, i < 5: read a[k][j][i], write b[k][j][i]; 2 runs of 3 x 4 x 5 = 60 accesses
    auto runs = execute({{{5, 4, 3}, {{0, 1, 0, {8, 400, 10000}}, {1, 2, 64, {8, 400, 10000}}}}}, as_runs);
    fold_runs(runs);
    ASSERT_EQ(runs.size(), 2u);
    for (const PlacedRun& placed : runs) {
      EXPECT_EQ(placed.run.dimensions, 3);
      EXPECT_EQ(placed.run.accesses(), 60u);
      EXPECT_EQ(placed.run.dimension[2].stride, 10000);
      EXPECT_EQ(placed.run.dimension[2].sequence_stride, 40u);  // 2 accesses x 5 x 4
    }
  }
}

TEST(Folding, DifferentAccessesStayApart) {
  const auto count_after = [](auto change) {
    std::vector<PlacedRun> runs = {access(0, 1, 0, 0), access(0, 1, 8, 1)};
    change(runs[1]);
    fold_runs(runs);
    return runs.size();
  };
  EXPECT_EQ(count_after([](PlacedRun&) {}), 1u);
  EXPECT_EQ(count_after([](PlacedRun& p) { p.object = ObjectId{1}; }), 2u);
  EXPECT_EQ(count_after([](PlacedRun& p) { p.run.site = SiteId{2}; }), 2u);
  EXPECT_EQ(count_after([](PlacedRun& p) { p.run.kind = AccessKind::write; }), 2u);
  EXPECT_EQ(count_after([](PlacedRun& p) { p.run.width = 4; }), 2u);
  EXPECT_EQ(count_after([](PlacedRun& p) { p.run.producer_distance = 1; }), 2u);
  EXPECT_EQ(count_after([](PlacedRun& p) { p.run.streamable = true; }), 2u);
  EXPECT_EQ(count_after([](PlacedRun& p) { p.run.bulk = true; }), 2u);
}

TEST(Folding, IterationsWithConstantShiftsAreOneBlock) {
  std::vector<ItemPattern> patterns;
  PatternTable table{patterns};
  BlockFolder folder;
  // Iteration k: reads row k of a (100 bytes apart), the same x, writes y[k]. Iterations 6 .. 9 take a step of 200.
  for (std::int64_t k = 0; k < 10; ++k) {
    Item item;
    const std::int64_t row = k < 6 ? k * 100 : 600 + (k - 6) * 200;
    item.runs = {access(0, 1, row, 0), access(1, 2, 0, 1), access(0, 1, row + 8, 2), access(1, 2, 8, 3), access(2, 3, k * 8, 4)};
    item.runs.back().run.kind = AccessKind::write;
    fold_runs(item.runs);
    folder.add(k, item);
  }
  const auto blocks = folder.finish(table, {});
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].first, 0);
  EXPECT_EQ(blocks[0].last, 7);  // iteration 6 still lies at 600
  EXPECT_EQ(blocks[1].first, 7);
  EXPECT_EQ(blocks[1].last, 10);
  ASSERT_EQ(blocks[0].slots.size(), 3u);  // a, x, y
  EXPECT_EQ(blocks[0].slots[0].shift, 100);
  EXPECT_EQ(blocks[0].slots[1].shift, 0);
  EXPECT_EQ(blocks[0].slots[2].shift, 8);
  EXPECT_EQ(blocks[1].slots[0].shift, 200);
  EXPECT_EQ(blocks[0].pattern, blocks[1].pattern);  // only the bindings differ
  EXPECT_EQ(folder.accesses(), 50u);
  EXPECT_EQ(folder.reads(), 40u);
  EXPECT_EQ(folder.writes(), 10u);
  EXPECT_EQ(patterns.at(0).accesses, 5u);
}

TEST(Folding, SlotsAreJoinedByObjectAndShift) {
  std::vector<ItemPattern> patterns;
  PatternTable table{patterns};
  BlockFolder folder;
  // Five neighbours of one array move together; one of them (the fifth) stands still: 2 slots of one object.
  for (std::int64_t k = 0; k < 4; ++k) {
    Item item;
    for (std::uint32_t s = 0; s < 5; ++s) item.runs.push_back(access(7, s, s * 1000 + (s < 4 ? k * 8 : 0), s));
    folder.add(k, item);
  }
  const auto blocks = folder.finish(table, {});
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].slots.size(), 2u);
  EXPECT_EQ(patterns.at(0).slots, 2);
}

TEST(Folding, RandomIterationsUnfoldToTheirAccesses) {
  std::mt19937_64 random{7};
  for (int round = 0; round < 200; ++round) {
    std::vector<ItemPattern> patterns;
    PatternTable table{patterns};
    BlockFolder folder;
    std::vector<std::vector<Access>> expected;
    const std::int64_t iterations = static_cast<std::int64_t>(1 + random() % 12);
    std::int64_t step = 8;
    for (std::int64_t k = 0; k < iterations; ++k) {
      if (random() % 4 == 0) step = static_cast<std::int64_t>(random() % 5) * 8;
      Item item;
      const std::uint32_t references = random() % 5 == 0 ? 4 : 3;
      for (std::uint32_t s = 0; s < references; ++s)
        item.runs.push_back(access(s % 2, s, static_cast<std::int64_t>(s) * 800 + k * step * static_cast<std::int64_t>(s), s));
      expected.push_back(unfold(item.runs));
      fold_runs(item.runs);
      folder.add(k, item);
    }
    std::int64_t next = 0;
    for (const ItemBlock& block : folder.finish(table, {})) {
      ASSERT_EQ(block.first, next);
      for (std::int64_t k = block.first; k < block.last; ++k)
        ASSERT_EQ(unfold(block, patterns.at(block.pattern.index()), k), expected[static_cast<std::size_t>(k)]) << "round " << round;
      next = block.last;
    }
    ASSERT_EQ(next, iterations);
  }
}

TEST(Folding, MoreRunsThanSlotNumbersKeepTheirPlaces) {
  std::vector<ItemPattern> patterns;
  PatternTable table{patterns};
  BlockFolder folder;
  Item item;
  std::mt19937_64 random{3};
  const std::uint32_t accesses = 70000;  // a pointer chase: nothing folds; more than 16 bits can count
  for (std::uint32_t i = 0; i < accesses; ++i) {
    item.runs.push_back(access(i % 2, 1, static_cast<std::int64_t>(random() % 100000) * 64, i));
    item.runs.back().run.producer_distance = 1 + i % 3;  // no two neighbours alike
  }
  item.heap_events = {{accesses, HeapOperation::release, 0, false}};
  item.heap_objects = {ObjectId{1}};
  const auto expected = unfold(item.runs);
  folder.add(0, item);
  const auto blocks = folder.finish(table, {});
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].slots.size(), 2u);
  const ItemPattern& pattern = patterns.at(0);
  EXPECT_EQ(unfold(blocks[0], pattern, 0), expected);
  EXPECT_EQ(blocks[0].slots.at(pattern.heap_events.at(0).slot).object, ObjectId{1});
}

TEST(Folding, WorkIsSpreadByAccesses) {
  std::vector<ItemPattern> patterns;
  PatternTable table{patterns};
  BlockFolder folder;
  Item small, large;
  for (std::uint32_t i = 0; i < 6; ++i) (i < 2 ? small : large).runs.push_back(access(0, i, i * 128, i < 2 ? i : i - 2));
  folder.add(0, small);
  folder.add(1, large);
  WorkCounts per_access;
  per_access.instructions = 2.5, per_access.load = 1;
  folder.finish(table, per_access);
  // work = per access x accesses: 2 and 4
  ASSERT_EQ(patterns.size(), 2u);
  EXPECT_DOUBLE_EQ(patterns[0].work.instructions, 5);
  EXPECT_DOUBLE_EQ(patterns[1].work.instructions, 10);
  EXPECT_DOUBLE_EQ(patterns[1].work.load, 4);
}

}  // namespace
}  // namespace homenode
