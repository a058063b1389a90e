// Total memory lines (reads, write-backs, bypassed writes) of the run-granular model against the exact hierarchy, which has
// sets, random page frames and hashed slices. The oracle's threads advance row by row together; the model gives each thread a
// quantum of at most 1/16 of the shared cache in turn.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/machines.hpp"
#include "tests/unit/models/caches/exact_cache_oracle.hpp"
#include "tests/unit/models/caches/programs.hpp"

namespace homenode::test {
namespace {

struct Caches {
  std::int64_t l1, l2, l3;
  unsigned l3_ways, slices;
  Inclusion inner = Inclusion::inclusive, outer = Inclusion::inclusive;
  unsigned l1_ways = 8, l2_ways = 8;
};

Machine machine_with(const Caches& c, unsigned cores) {
  Machine m = one_node(cores);
  m.caches[0].size = Bytes{c.l1};
  m.caches[1].size = Bytes{c.l2};
  m.caches[1].inclusion = c.inner;
  m.caches[2].size = Bytes{c.l3};
  m.caches[2].ways = c.l3_ways;
  m.caches[2].inclusion = c.outer;
  return m;
}
std::vector<exact::Level> levels_of(const Caches& c, unsigned cores) {
  const auto filling = [](Inclusion inclusion) {
    return inclusion == Inclusion::inclusive   ? exact::Filling::inclusive
           : inclusion == Inclusion::exclusive ? exact::Filling::by_evictions
                                               : exact::Filling::by_evictions_shared;
  };
  return {{static_cast<std::uint64_t>(c.l1), c.l1_ways, 1, 1, exact::Filling::inclusive},
          {static_cast<std::uint64_t>(c.l2), c.l2_ways, 1, 1, filling(c.inner)},
          {static_cast<std::uint64_t>(c.l3), c.l3_ways, cores, c.slices, filling(c.outer)}};
}
void expect_within(double share, std::uint64_t found, std::uint64_t expected, const char* what) {
  ::testing::Test::RecordProperty(what, std::to_string(found) + " of " + std::to_string(expected));
  EXPECT_NEAR(static_cast<double>(found), static_cast<double>(expected), share * static_cast<double>(expected))
      << what << ": " << 100.0 * (static_cast<double>(found) / static_cast<double>(expected) - 1) << " %";
}

// Sweeps of a five-point stencil by `threads` threads, each a block of rows; compares memory lines and transfers.
struct StencilCase {
  std::uint32_t n;
  std::uint16_t width;
  bool power;
  int sweeps;
  unsigned threads;
  Caches caches;
  double tolerance;
  std::uint64_t seed = 1;
};

std::pair<Totals, exact::Counts> run_stencil(const StencilCase& c) {
  const std::uint64_t array = (std::uint64_t{c.width} * c.n * c.n + 4095) / 4096 * 4096;
  const std::vector<std::uint64_t> bases{0, array, 2 * array};
  const Machine machine = machine_with(c.caches, c.threads);
  RunLru model{machine};
  const auto options = LineTouchOptions::of(machine, StoreTreatment::regular);
  const std::array<Program, 2> programs{stencil(c.n, c.width, c.power, 0, 1), stencil(c.n, c.width, c.power, 1, 0)};
  exact::Hierarchy oracle(levels_of(c.caches, c.threads), c.threads, base_address, 3 * array, c.seed);
  Totals totals;
  const std::int64_t rows = c.n - 2;
  const auto begin = [&](unsigned thread) { return rows * thread / c.threads; };
  // A row touches 3 rows and 1 or 2 more.
  const std::int64_t row_bytes = std::int64_t{c.width} * c.n * 5;
  const std::int64_t quantum = std::max<std::int64_t>(1, c.caches.l3 / 16 / row_bytes);
  const std::uint64_t power = base_address + 2 * array;
  for (int sweep = 0; sweep < c.sweeps; ++sweep) {
    const std::uint64_t source = base_address + bases[sweep % 2], target = base_address + bases[1 - sweep % 2];
    std::int64_t longest = 0;
    for (unsigned t = 0; t < c.threads; ++t) longest = std::max(longest, begin(t + 1) - begin(t));
    for (std::int64_t r = 0; r < longest; r += quantum)
      for (unsigned t = 0; t < c.threads; ++t)
        replay(model, CoreId{t}, programs[static_cast<std::size_t>(sweep % 2)], std::min(begin(t) + r, begin(t + 1)),
               std::min(begin(t) + r + quantum, begin(t + 1)), options, bases, totals);
    for (std::int64_t r = 0; r < longest; ++r)
      for (unsigned t = 0; t < c.threads; ++t)
        if (begin(t) + r < begin(t + 1))
          walk_stencil_row(
              c.n, c.width, source, target, c.power ? &power : nullptr, static_cast<std::uint64_t>(begin(t) + r + 1),
              [&](std::uint64_t address) { oracle.read(t, address); }, [&](std::uint64_t address) { oracle.write(t, address); });
  }
  flush(model, totals);
  oracle.flush();
  EXPECT_EQ(totals.accesses, oracle.counts.accesses);
  return {totals, oracle.counts};
}

void check_stencil(const StencilCase& c) {
  const auto [model, exact] = run_stencil(c);
  expect_within(c.tolerance, model.memory(), exact.memory(), "memory lines");
}

constexpr std::int64_t KiB = 1024, MiB = 1024 * 1024;
const Caches nehalem{32 * KiB, 256 * KiB, 8 * MiB, 16, 8};
const Caches nehalem_ex{32 * KiB, 256 * KiB, 24 * MiB, 24, 8};
const Caches istanbul{64 * KiB, 512 * KiB, 5 * MiB, 40, 1, Inclusion::exclusive, Inclusion::non_inclusive, 2, 16};

TEST(RunLruAgainstExact, HotspotWithItsPowerStream) {  // floats, three arrays of 4 MiB against 8 MiB
  check_stencil({1024, 4, true, 2, 1, nehalem, 0.02});
}
TEST(RunLruAgainstExact, HotspotSmallerThanTheCacheStaysInIt) {  // C81: no traffic but the first
  const auto [model, exact] = run_stencil({512, 4, true, 4, 1, nehalem, 0.02});
  expect_within(0.02, model.memory(), exact.memory(), "memory lines");
  // Each line once in, each written line once out: 3 MiB read, 2 MiB written.
  EXPECT_LE(model.reads, 3U * 16384);
  EXPECT_LE(model.writebacks, 2U * 16384);
}
TEST(RunLruAgainstExact, HotspotOnAnExclusiveHierarchy) { check_stencil({1024, 4, true, 2, 1, istanbul, 0.02}); }

// Rows of a power of two in bytes: without random frames all rows would fall into the same sets.
TEST(RunLruAgainstExact, RowsOfAPowerOfTwo) { check_stencil({2048, 8, false, 2, 1, nehalem, 0.02}); }
TEST(RunLruAgainstExact, RowsOfAPowerOfTwoOnAnExclusiveHierarchy) { check_stencil({2048, 8, false, 1, 1, istanbul, 0.02}); }

// Working sets of 0.5 to 1.5 times the last level: sets overflow one by one there, by the binomial law of their filling.
TEST(RunLruAgainstExact, SetsOverflowOneByOneAroundTheCapacity) {
  Caches many_ways = nehalem;
  many_ways.l3_ways = 32;
  for (const Caches& caches : {nehalem, many_ways})
    for (const std::uint32_t n : {512U, 600U, 680U, 724U, 780U, 900U}) check_stencil({n, 8, false, 4, 1, caches, 0.02, 7});
}

TEST(RunLruAgainstExact, EightThreadsShareTheLastLevel) {
  check_stencil({1536, 8, false, 2, 8, nehalem_ex, 0.05});
  check_stencil({1024, 8, true, 2, 8, nehalem, 0.05});
}

// Neighbours' rows: in every sweep but the first, the rows next to a block were written by the neighbour. With private caches
// that hold a block these are the only lines that move, and they move cache to cache: 2 rows at each inner border.
TEST(RunLruAgainstExact, HaloTransfersAreExactInCount) {
  const Caches private_blocks{32 * KiB, 1 * MiB, 16 * MiB, 16, 8};
  for (const unsigned threads : {2U, 4U}) {
    const std::uint32_t n = 256;  // rows of 32 lines
    const int sweeps = 5;
    const auto [model, exact] = run_stencil({n, 8, false, sweeps, threads, private_blocks, 0.0});
    const std::uint64_t expected = 2ULL * (threads - 1) * (sweeps - 1) * (n / 8);
    EXPECT_EQ(model.transfers, expected);
    EXPECT_EQ(exact.transfers, expected);
    // Writing a row that the neighbour read in the sweep before takes the ownership back.
    EXPECT_EQ(model.upgrades, exact.upgrades);
    EXPECT_EQ(model.memory(), exact.memory());
  }
}

// Blocks of the lattice, dealt out in contiguous shares; all threads work at once.
struct LatticeCase {
  Lattice lattice;
  unsigned threads;
  Caches caches;
  StoreTreatment stores;
  double tolerance;
};

std::pair<Totals, exact::Counts> run_lattice(const LatticeCase& c) {
  const Lattice& l = c.lattice;
  const std::uint64_t array = (8 * static_cast<std::uint64_t>(l.ni * l.nj * l.nk) + 4095) / 4096 * 4096;
  const std::vector<std::uint64_t> bases{0, array};
  const Machine machine = machine_with(c.caches, c.threads);
  RunLru model{machine};
  const auto options = LineTouchOptions::of(machine, c.stores);
  const Program program = lattice_sweep(l);
  Totals totals;
  const auto begin = [&](unsigned thread) { return l.blocks() * thread / c.threads; };
  // A block is larger than a quantum: the threads take turns by groups of its rows.
  const auto quantum = static_cast<std::uint64_t>(c.caches.l3 / 64 / 16);
  std::vector<LineTouches> touches(c.threads, LineTouches{options});
  for (unsigned t = 0; t < c.threads; ++t)
    touches[t].start(program.patterns, program.body, begin(t), begin(t + 1),
                     [&](ObjectId object) { return Address{base_address + bases[object.index()]}; });
  std::vector<LineTouch> group;
  CacheOutcome outcome;
  for (unsigned left = c.threads; left > 0;) {
    left = 0;
    for (unsigned t = 0; t < c.threads; ++t) {
      std::uint64_t lines = 0;
      bool more = true;
      while (lines < quantum && (more = touches[t].next(group))) {
        outcome.clear();
        model.access(CoreId{t}, group, outcome);
        totals.add(outcome);
        for (const auto& touch : group) lines += touch.lines.size();
      }
      left += more;
    }
  }
  flush(model, totals);
  exact::Hierarchy oracle(levels_of(c.caches, c.threads), c.threads, base_address, 2 * array, 3);
  struct Walk {
    std::int64_t block, i, j;
  };
  std::vector<Walk> walks;
  for (unsigned t = 0; t < c.threads; ++t) {
    const auto box = l.box(begin(t));
    walks.push_back({begin(t), box.i0, box.j0});
  }
  for (bool more = true; more;) {
    more = false;
    for (unsigned t = 0; t < c.threads; ++t) {
      Walk& walk = walks[t];
      if (walk.block >= begin(t + 1)) continue;
      more = true;
      auto box = l.box(walk.block);
      walk_lattice_row(
          l, walk.i, walk.j, box.k0, box.k1, base_address, base_address + array, [&](std::uint64_t address) { oracle.read(t, address); },
          [&](std::uint64_t address) {
            if (c.stores == StoreTreatment::nontemporal)
              oracle.stream(t, address);
            else
              oracle.write(t, address);
          });
      if (++walk.j < box.j1) continue;
      walk.j = box.j0;
      if (++walk.i < box.i1) continue;
      if (++walk.block < begin(t + 1)) {
        box = l.box(walk.block);
        walk.i = box.i0;
        walk.j = box.j0;
      }
    }
  }
  oracle.flush();
  EXPECT_EQ(totals.accesses, oracle.counts.accesses);
  return {totals, oracle.counts};
}

TEST(RunLruAgainstExact, BlocksOfALattice) {
  for (const auto stores : {StoreTreatment::regular, StoreTreatment::nontemporal}) {
    const LatticeCase c{{40, 120, 600, 10, 10, 600}, 1, nehalem, stores, 0.02};
    const auto [model, exact] = run_lattice(c);
    expect_within(c.tolerance, model.memory(), exact.memory(), "memory lines");
  }
}
TEST(RunLruAgainstExact, BlocksOfALatticeOnAllCores) {
  for (const auto& [caches, threads] : {std::pair{nehalem, 4U}, std::pair{istanbul, 6U}})
    for (const auto stores : {StoreTreatment::regular, StoreTreatment::nontemporal}) {
      const LatticeCase c{{60, 80, 600, 10, 10, 600}, threads, caches, stores, 0.05};
      const auto [model, exact] = run_lattice(c);
      expect_within(c.tolerance, model.memory(), exact.memory(), "memory lines");
    }
}

// S4's blocks of 600 x 10 x 10: the halo in the outermost direction is loaded again, 12 planes for 10, the other halo stays in
// the cache. Bytes an update = 8 x 1.2 read + 8 written = 17.6 with non-temporal stores, + 8 for the write-allocate = 25.6
// without; at the surface of the lattice and for words beside the inner points a little more (600^2 / 598^2 = 1.007).
TEST(RunLru, BlocksOfS4MoveTheBytesThatItsArithmeticSays) {
  const Lattice lattice{2400, 600, 600, 10, 10, 600};
  const Program program = lattice_sweep(lattice);
  const std::vector<std::uint64_t> bases{0, 8ULL * 2400 * 600 * 600};
  for (const auto& [caches, threads] : {std::pair{istanbul, 6U}, std::pair{nehalem, 4U}, std::pair{nehalem_ex, 8U}})
    for (const auto stores : {StoreTreatment::nontemporal, StoreTreatment::regular}) {
      const Machine machine = machine_with(caches, threads);
      RunLru model{machine};
      const auto options = LineTouchOptions::of(machine, stores);
      std::vector<LineTouches> touches(threads, LineTouches{options});
      // Each thread does two rows of blocks (60 in j) somewhere inside the lattice.
      std::int64_t updates = 0;
      for (unsigned t = 0; t < threads; ++t) {
        const std::int64_t first = 60 * (10 + 20 * static_cast<std::int64_t>(t)), last = first + 120;
        updates += lattice.updates(first, last);
        touches[t].start(program.patterns, program.body, first, last,
                         [&](ObjectId object) { return Address{base_address + bases[object.index()]}; });
      }
      Totals totals;
      std::vector<LineTouch> group;
      CacheOutcome outcome;
      const auto quantum = static_cast<std::uint64_t>(caches.l3 / 64 / 16);
      for (unsigned left = threads; left > 0;) {
        left = 0;
        for (unsigned t = 0; t < threads; ++t) {
          std::uint64_t lines = 0;
          bool more = true;
          while (lines < quantum && (more = touches[t].next(group))) {
            outcome.clear();
            model.access(CoreId{t}, group, outcome);
            totals.add(outcome);
            for (const auto& touch : group) lines += touch.lines.size();
          }
          left += more;
        }
      }
      flush(model, totals);
      const double bytes = 64.0 * static_cast<double>(totals.memory()) / static_cast<double>(updates);
      const double expected = stores == StoreTreatment::nontemporal ? 17.6 : 25.6;
      EXPECT_NEAR(bytes, expected * 1.007, 0.01 * expected) << caches.l3 / MiB << " MiB, " << threads << " threads";
    }
}

}  // namespace
}  // namespace homenode::test
