// Rounds that repeat are jumped over (repeated_rounds.hpp), and no result depends on it: not a count, and no time, to the picosecond.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "models/engines/parts/cache_record.hpp"
#include "models/engines/parts/repeated_rounds.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/equal_reports.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

struct Case {
  std::shared_ptr<Workload> workload;
  Machine machine;
  RunSpec spec;
  Bytes quantum;
};

// How many rounds a run jumps over. Fails where a result depends on that, of the run itself or of one that reads its record.
std::uint64_t jumped_rounds(const Case& c) {
  const auto with = [&](bool warp, const std::string& placement, std::shared_ptr<CacheRecord> record) {
    RunSpec spec = c.spec;
    spec.warp = warp;
    spec.placement = placement;
    RunExtras extras;
    extras.quantum = c.quantum;
    extras.record = std::move(record);
    return accounted_run(*c.workload, c.machine, spec, extras);
  };
  const auto record = std::make_shared<CacheRecord>(Bytes{1 << 28});
  const RunReport expected = with(false, c.spec.placement, nullptr);
  expect_equal(with(true, c.spec.placement, nullptr), expected);
  expect_equal(with(true, c.spec.placement, record), expected);
  expect_equal(with(true, "interleave", record), with(false, "interleave", nullptr));
  std::uint64_t rounds = 0;
  for (const RecordedJump& jump : record->jumps()) rounds += jump.periods * jump.repeated->period;
  return rounds;
}

// Caches without sets that decide by place, small, so that they fill within a few rounds.
Machine small_caches(unsigned sockets) {
  Machine machine = sockets == 1 ? one_node() : two_sockets();
  machine.caches[1].size = Bytes{64 << 10};
  machine.caches[2].size = Bytes{512 << 10};
  for (CacheDescription& cache : machine.caches) cache.ways = 0;
  machine.tlb.entries = 64;
  machine.tlb.miss_penalty = Time::nanoseconds(10);
  return machine;
}

// Sweeps over `rows` rows of `row` bytes: what is read at offsets from the row in hand, what is written.
Case stencil(std::int64_t row, std::int64_t rows, std::vector<std::int64_t> offsets, unsigned sweeps = 3) {
  WorkloadBuilder builder;
  const auto bytes = static_cast<std::uint64_t>(row * (rows + 4));
  const ObjectId from = builder.object("from", bytes), to = builder.object("to", bytes);
  const RegionId sweep = builder.loop("sweep", rows);
  std::vector<Reference> references;
  for (const std::int64_t offset : offsets) references.push_back(read(from, 2 * row + offset, {8}, row));
  references.push_back(write(to, 2 * row, {8}, row));
  builder.nest(sweep, {static_cast<std::uint32_t>(row / 8)}, references);
  for (unsigned s = 0; s < sweeps; ++s) builder.repeat(sweep);
  Case c{builder.build(), small_caches(1), {}, Bytes{20 << 10}};
  c.spec.threads = 4;
  c.spec.caches = "runs";
  return c;
}

TEST(Warp, jumpsOverMostRoundsOfALongLoop) {
  // Rows of a page: 4 threads with 1000 rows each, a slice is a row, of 4 pages. Two sweeps are 2000 rounds. The caches (512 KiB) hold what
  // the last 512 KiB / (4 threads x 2 new pages) = 16 rounds touched.
  const Case c = stencil(4096, 4000, {-4096, 0, 4096});
  EXPECT_GT(jumped_rounds(c), 1800u);
}

TEST(Warp, jumpsOverMostOfTheSweepThatComesToThePagesFirst) {
  // What the threads zero and read lies in their caches for some rounds, and a thread's last rows are the next one's first.
  EXPECT_GT(jumped_rounds(stencil(4096, 4000, {-4096, 0, 4096}, 1)), 800u);
  EXPECT_GT(jumped_rounds(stencil(4096, 4000, {0}, 1)), 400u) << "slices of two rows: 500 rounds";
}

TEST(Warp, waitsUntilRowsBeginInPagesAsBefore) {
  // Rows of 1.5 pages, a slice is one of 2 arrays (12 KiB): of two rounds the second begins in the middle of a page. 1000 rounds of all.
  const Case c = stencil(6144, 2000, {0});
  const std::uint64_t rounds = jumped_rounds(c);
  EXPECT_GT(rounds, 500u);
  EXPECT_EQ(rounds % 2, 0u);
}

TEST(Warp, staysOutOfRowsThatNeverBeginAlike) {
  // Rows of 4104 bytes: 512 rounds until one begins where a page does.
  EXPECT_EQ(jumped_rounds(stencil(4104, 2000, {0})), 0u);
}

TEST(Warp, staysOutOfVictimsThatChanceDecides) {
  Case c = stencil(4096, 2000, {-4096, 0, 4096});
  for (CacheDescription& cache : c.machine.caches) cache.ways = 8;
  c.machine.caches.back().victim = Victim::random;
  EXPECT_EQ(jumped_rounds(c), 0u);
}

TEST(Warp, staysOutWhereTheSetsOfALevelDecideByPlace) {
  // The row that was read a round before lies 128 lines back, and more with the written ones: of a second level of 256 lines in 4 ways a
  // part is held, by where the lines lie.
  Case c = stencil(4096, 2000, {-4096, 0, 4096});
  c.machine.caches[0].size = Bytes{2 << 10};
  c.machine.caches[1].size = Bytes{16 << 10};
  c.machine.caches[1].ways = 4;
  EXPECT_EQ(jumped_rounds(c), 0u);
}

TEST(Warp, staysOutOfSchedulesInOrderOfTime) {
  Case c = stencil(4096, 2000, {0});
  c.spec.distribution = "dynamic:4";
  EXPECT_EQ(jumped_rounds(c), 0u);
}

TEST(Warp, staysOutOfCachesByLines) {
  Case c = stencil(4096, 500, {0});
  c.spec.caches = "lines";
  for (CacheDescription& cache : c.machine.caches) cache.ways = 8;
  EXPECT_EQ(jumped_rounds(c), 0u);
}

TEST(Warp, staysOutWhereObjectsMoveDifferently) {
  // The offsets of an object move by a row in one reference and by two in another: its lines do not move as one.
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 4096 * 4100), b = builder.object("b", 4096 * 2050);
  const RegionId loop = builder.loop("loop", 2000);
  builder.nest(loop, {512}, {read(a, 0, {8}, 4096), read(a, 0, {8}, 8192), write(b, 0, {8}, 4096)});
  builder.repeat(loop);
  Case c = stencil(4096, 100, {0});
  c.workload = builder.build();
  EXPECT_EQ(jumped_rounds(c), 0u);
}

TEST(Warp, countsWhatStandsStillAsMovingByNothing) {
  // A table of a page that every row reads. It lies in one set of the translation buffer (16 sets), while the array moves by two pages a
  // round: all is as before every 8 rounds. The last level is filled by evictions: an inclusive one would lose the table every now and
  // then, as it does not see that it is read. 1000 rounds.
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 4096 * 8010), table = builder.object("table", 4096);
  const RegionId loop = builder.loop("loop", 8000);
  builder.nest(loop, {512}, {read(table, 0, {8}), write(a, 4096 * 5, {8}, 4096)});
  builder.repeat(loop);
  builder.repeat(loop);
  Case c = stencil(4096, 100, {0});
  c.workload = builder.build();
  c.machine.caches[2].inclusion = Inclusion::non_inclusive;
  const std::uint64_t rounds = jumped_rounds(c);
  EXPECT_GT(rounds, 500u);
  EXPECT_EQ(rounds % 8, 0u);
}

TEST(Warp, waitsUntilPagesOfAFoldedIndexStayTogether) {
  // 8 sets of 8 ways: rows of a page move together every 8 rounds.
  Case c = stencil(4096, 4000, {-4096, 0, 4096});
  c.machine.tlb.ways = 8;
  c.machine.tlb.index = TlbIndex::folded;
  const std::uint64_t rounds = jumped_rounds(c);
  EXPECT_GT(rounds, 1500u);
  EXPECT_EQ(rounds % 8, 0u);
}

// Random nests: arrays of rows that move by one row an iteration, read at neighbours, written, streamed past the caches, with tables
// that stand still, single accesses, rows that are no whole lines or pages, on random machines and under random policies.
class RandomCases {
public:
  explicit RandomCases(std::uint64_t seed) : random_{seed} {}

  Case next() {
    static const std::vector<std::int64_t> rows{4096, 8192, 2048, 1024, 12288, 6144, 4160, 1000, 512};
    const std::int64_t row = one_of(rows), iterations = between(200, 1500);
    WorkloadBuilder builder;
    std::vector<ObjectId> arrays;
    const std::int64_t widest = std::max<std::int64_t>(row, 1);
    for (std::int64_t i = between(1, 3); i > 0; --i)
      arrays.push_back(builder.object("array", static_cast<std::uint64_t>(widest * (2 * iterations + 16))));
    const ObjectId table = builder.object("table", 64 * 1024);
    std::vector<RegionId> loops;
    for (std::int64_t l = between(1, 2); l > 0; --l) {
      const RegionId loop = builder.loop("loop", iterations);
      std::vector<Reference> references;
      const auto count = static_cast<std::uint32_t>(row / 8);
      for (std::int64_t r = between(1, 4); r > 0; --r) {
        const ObjectId array = one_of(arrays);
        const std::int64_t shift = between(0, 15) == 0 ? 2 * row : row, offset = between(4, 8) * row + (between(0, 3) == 0 ? 8 : 0);
        switch (between(0, 4)) {
          case 0: references.push_back(write(array, offset, {8}, shift)); break;
          case 1: references.push_back(streamed_write(array, offset, {8}, shift)); break;
          default: references.push_back(read(array, offset, {8}, shift));
        }
      }
      if (between(0, 4) == 0) references.push_back(read(table, 8 * between(0, 100), {8}));
      builder.nest(loop, {count}, references);
      if (between(0, 4) == 0) builder.stream(loop, AccessKind::read, arrays.front(), {64, 8 * 1024, 640}, 0, row);
      loops.push_back(loop);
    }
    for (std::int64_t times = between(1, 3); times > 0; --times)
      for (const RegionId loop : loops) builder.repeat(loop);

    Case c{builder.build(), small_caches(static_cast<unsigned>(between(1, 2))), {}, Bytes{row * between(2, 12)}};
    if (between(0, 3) == 0) c.machine.caches[1].ways = c.machine.caches[2].ways = 8;
    if (between(0, 3) == 0) c.machine.caches[2].inclusion = Inclusion::non_inclusive;
    if (between(0, 3) == 0) c.machine.caches[1].inclusion = Inclusion::exclusive;
    if (between(0, 3) == 0) c.machine.caches[2].cores_per_cache = 2;
    if (between(0, 7) == 0) c.machine.tlb.entries = 0;
    static const std::vector<std::string> placements{"first-touch", "bind:0", "interleave"},
        distributions{"static", "static:100", "static"};
    static const std::vector<std::string> pages{"4KiB", "4KiB", "thp"}, mappings{"compact", "scatter"};
    c.spec.threads = static_cast<unsigned>(between(1, 4));
    c.spec.caches = "runs";
    c.spec.placement = one_of(placements);
    c.spec.distribution = one_of(distributions);
    c.spec.mapping = one_of(mappings);
    c.spec.pages = one_of(pages);
    if (between(0, 3) == 0) c.machine.tlb.index = TlbIndex::folded;
    if (c.machine.tlb.entries > 0 && between(0, 3) == 0) c.machine.tlb.ways = 8;
    if (c.machine.tlb.entries > 0 && between(0, 2) == 0) {
      c.machine.tlb.first_entries = 16;
      c.machine.tlb.first_miss_penalty = Time::nanoseconds(3);
    }
    return c;
  }

private:
  std::int64_t between(std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>{low, high}(random_); }
  template <class List>
  typename List::value_type one_of(const List& list) {
    return list[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(list.size()) - 1))];
  }

  std::mt19937_64 random_;
};

TEST(Warp, changesNoResultOfRandomNests) {
  unsigned with_jumps = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    with_jumps += jumped_rounds(RandomCases{seed}.next()) > 0;
    if (HasFailure()) return;
  }
  EXPECT_GE(with_jumps, 15u);  // else little was compared
}

}  // namespace
}  // namespace homenode::test
