// A snoop filter whose sets are one line each: lines 0 and 32 of a page share one.
#include <gtest/gtest.h>

#include "models/caches/set_caches.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

// Two sockets of two cores; each level holds whatever a test touches. A filter knows 32 lines of its socket, as many as the second levels
// of two cores hold.
Machine filtered(unsigned ways) {
  Machine machine = two_sockets(2);
  const auto fully = [&](std::size_t level, std::int64_t lines) {
    machine.caches[level].size = Bytes{64 * lines};
    machine.caches[level].ways = static_cast<unsigned>(lines);
  };
  fully(0, 8);
  fully(1, 16);
  fully(2, 64);
  machine.caches[2].inclusion = Inclusion::non_inclusive;
  if (ways != 0) {
    machine.caches[2].snoop_filter = Bytes{32 * 64};
    machine.caches[2].snoop_filter_ways = ways;
  }
  validate(machine);
  return machine;
}

struct Bench {
  explicit Bench(unsigned ways) : Bench{filtered(ways)} {}
  explicit Bench(const Machine& machine) : caches{machine} {}
  LineFate access(unsigned core, std::uint64_t line, bool writes = false) {
    LineTouch touch;
    touch.lines = {page + line, page + line + 1};
    touch.reads = !writes;
    touch.writes = writes;
    return caches.access_line(CoreId{core}, page + line, touch, outcome);
  }
  LineNumber page{1 << 20};
  SetCaches caches;
  CacheOutcome outcome;
};

TEST(SnoopFilter, drivesOutTheOldestLineOfAFullSet) {
  Bench bench{1};
  bench.access(0, 0);
  bench.access(0, 1);
  EXPECT_EQ(bench.access(0, 0).level, 0U);
  bench.access(0, 32);
  EXPECT_EQ(bench.access(0, 1).level, 0U);  // another set
  const LineFate again = bench.access(0, 0);
  EXPECT_EQ(again.from, LineFate::From::cache);
  EXPECT_EQ(again.level, 2U);  // the last level took it in
}

TEST(SnoopFilter, neverBindsWhereItsSetsAreWideEnough) {
  for (const unsigned ways : {0U, 2U, 32U}) {
    Bench bench{ways};
    bench.access(0, 0);
    bench.access(0, 32);
    EXPECT_EQ(bench.access(0, 0).level, 0U) << ways;
  }
}

TEST(SnoopFilter, isOfAllCoresOfItsCacheAndOfNoOther) {
  Bench bench{1};
  bench.access(0, 0);
  bench.access(2, 32);  // the other socket
  EXPECT_EQ(bench.access(0, 0).level, 0U);
  bench.access(1, 32);
  EXPECT_EQ(bench.access(0, 0).level, 2U);
}

TEST(SnoopFilter, drivesModifiedLinesIntoTheLastLevel) {
  Bench bench{1};
  bench.access(0, 0, true);
  bench.access(0, 32);
  EXPECT_TRUE(bench.outcome.writebacks.empty());
  const SetCaches::Held held = bench.caches.held(CoreId{0u}, bench.page);
  EXPECT_TRUE(held.here);
  EXPECT_TRUE(held.dirty_here);
}

// Of more than 64 cores two share a bit. One core streams through its second level: what it pushes out leaves the filter, so that another
// core's line stays, which is older than a filter's worth of lines.
TEST(SnoopFilter, entriesGoWithLinesThatArePushedOutOfManyCores) {
  for (const unsigned cores : {32U, 40U}) {
    Machine machine = filtered(0);
    machine.core_node.clear();
    for (std::size_t node = 0; node < 2; ++node) machine.core_node.insert(machine.core_node.end(), cores, NodeId{node});
    machine.caches[2].cores_per_cache = cores;
    machine.caches[2].snoop_filter = Bytes{64 * 16 * cores};
    machine.caches[2].snoop_filter_ways = 16 * cores;
    validate(machine);
    Bench bench{machine};
    bench.access(5, 0);
    for (std::uint64_t line = 64; line < 64 + 32 * cores; ++line) bench.access(0, line);
    EXPECT_EQ(bench.access(5, 0).level, 0U) << cores;
  }
}

// A store of the other socket takes line 0 from the caches of this one: its entry is free for line 32, which drives out nothing.
TEST(SnoopFilter, entriesGoWithTheirLines) {
  Bench bench{2};  // 16 sets: lines 0, 16, 32 and 48 share one
  bench.access(0, 0);
  bench.access(0, 16);
  bench.access(2, 0, true);
  bench.access(0, 32);
  EXPECT_EQ(bench.access(0, 16).level, 0U);
  bench.access(0, 48);  // full again: the oldest is 16, whose entry no later hit renews
  EXPECT_EQ(bench.access(0, 32).level, 0U);
  EXPECT_EQ(bench.access(0, 16).level, 2U);
}

// A read that finds its line in the last level leaves alone who may hold it inside: a filter's entry goes by that. Second levels are
// shared.
TEST(SnoopFilter, entriesOverSharedLevelsGoWithAnotherSocketsStore) {
  Machine machine = filtered(2);
  machine.core_node.clear();
  for (std::size_t node = 0; node < 2; ++node) machine.core_node.insert(machine.core_node.end(), 4, NodeId{node});
  machine.caches.resize(2);
  machine.caches[0].cores_per_cache = 2;
  machine.caches[1] = filtered(2).caches[2];
  machine.caches[1].level = 2;
  machine.caches[1].cores_per_cache = 4;
  validate(machine);
  Bench bench{machine};  // 16 sets: lines 0, 16 and 32 share one
  bench.access(2, 16);
  bench.access(4, 0, true);
  bench.access(0, 0);
  for (std::uint64_t line = 1; line <= 8; ++line) bench.access(0, line);  // line 0 leaves the first level, its entry stays
  bench.access(6, 0);
  bench.access(4, 0, true);
  bench.access(2, 32);
  EXPECT_EQ(bench.access(2, 16).level, 0U);
}

}  // namespace
}  // namespace homenode::test
