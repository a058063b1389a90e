// Expansion of runs into line touches: exact in the lines and kinds of access, lockstep groups, parallelism of misses.
#include "sim/program/line_touches.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/support/machines.hpp"
#include "tests/unit/models/caches/programs.hpp"

namespace homenode::test {
namespace {

std::vector<std::vector<LineTouch>> expand(const Program& program, std::int64_t first, std::int64_t last, LineTouchOptions options = {},
                                           std::uint64_t object_bytes = std::uint64_t{1} << 24) {
  LineTouches touches{options};
  touches.start(program.patterns, program.body, first, last,
                [&](ObjectId object) { return Address{base_address + object.index() * object_bytes}; });
  std::vector<std::vector<LineTouch>> groups;
  std::vector<LineTouch> group;
  while (touches.next(group)) groups.push_back(group);
  return groups;
}

TEST(LineTouches, ARowOfAStencilIsOneGroupOfFourStreams) {
  // 66 doubles a row; points 1..64. Lines of 8 doubles; row r begins at word 66 r.
  const Program program = stencil(66, 8, false, 0, 1);
  const auto groups = expand(program, 0, 64);
  ASSERT_EQ(groups.size(), 64U);
  const auto line = [](std::uint64_t object, std::uint64_t word) {
    return LineNumber{(base_address + object * (1 << 24) + word * 8) / 64};
  };
  for (std::uint64_t i = 0; i < 64; ++i) {
    const auto& group = groups[i];
    ASSERT_EQ(group.size(), 4U);
    const std::uint64_t up = 66 * i, mid = up + 66, down = mid + 66;
    EXPECT_EQ(group[0].lines.first, line(0, up + 1));
    EXPECT_EQ(group[2].lines.last, line(0, down + 64) + 1);
    // Rows that share a line share it once.
    EXPECT_EQ(group[1].lines.first, std::max(line(0, mid), group[0].lines.last));
    EXPECT_EQ(group[2].lines.first, std::max(line(0, down + 1), group[1].lines.last));
    EXPECT_EQ(group[3].lines.first, line(1, mid + 1));
    EXPECT_EQ(group[3].lines.last, line(1, mid + 64) + 1);
    EXPECT_TRUE(group[3].writes && !group[3].reads);
    EXPECT_EQ(group[0].accesses + group[1].accesses + group[2].accesses + group[3].accesses, 6U * 64);
  }
}

TEST(LineTouches, OuterLoopsGoInSequenceAndTheIterationIsOne) {
  // One item of 3 x 5 rows of 16 doubles, 100 lines apart: 15 groups, in the order of the loops.
  Program program;
  ItemPattern pattern;
  pattern.runs.push_back(run(0, AccessKind::read, 0, 0, {{16, 8, 2}, {5, 6400, 32}, {3, 64000, 160}}));
  pattern.runs.push_back(run(1, AccessKind::write, 0, 1, {{16, 8, 2}, {5, 6400, 32}, {3, 64000, 160}}));
  pattern.accesses = 480;
  pattern.slots = 2;
  program.patterns.push_back(pattern);
  program.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}, {ObjectId{1u}, 0, 0}}});
  const auto groups = expand(program, 0, 1);
  std::uint64_t total = 0;
  std::vector<LineNumber> order;
  for (const auto& group : groups)
    for (const auto& touch : group) {
      total += touch.accesses;
      if (touch.reads) order.push_back(touch.lines.first - base_address / 64);
    }
  EXPECT_EQ(total, 480U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.front(), LineNumber{});
  EXPECT_EQ(order.back(), LineNumber{2400});
}

// Lines touched = lines of the words, by kind, whatever the nest.
TEST(LineTouches, RandomNestsTouchExactlyTheLinesOfTheirWords) {
  std::mt19937_64 random{11};
  for (int trial = 0; trial < 300; ++trial) {
    Program program;
    ItemPattern pattern;
    const auto loops = 1 + random() % 3, references = 1 + random() % 5;
    std::vector<std::uint32_t> counts;
    for (std::uint64_t d = 0; d < loops; ++d) counts.push_back(1 + static_cast<std::uint32_t>(random() % (d == 0 ? 90 : 7)));
    std::vector<std::int64_t> strides{8, 8, 8};
    const bool contiguous = random() % 3 == 0;
    for (std::size_t d = 0; d < loops; ++d)
      strides[d] = contiguous ? (d == 0 ? 8 : strides[d - 1] * counts[d - 1]) : (static_cast<std::int64_t>(random() % 600) - 200) * 8;
    if (random() % 2) strides[0] = 8;
    std::uint64_t accesses = references;
    for (const auto count : counts) accesses *= count;
    pattern.accesses = accesses;
    pattern.slots = 2;
    for (std::uint64_t r = 0; r < references; ++r) {
      std::vector<RunDimension> dimensions;
      std::uint64_t sequence_stride = references;
      for (std::size_t d = 0; d < loops; ++d) {
        dimensions.push_back({counts[d], strides[d], static_cast<std::uint32_t>(sequence_stride)});
        sequence_stride *= counts[d];
      }
      const auto kind = random() % 3 == 0 ? AccessKind::write : random() % 5 == 0 ? AccessKind::read_modify_write : AccessKind::read;
      pattern.runs.push_back(
          run(static_cast<std::uint16_t>(random() % 2), kind, static_cast<std::int64_t>(random() % 4096) * 8, r, dimensions));
    }
    program.patterns.push_back(pattern);
    const std::int64_t iterations = 1 + static_cast<std::int64_t>(random() % 9);
    const std::int64_t shift = static_cast<std::int64_t>(random() % 3000) * 8;
    program.body.blocks.push_back({0, iterations, PatternId{0u}, {{ObjectId{0u}, 1 << 22, shift}, {ObjectId{1u}, 1 << 22, shift}}});

    std::map<LineNumber, int> expected, found;  // 1 read, 2 written
    std::uint64_t words = 0;
    for (std::int64_t k = 0; k < iterations; ++k)
      for (const auto& r : pattern.runs) {
        std::array<std::uint32_t, 4> index{};
        for (bool more = true; more;) {
          std::uint64_t address = base_address + r.slot * (1 << 24) + (1 << 22) + static_cast<std::uint64_t>(k * shift + r.offset);
          for (unsigned d = 0; d < r.dimensions; ++d) address += static_cast<std::uint64_t>(index[d] * r.dimension[d].stride);
          expected[LineNumber{address / 64}] |= r.kind == AccessKind::read ? 1 : r.kind == AccessKind::write ? 2 : 3;
          ++words;
          more = false;
          for (unsigned d = 0; d < r.dimensions && !more; ++d) {
            if (++index[d] < r.dimension[d].count)
              more = true;
            else
              index[d] = 0;
          }
        }
      }
    // A slice is cut anywhere.
    const std::int64_t cut = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(iterations + 1));
    std::uint64_t accesses_found = 0;
    for (const auto& [from, to] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, iterations}})
      for (const auto& group : expand(program, from, to)) {
        LineNumber before;
        for (const auto& touch : group) {
          ASSERT_GE(touch.lines.first, before) << "trial " << trial;  // in order, none twice
          ASSERT_GT(touch.lines.size(), 0U);
          before = touch.lines.last;
          accesses_found += touch.accesses;
          for (LineNumber line = touch.lines.first; line < touch.lines.last; ++line)
            found[line] |= (touch.reads ? 1 : 0) | (touch.writes ? 2 : 0);
        }
      }
    ASSERT_EQ(accesses_found, words) << "trial " << trial;
    ASSERT_EQ(found, expected) << "trial " << trial;
  }
}

// An iteration followed in stretches: each holds the accesses of its numbers and no others, at the addresses that objects have then.
TEST(LineTouches, StretchesHoldExactlyTheAccessesBetweenTheirLimits) {
  std::mt19937_64 random{23};
  for (int trial = 0; trial < 200; ++trial) {
    Program program;
    ItemPattern pattern;
    pattern.slots = 2;
    std::uint64_t sequence = 0;
    for (auto nests = 1 + random() % 3; nests > 0; --nests) {
      const std::uint64_t references = 1 + random() % 3;
      const std::array<std::uint32_t, 2> counts{1 + static_cast<std::uint32_t>(random() % 60),
                                                1 + static_cast<std::uint32_t>(random() % 6)};
      const std::int64_t inner = random() % 2 ? 8 : static_cast<std::int64_t>(random() % 400) * 8;
      for (std::uint64_t r = 0; r < references; ++r) {
        const auto kind = random() % 3 == 0 ? AccessKind::write : AccessKind::read;
        pattern.runs.push_back(run(static_cast<std::uint16_t>(random() % 2), kind, static_cast<std::int64_t>(random() % 4096) * 8,
                                   sequence + r,
                                   {{counts[0], inner, static_cast<std::uint32_t>(references)},
                                    {counts[1], 4096, static_cast<std::uint32_t>(references * counts[0])}}));
      }
      sequence += references * counts[0] * counts[1];
    }
    pattern.accesses = sequence;
    std::vector<std::uint64_t> limits;
    for (auto cuts = random() % 5; cuts > 0; --cuts) limits.push_back(1 + random() % sequence);
    std::sort(limits.begin(), limits.end());
    limits.push_back(LineTouches::to_the_end);
    for (std::size_t i = 0; i + 1 < limits.size(); ++i) {
      // Work stops at heap calls and at synchronisation; what a block's address was is asked anew after heap calls of its own.
      if (trial % 2 == 0) pattern.sync_events.push_back({limits[i], SyncOperation::lock, 1, 0});
      pattern.heap_events.push_back({trial % 2 == 0 ? sequence : limits[i], HeapOperation::allocate, 1, false});
    }
    program.patterns.push_back(pattern);
    program.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}, {ObjectId{1u}, 0, 0}}});

    // Object 1 lies 16 MiB further on in each stretch.
    std::uint64_t moved = 0;
    const auto address_of = [&](ObjectId object) {
      return Address{base_address + object.index() * (1 << 28) + (object.index() == 1 ? moved : 0)};
    };
    LineTouches touches{{}};
    touches.start(program.patterns, program.body, 0, 1, address_of);
    EXPECT_EQ(touches.position(), 0U);
    std::uint64_t from = 0;
    for (const std::uint64_t limit : limits) {
      std::map<LineNumber, int> expected, found;
      std::uint64_t words = 0, accesses = 0;
      for (const auto& r : pattern.runs)
        for (std::uint64_t o = 0; o < (r.dimensions > 1 ? r.dimension[1].count : 1); ++o)
          for (std::uint64_t i = 0; i < r.dimension[0].count; ++i) {
            const std::uint64_t number = r.sequence + o * r.dimension[1].sequence_stride + i * r.dimension[0].sequence_stride;
            if (number < from || number >= limit) continue;
            ++words;
            const std::uint64_t address = address_of(ObjectId{r.slot}).value() + static_cast<std::uint64_t>(r.offset) +
                                          o * static_cast<std::uint64_t>(r.dimension[1].stride) +
                                          i * static_cast<std::uint64_t>(r.dimension[0].stride);
            expected[LineNumber{address / 64}] |= r.kind == AccessKind::read ? 1 : 2;
          }
      touches.go_on_until(limit);
      std::vector<LineTouch> group;
      while (touches.next(group))
        for (const auto& touch : group) {
          accesses += touch.accesses;
          for (LineNumber line = touch.lines.first; line < touch.lines.last; ++line)
            found[line] |= (touch.reads ? 1 : 0) | (touch.writes ? 2 : 0);
        }
      ASSERT_EQ(accesses, words) << "trial " << trial << ", accesses " << from << " to " << limit;
      ASSERT_EQ(found, expected) << "trial " << trial << ", accesses " << from << " to " << limit;
      ASSERT_EQ(touches.position(), limit < sequence ? limit : LineTouches::to_the_end);
      from = limit;
      moved += 1 << 24;
    }
  }
}

TEST(LineTouches, AFewSingleAccessesAreCutToo) {
  // lock; a += 1; unlock; b = 1: two accesses between the calls, one after them.
  Program program;
  ItemPattern pattern;
  pattern.runs = {run(0, AccessKind::read, 0, 0, {}), run(0, AccessKind::write, 0, 1, {}), run(0, AccessKind::write, 4096, 2, {})};
  pattern.sync_events = {{0, SyncOperation::lock, 1, 0}, {2, SyncOperation::unlock, 1, 0}};
  pattern.accesses = 3;
  pattern.slots = 1;
  program.patterns.push_back(pattern);
  program.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}}});
  LineTouches touches{{}};
  touches.start(program.patterns, program.body, 0, 1, [](ObjectId) { return Address{base_address}; });
  std::vector<LineTouch> group;
  touches.go_on_until(2);
  ASSERT_TRUE(touches.next(group));
  ASSERT_EQ(group.size(), 1U);
  EXPECT_TRUE(group[0].reads && group[0].writes);
  EXPECT_FALSE(touches.next(group));
  EXPECT_EQ(touches.position(), 2U);
  touches.go_on_until(LineTouches::to_the_end);
  ASSERT_TRUE(touches.next(group));
  EXPECT_EQ(group[0].lines.first, LineNumber{(base_address + 4096) / 64});
  EXPECT_FALSE(touches.next(group));
}

TEST(LineTouches, PausesBetweenGroupsChangeNone) {
  // What a quantum does: the caller stops asking and goes on later.
  const Program program = lattice_sweep({12, 12, 64, 6, 6, 64});
  const auto whole = expand(program, 0, 1);
  LineTouches touches{{}};
  touches.start(program.patterns, program.body, 0, 1, [](ObjectId object) { return Address{base_address + object.index() * (1 << 24)}; });
  std::uint64_t before = 0;
  for (const auto& expected : whole) {
    std::vector<LineTouch> group;
    touches.go_on_until(LineTouches::to_the_end);
    ASSERT_TRUE(touches.next(group));
    ASSERT_EQ(group.size(), expected.size());
    for (std::size_t i = 0; i < group.size(); ++i) {
      EXPECT_EQ(group[i].lines.first, expected[i].lines.first);
      EXPECT_EQ(group[i].lines.last, expected[i].lines.last);
      EXPECT_EQ(group[i].accesses, expected[i].accesses);
      EXPECT_EQ(group[i].parallelism, expected[i].parallelism);
    }
    EXPECT_GT(touches.position(), before);
    before = touches.position();
  }
  EXPECT_EQ(before, LineTouches::to_the_end);
}

Program irregular(std::uint32_t elements, std::uint32_t distance) {
  Program program;
  ItemPattern pattern;
  IrregularStream stream;
  stream.width = 8;
  std::mt19937_64 random{3};
  for (std::uint32_t i = 0; i < elements; ++i) {
    stream.slot.push_back(0);
    stream.offset.push_back(static_cast<std::int64_t>(random() % (1 << 18)) * 64);
    stream.producer_distance.push_back(i >= distance ? distance : 0);
    stream.sequence.push_back(i);
  }
  pattern.streams.push_back(stream);
  pattern.accesses = elements;
  pattern.slots = 1;
  program.patterns.push_back(pattern);
  program.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}}});
  return program;
}

// latency-weighted lines = sum of lines / parallelism; lines over that is the effective number in flight.
double in_flight(const std::vector<std::vector<LineTouch>>& groups) {
  double lines = 0, weight = 0;
  for (const auto& group : groups)
    for (const auto& touch : group) {
      lines += static_cast<double>(touch.lines.size());
      weight += static_cast<double>(touch.lines.size()) / static_cast<double>(touch.parallelism);
    }
  return lines / weight;
}

TEST(LineTouches, ParallelismFollowsDependenceBuffersAndPrefetch) {
  EXPECT_NEAR(in_flight(expand(irregular(4096, 1), 0, 1)), 1.0, 1e-9);               // a chase
  EXPECT_NEAR(in_flight(expand(irregular(4096, 4), 0, 1)), 4.0, 0.05);               // four interleaved chases
  EXPECT_NEAR(in_flight(expand(irregular(4096, 0), 0, 1)), 10.0, 1e-9);              // a gather: the miss buffers
  EXPECT_NEAR(in_flight(expand(stencil(514, 8, false, 0, 1), 0, 512)), 16.0, 1e-9);  // prefetched streams
  Program columns;
  ItemPattern pattern;
  pattern.runs.push_back(run(0, AccessKind::read, 0, 0, {{1000, 4096, 1}}));  // no prefetcher follows 4 KiB
  pattern.accesses = 1000;
  pattern.slots = 1;
  columns.patterns.push_back(pattern);
  columns.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}}});
  EXPECT_NEAR(in_flight(expand(columns, 0, 1)), 10.0, 1e-9);
  columns.patterns[0].runs[0].producer_distance = 1;  // each address from the element before
  EXPECT_NEAR(in_flight(expand(columns, 0, 1)), 1.0, 1e-9);
}

// `streams` rows of 4096 doubles, 1 MiB apart, side by side.
double in_flight_of_streams(std::uint32_t streams, unsigned followed, std::uint32_t elements = 4096) {
  Program rows;
  ItemPattern pattern;
  for (std::uint32_t stream = 0; stream < streams; ++stream)
    pattern.runs.push_back(run(0, AccessKind::read, std::int64_t{stream} << 20, stream, {{elements, 8, streams}}));
  pattern.accesses = streams * elements;
  pattern.slots = 1;
  rows.patterns.push_back(pattern);
  rows.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}}});
  return in_flight(expand(rows, 0, 1, {.prefetch_streams = followed}, std::uint64_t{1} << 30));
}

TEST(LineTouches, MoreStreamsThanPrefetchersFollowTakeTurns) {
  // Of 20 streams five are followed at a time: a quarter of the lines is prefetched, the core asks for the others.
  EXPECT_NEAR(in_flight_of_streams(20, 5), 1 / (0.25 / 16 + 0.75 / 10), 1e-4);
  EXPECT_NEAR(in_flight_of_streams(5, 5), 16, 1e-5);
  EXPECT_NEAR(in_flight_of_streams(20, 0), 16, 1e-5);  // not known
  double before = 16;
  for (std::uint32_t streams = 1; streams <= 64; ++streams) {  // never more with more streams, never less than by miss buffers alone
    const double now = in_flight_of_streams(streams, 8, 64);
    EXPECT_LE(now, before + 1e-5) << streams;
    EXPECT_GE(now, 10) << streams;
    before = now;
  }
}

TEST(LineTouches, ElementsFarApartAreOneStreamHoweverManyInAGroup) {
  Program program;
  ItemPattern pattern;
  pattern.runs.push_back(run(0, AccessKind::read, 0, 0, {{1000, 1024, 1}}));
  pattern.accesses = 1000;
  pattern.slots = 1;
  program.patterns.push_back(pattern);
  program.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}}});
  EXPECT_NEAR(in_flight(expand(program, 0, 1, {.prefetch_streams = 2})), 16, 1e-5);
}

// Rows of `lines` lines, 8 KiB apart: the core asks for the first two of each by itself, ten at a time.
double in_flight_of_rows(std::uint32_t lines) {
  Program rows;
  ItemPattern pattern;
  pattern.runs.push_back(run(0, AccessKind::read, 0, 0, {{8 * lines, 8, 1}, {100, 8192, 8 * lines}}));
  pattern.accesses = 800 * lines;
  pattern.slots = 1;
  rows.patterns.push_back(pattern);
  rows.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}}});
  return in_flight(expand(rows, 0, 1, {.prefetch_trigger = 2}));
}

TEST(LineTouches, APrefetcherFollowsAStreamFromItsThirdLineOn) {
  EXPECT_NEAR(in_flight_of_rows(1), 10, 1e-6);
  EXPECT_NEAR(in_flight_of_rows(2), 10, 1e-6);
  EXPECT_NEAR(in_flight_of_rows(4), 4 / (2 / 10. + 2 / 16.), 1e-5);
  EXPECT_NEAR(in_flight_of_rows(100), 100 / (2 / 10. + 98 / 16.), 1e-5);
}

TEST(LineTouches, ALineThatComesAgainAmongFourIsOneMiss) {
  // Lines in turn, each access from the one eight before. Of two lines 2 miss, and none waits for another line: 2 / 1. Six are too far
  // apart to be found again: 32 lines, of which the deepest is the fourth of its chain.
  for (const auto& [period, expected] : {std::pair{2, 2.0}, std::pair{6, 8.0}}) {
    Program program = irregular(32, 8);
    for (std::int64_t i = 0; i < 32; ++i) program.patterns[0].streams[0].offset.set(static_cast<std::size_t>(i), i % period * 4096);
    EXPECT_NEAR(in_flight(expand(program, 0, 1)), expected, 1e-9) << period;
  }
}

TEST(LineTouches, GathersCapturedAsSingleIterationsAreGroupedAndKeepTheirStreams) {
  // y[i] = x[index[i]], one block an iteration because x moves irregularly: 3 accesses an iteration.
  Program program;
  ItemPattern pattern;
  pattern.runs.push_back(run(0, AccessKind::read, 0, 0, {}));
  pattern.runs.push_back(run(1, AccessKind::read, 0, 1, {}));
  pattern.runs[1].producer_distance = 1;
  pattern.runs.push_back(run(2, AccessKind::write, 0, 2, {}));
  pattern.accesses = 3;
  pattern.slots = 3;
  program.patterns.push_back(pattern);
  std::mt19937_64 random{9};
  const std::int64_t n = 4000;
  for (std::int64_t i = 0; i < n; ++i)
    program.body.blocks.push_back(
        {i,
         i + 1,
         PatternId{0u},
         {{ObjectId{0u}, 8 * i, 0}, {ObjectId{1u}, static_cast<std::int64_t>(random() % (1 << 18)) * 64, 0}, {ObjectId{2u}, 8 * i, 0}}});
  const auto groups = expand(program, 0, n);
  EXPECT_LT(groups.size(), 200U);
  std::uint64_t accesses = 0;
  std::array<double, 3> lines{}, weight{};
  for (const auto& group : groups)
    for (const auto& touch : group) {
      const auto object = (touch.lines.first.value() * 64 - base_address) >> 24;
      accesses += touch.accesses;
      lines[object] += 1;
      weight[object] += 1.0 / static_cast<double>(touch.parallelism);
    }
  EXPECT_EQ(accesses, 3U * n);
  EXPECT_NEAR(lines[1] / weight[1], 10.0, 0.2);  // the gather
  EXPECT_GT(lines[0] / weight[0], 14.0);         // the index array is a stream
}

TEST(LineTouches, StreamableStoresBypassWhenTheMachineSaysSo) {
  const Program program = lattice_sweep({20, 20, 64, 10, 10, 64});
  LineTouchOptions options;
  for (const auto stores : {StoreTreatment::regular, StoreTreatment::nontemporal}) {
    options.stores = stores;
    for (const auto& group : expand(program, 0, program.iterations(), options))
      for (const auto& touch : group) EXPECT_EQ(touch.non_temporal, touch.writes && stores == StoreTreatment::nontemporal);
  }
}

TEST(LineTouches, LongStreamsComeInGroupsOfBoundedSize) {
  Program program;
  ItemPattern pattern;
  pattern.runs.push_back(run(0, AccessKind::read, 0, 0, {}));
  pattern.accesses = 1;
  pattern.slots = 1;
  program.patterns.push_back(pattern);
  const std::int64_t n = 1'000'000;
  program.body.blocks.push_back({0, n, PatternId{0u}, {{ObjectId{0u}, 0, 8}}});
  std::uint64_t lines = 0;
  LineTouchOptions options;
  options.group_lines = 256;
  const auto groups = expand(program, 0, n, options);
  for (const auto& group : groups) {
    ASSERT_EQ(group.size(), 1U);
    EXPECT_LE(group[0].lines.size(), 257U);
    lines += group[0].lines.size();
  }
  // n words = n / 8 lines.
  EXPECT_EQ(lines, static_cast<std::uint64_t>(n) / 8);
  EXPECT_EQ(groups.size(), (static_cast<std::uint64_t>(n) / 8 + 255) / 256);
}

// Reads at site 1, which are waited for, and at site 0; a write at site 1, which no core waits for.
TEST(LineTouches, SayHowManyOfTheirLoadsAreWaitedFor) {
  Program program;
  ItemPattern pattern;
  for (const auto& [object, kind, site] : {std::tuple{0U, AccessKind::read, 1U}, {1U, AccessKind::read, 0U}, {2U, AccessKind::write, 1U}}) {
    pattern.runs.push_back(run(static_cast<std::uint16_t>(object), kind, 0, object, {{64, 64, 3}}));
    pattern.runs.back().site = SiteId{site};
  }
  pattern.accesses = 192;
  pattern.slots = 3;
  program.patterns.push_back(pattern);
  program.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}, {ObjectId{1u}, 0, 0}, {ObjectId{2u}, 0, 0}}});
  LineTouchOptions options;
  options.waited = std::make_shared<const WaitedLoads>(WaitedLoads{0, 200});
  std::map<std::uint64_t, std::set<int>> found;
  for (const auto& group : expand(program, 0, 1, options))
    for (const auto& touch : group) found[(touch.lines.first.value() * 64 - base_address) >> 24].insert(touch.waited);
  EXPECT_EQ(found, (std::map<std::uint64_t, std::set<int>>{{0, {200}}, {1, {0}}, {2, {0}}}));
}

TEST(LineTouches, ReadingAndWritingTheSameRowsIsToldApartLineByLine) {
  // a[j] += a[j + 20] for j in 0..64: lines 0..7 read and written, lines 8..10 only read.
  Program program;
  ItemPattern pattern;
  pattern.runs.push_back(run(0, AccessKind::read, 160, 0, {{64, 8, 3}}));
  pattern.runs.push_back(run(0, AccessKind::read, 0, 1, {{64, 8, 3}}));
  pattern.runs.push_back(run(0, AccessKind::write, 0, 2, {{64, 8, 3}}));
  pattern.accesses = 192;
  pattern.slots = 1;
  program.patterns.push_back(pattern);
  program.body.blocks.push_back({0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}}});
  std::map<std::uint64_t, int> found;
  for (const auto& group : expand(program, 0, 1))
    for (const auto& touch : group)
      for (LineNumber line = touch.lines.first; line < touch.lines.last; ++line)
        found[line.value() - base_address / 64] |= (touch.reads ? 1 : 0) | (touch.writes ? 2 : 0);
  std::map<std::uint64_t, int> expected;
  for (std::uint64_t line = 0; line < 8; ++line) expected[line] = 3;
  for (std::uint64_t line = 8; line <= 10; ++line) expected[line] = 1;
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace homenode::test
