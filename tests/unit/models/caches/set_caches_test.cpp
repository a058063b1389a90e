// The caches by lines against the exact hierarchy, both with sets: frames are drawn by other random numbers, so the counts
// differ by what their luck makes out, and by nothing else.
#include "models/caches/set_caches.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/machines.hpp"
#include "tests/unit/models/caches/exact_cache_oracle.hpp"
#include "tests/unit/models/caches/programs.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t MiB = 1 << 20;

Machine nehalem(unsigned cores) {
  Machine m = one_node(cores);
  m.caches[2].slices = 8;
  return m;
}
std::vector<exact::Level> nehalem_levels(unsigned cores) {
  return {{32 << 10, 8, 1, 1, exact::Filling::inclusive},
          {256 << 10, 8, 1, 1, exact::Filling::inclusive},
          {8 << 20, 16, cores, 8, exact::Filling::inclusive}};
}
void expect_within(double share, std::uint64_t found, std::uint64_t expected, const char* what) {
  EXPECT_NEAR(static_cast<double>(found), static_cast<double>(expected), share * static_cast<double>(expected)) << what;
}
void expect_equal_counts(double share, const Totals& found, const exact::Counts& expected) {
  expect_within(share, found.reads, expected.memory_reads, "reads");
  expect_within(share, found.writebacks, expected.writebacks, "writebacks");
  expect_within(share, found.transfers, expected.transfers, "transfers");
}

// Independent reads and writes of random lines of 12 MiB by four cores that share 8 MiB.
TEST(SetCaches, RandomAccessesMissAsOften) {
  SetCaches model{nehalem(4)};
  exact::Hierarchy oracle(nehalem_levels(4), 4, base_address, 12 * MiB, 3);
  std::mt19937_64 random{1};
  Totals totals;
  for (int i = 0; i < 1'000'000; ++i) {
    const auto core = static_cast<unsigned>(random() % 4);
    const std::uint64_t address = base_address + random() % (12 * MiB);
    const bool writes = random() % 4 == 0;
    LineTouch touch;
    touch.lines = LineRange::of(address / 64, address / 64 + 1);
    touch.reads = !writes;
    touch.writes = writes;
    touch.accesses = 1;
    CacheOutcome outcome;
    model.access(CoreId{core}, {&touch, 1}, outcome);
    totals.add(outcome);
    if (writes)
      oracle.write(core, address);
    else
      oracle.read(core, address);
  }
  flush(model, totals);
  oracle.flush();
  expect_equal_counts(0.01, totals, oracle.counts);
  expect_within(0.01, totals.hits[2], oracle.counts.hits[2], "hits of the last level");
}

// hotspot's 16 x 16 blocks of floats at 1026^2 (12.6 MiB against 8 MiB), two sweeps.
TEST(SetCaches, SmallBlocksMoveTheSameLines) {
  const std::uint32_t n = 1026, block = 16;
  const std::uint64_t array = (std::uint64_t{4} * n * n + 4095) / 4096 * 4096;
  const std::vector<std::uint64_t> bases{0, array, 2 * array};
  const Machine machine = nehalem(1);
  SetCaches model{machine};
  exact::Hierarchy oracle(nehalem_levels(1), 1, base_address, 3 * array, 5);
  Totals totals;
  for (std::uint32_t sweep = 0; sweep < 2; ++sweep) {
    const Program program = blocked_stencil(n, 4, block, sweep % 2, 1 - sweep % 2);
    replay(model, CoreId{0u}, program, 0, program.iterations(), LineTouchOptions::of(machine, StoreTreatment::regular), bases, totals);
    const std::uint64_t source = base_address + bases[sweep % 2], target = base_address + bases[1 - sweep % 2];
    const auto at = [&](std::uint64_t i, std::uint64_t j) { return 4 * (i * n + j); };
    for (std::uint64_t bi = 1; bi < n - 1; bi += block)
      for (std::uint64_t bj = 1; bj < n - 1; bj += block)
        for (std::uint64_t i = bi; i < bi + block; ++i)
          for (std::uint64_t j = bj; j < bj + block; ++j) {
            for (const std::uint64_t address : {at(i, j), at(i, j - 1), at(i, j + 1), at(i - 1, j), at(i + 1, j)})
              oracle.read(0, source + address);
            oracle.read(0, base_address + bases[2] + at(i, j));
            oracle.write(0, target + at(i, j));
          }
  }
  flush(model, totals);
  oracle.flush();
  EXPECT_EQ(totals.accesses, oracle.counts.accesses);
  expect_equal_counts(0.01, totals, oracle.counts);
}

// Nine lines a page apart fall into one set of the first level, whatever their frames; its eight ways cannot hold them, eight they can.
TEST(SetCaches, RowsThatCollideInTheFirstLevelMissThere) {
  for (const std::uint64_t rows : {8U, 9U}) {
    SetCaches model{nehalem(1)};
    Totals totals;
    for (int round = 0; round < 100; ++round)
      for (std::uint64_t row = 0; row < rows; ++row) {
        LineTouch touch;
        touch.lines = LineRange::of(base_address / 64 + row * 64, base_address / 64 + row * 64 + 1);
        touch.reads = true;
        CacheOutcome outcome;
        model.access(CoreId{0u}, {&touch, 1}, outcome);
        totals.add(outcome);
      }
    EXPECT_EQ(totals.reads, rows);
    EXPECT_EQ(totals.hits[0], rows == 8 ? 99 * rows : 0);
    EXPECT_EQ(totals.hits[1], rows == 8 ? 0 : 99 * rows);
  }
}

TEST(SetCaches, ACleanLineComesFromWhoGotItLast) {
  // Three sockets of two cores, a shared last level each: the first reads memory, each other one the cache before it.
  SetCaches model{machine("three", 3, 2, {{0, 1}, {1, 2}, {0, 2}}), 0, true};
  const LineNumber line{base_address / 64};
  LineTouch touch;
  touch.lines = {line, line + 1};
  touch.reads = true;
  CacheOutcome outcome;
  EXPECT_EQ(model.access_line(CoreId{0u}, line, touch, outcome).from, LineFate::From::memory);
  for (const unsigned socket : {1U, 2U}) {
    const LineFate fate = model.access_line(CoreId{2 * socket}, line, touch, outcome);
    EXPECT_EQ(fate.from, LineFate::From::transfer);
    EXPECT_EQ(fate.owner, 2 * (socket - 1));
    EXPECT_FALSE(fate.dirty);
  }
}

TEST(SetCaches, ASeedDrawsOtherFramesAndTheSameSeedTheSame) {
  const auto reads = [](std::uint64_t seed) {
    SetCaches model{nehalem(1), seed};
    Totals totals;
    std::mt19937_64 random{1};
    for (int i = 0; i < 300'000; ++i) {
      LineTouch touch;
      const LineNumber line{base_address / 64 + random() % (9 * MiB / 64)};
      touch.lines = {line, line + 1};
      touch.reads = true;
      CacheOutcome outcome;
      model.access(CoreId{0u}, {&touch, 1}, outcome);
      totals.add(outcome);
    }
    return totals.reads;
  };
  EXPECT_EQ(reads(1), reads(1));
  EXPECT_NE(reads(1), reads(2));
}

}  // namespace
}  // namespace homenode::test
