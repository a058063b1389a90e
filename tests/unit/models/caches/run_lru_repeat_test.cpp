// Whether caches repeat, and what they do once they have been moved.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "models/caches/run_lru.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

Machine without_sets() {
  Machine machine = two_sockets(2);
  machine.caches[1].size = Bytes{64 << 10};
  machine.caches[2].size = Bytes{256 << 10};
  for (CacheDescription& cache : machine.caches) cache.ways = 0;
  return machine;
}

LineTouch touch(std::uint64_t first, std::uint64_t lines, bool writes) {
  LineTouch touch;
  touch.lines = LineRange::of(first, first + lines);
  touch.reads = !writes;
  touch.writes = writes;
  touch.accesses = lines;
  return touch;
}

// Row `row` of each of four cores, which share the last row of their neighbour: 64 lines read, the 64 before read again, 64 written.
void pass_rows(RunLru& caches, std::uint64_t row, std::vector<CacheOutcome>& outcomes) {
  for (std::size_t core = 0; core < 4; ++core) {
    const std::uint64_t from = (std::uint64_t{1} << 20) + core * 64 * 100'000 + row * 64, to = from + (std::uint64_t{1} << 30);
    const std::array group{touch(from - 64, 128, false), touch(to, 64, true)};
    caches.access(CoreId{core}, group, outcomes.emplace_back());
  }
}

TEST(RunLruRepeat, movedTheyDoWhatTheyWouldHaveDone) {
  // 2 MiB of rows fill all caches. Then the state of each row is that of the one before, 64 lines further on. Moved over 1000 rows, the
  // caches give for row 1300 + 1000 what they gave, not moved, for row 1300.
  RunLru caches{without_sets()};
  const LineMoves moves = *LineMoves::of({{LineRange::of(0, std::uint64_t{1} << 40), 64}});
  std::vector<CacheOutcome> before, after;
  for (std::uint64_t row = 0; row < 300; ++row) pass_rows(caches, row, before);
  const auto contents = caches.contents();
  before.clear();
  pass_rows(caches, 300, before);
  EXPECT_TRUE(caches.repeats(*contents, moves));
  EXPECT_FALSE(caches.repeats(*contents, *LineMoves::of({{LineRange::of(0, std::uint64_t{1} << 40), 128}})));
  caches.move(moves, 1000);
  EXPECT_FALSE(caches.repeats(*contents, moves));
  pass_rows(caches, 1301, after);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].hit_lines, before[i].hit_lines);
    EXPECT_EQ(after[i].hit_weight, before[i].hit_weight);
    ASSERT_EQ(after[i].reads.size(), before[i].reads.size());
    ASSERT_EQ(after[i].writebacks.size(), before[i].writebacks.size());
    for (std::size_t r = 0; r < before[i].reads.size(); ++r)
      EXPECT_EQ(after[i].reads[r].lines.first - before[i].reads[r].lines.first, 1001u * 64u);
    for (std::size_t r = 0; r < before[i].writebacks.size(); ++r)
      EXPECT_EQ(after[i].writebacks[r].first - before[i].writebacks[r].first, 1001u * 64u);
  }
}

TEST(RunLruRepeat, doNotWhileTheyFill) {
  RunLru caches{without_sets()};
  const LineMoves moves = *LineMoves::of({{LineRange::of(0, std::uint64_t{1} << 40), 64}});
  std::vector<CacheOutcome> outcomes;
  for (std::uint64_t row = 0; row < 5; ++row) {
    const auto contents = caches.contents();
    pass_rows(caches, row, outcomes);
    EXPECT_FALSE(caches.repeats(*contents, moves)) << row;
  }
}

TEST(RunLruRepeat, cannotBeSaidOfRandomVictims) {
  Machine machine = without_sets();
  machine.caches[2].ways = 16;
  machine.caches[2].victim = Victim::random;
  EXPECT_EQ(RunLru{machine}.contents(), nullptr);
}

TEST(RunLruRepeat, doNotWhereAPlaceDecided) {
  // A second level of 1024 lines in sets of 8: 768 lines later a line is held by chance, P(Poisson(6) < 8) = 0.74, all with the same moves.
  Machine machine = without_sets();
  machine.caches[1].ways = 8;
  RunLru caches{machine};
  const LineMoves still;
  std::vector<CacheOutcome> outcomes;
  const auto pass = [&] {
    for (std::uint64_t first = 0; first < 768; first += 64) {
      const std::array group{touch(first, 64, false)};
      caches.access(CoreId{0}, group, outcomes.emplace_back());
    }
  };
  for (int times = 0; times < 20; ++times) pass();
  const auto contents = caches.contents();
  pass();
  EXPECT_FALSE(caches.repeats(*contents, still));
}

}  // namespace
}  // namespace homenode::test
