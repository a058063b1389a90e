// Caches whose victims are random: the law of a sweep, the model by ranges against the one by lines, and the best that any choice could do.
#include "models/caches/random_victims.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "models/caches/choose_caches.hpp"
#include "models/caches/recency_stack.hpp"
#include "sim/machine/random_sweep.hpp"
#include "tests/support/machines.hpp"
#include "tests/unit/models/caches/programs.hpp"

namespace homenode::test {
namespace {

constexpr LineNumber begin{base_address >> 6};

TEST(RandomSweep, KeepsWhatItsEquationSays) {
  EXPECT_EQ(random_sweep_hits(0.5), 1);
  EXPECT_EQ(random_sweep_hits(1), 1);
  EXPECT_NEAR(random_sweep_hits(1.5), 0.4172, 1e-4);  // exp(-0.5828 x 1.5) = 0.4172
  EXPECT_NEAR(random_sweep_hits(2), 0.2032, 1e-4);    // exp(-0.7968 x 2) = 0.2032
  for (double ratio = 1.01; ratio < 8; ratio *= 1.1) {
    const double hits = random_sweep_hits(ratio);
    EXPECT_NEAR(hits, std::exp(-(1 - hits) * ratio), 1e-9) << ratio;
    EXPECT_LT(hits, 1 / ratio) << "more than any choice keeps, " << ratio;
  }
}

std::uint64_t held(const RandomVictims& victims, LineRange lines, const RandomVictims::Clock& since) {
  std::uint64_t sum = 0;
  while (lines.size() > 0) {
    const RandomVictims::Fate fate = victims.fate(lines, since);
    sum += fate.held ? fate.lines : 0;
    lines.first = lines.first + fate.lines;
  }
  return sum;
}

TEST(RandomVictims, OfLinesThatWereThereAShareIsLeft) {
  constexpr std::uint64_t lines = 1 << 16;
  RandomVictims victims{lines, 0};
  const RandomVictims::Clock start = victims.now();
  const LineRange first{begin, begin + lines}, second{begin + lines, begin + 2 * lines};
  victims.filled(first);
  victims.settle();
  EXPECT_NEAR(static_cast<double>(held(victims, first, start)), lines, 0.01 * lines);  // as many as there are places
  const RandomVictims::Clock full = victims.now();
  victims.filled({second.first, second.first + lines / 2});
  victims.settle();
  // lines / 2 evictions: exp(-1/2) is left
  EXPECT_NEAR(static_cast<double>(held(victims, first, full)), std::exp(-0.5) * lines, 0.02 * lines);
  // What leaves makes room: as many come without an eviction.
  const RandomVictims::Clock before = victims.now();
  const std::uint64_t room = held(victims, first, full);
  victims.left(first, full);
  victims.filled({second.first + lines / 2, second.first + lines / 2 + room * 9 / 10});
  victims.settle();
  EXPECT_NEAR(RandomVictims::mean(victims.now()), RandomVictims::mean(before), 0.01);
}

TEST(RandomVictims, ASingleLevelTellsTheClosedFormTheLawOfASweep) {
  const StackBounds bounds{{{1 << 15, 0, Victim::random}}};
  ASSERT_TRUE(bounds.random.has_value());
  EXPECT_NEAR(bounds.random->sweep_hits(2 << 15), random_sweep_hits(2), 1e-6);
  EXPECT_NEAR(static_cast<double>(bounds.distances.front()), 1 << 15, 100);  // evenly filled: all of it
  // In sets of 16 ways some are crowded before the cache is full, and some are not when it is overfull.
  const StackBounds sets{{{1 << 15, 16, Victim::random}}};
  EXPECT_LT(sets.random->sweep_hits(0.9 * (1 << 15)), 0.95);
  EXPECT_GT(sets.random->sweep_hits(2 << 15), random_sweep_hits(2));
}

Machine one_level(std::int64_t lines) {
  Machine m = one_node(1);
  m.caches.resize(1);
  m.caches[0].size = Bytes{lines * 64};
  m.caches[0].ways = static_cast<unsigned>(lines);
  m.caches[0].victim = Victim::random;
  return m;
}

bool reads_memory(CacheModel& model, std::uint64_t number) {
  const LineTouch touch{.lines = {begin + number, begin + number + 1}, .reads = true, .accesses = 1};
  CacheOutcome outcome;
  model.access(CoreId{0}, {&touch, 1}, outcome);
  return !outcome.reads.empty();
}

TEST(RandomVictimsByLines, AFullSetGivesUpOneOfItsLinesEachAsOften) {
  std::map<std::uint64_t, int> lost;
  constexpr int seeds = 4000;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const auto model = make_caches("lines", one_level(4), seed);
    for (std::uint64_t line = 0; line < 5; ++line) EXPECT_TRUE(reads_memory(*model, line));  // four places, and one more
    for (std::uint64_t line = 0; line < 5; ++line) {
      if (!reads_memory(*model->clone(), line)) continue;
      EXPECT_LT(line, 4U) << "the one that came last is there";
      ++lost[line];
    }
  }
  int all = 0;
  for (const auto& [line, times] : lost) {
    EXPECT_NEAR(times, seeds * 0.25, 5 * std::sqrt(seeds * 0.25 * 0.75)) << "line " << line;
    all += times;
  }
  EXPECT_EQ(all, seeds) << "one each time";
}

// L. A. Belady, 1966: hits of a cache that gives up what is used farthest ahead.
std::uint64_t most_hits(const std::vector<std::uint64_t>& lines, std::size_t capacity) {
  std::vector<std::size_t> next(lines.size());
  std::map<std::uint64_t, std::size_t> seen;
  for (std::size_t i = lines.size(); i-- > 0;) {
    next[i] = seen.count(lines[i]) ? seen[lines[i]] : lines.size() + i;
    seen[lines[i]] = i;
  }
  std::set<std::pair<std::size_t, std::uint64_t>> cache;  // by next use
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (cache.erase({i, lines[i]}) > 0)
      ++hits;
    else if (cache.size() == capacity)
      cache.erase(std::prev(cache.end()));
    cache.insert({next[i], lines[i]});
  }
  return hits;
}

TEST(RandomVictimsByLines, HitsAreNoMoreThanTheBestChoiceAndNoFewerThanNone) {
  std::mt19937_64 random{11};
  for (const std::uint64_t lines : {40U, 70U, 130U, 400U}) {
    for (const bool sweeps : {true, false}) {
      std::vector<std::uint64_t> sequence;
      for (std::uint64_t i = 0; i < 8000; ++i) sequence.push_back(sweeps ? i % lines : random() % (random() % 2 == 0 ? lines : lines / 4));
      const auto model = make_caches("lines", one_level(64), lines);
      std::uint64_t hits = 0;
      for (const std::uint64_t line : sequence) hits += reads_memory(*model, line) ? 0 : 1;
      EXPECT_LE(hits, most_hits(sequence, 64)) << lines;
      EXPECT_TRUE(lines >= 64 || hits == most_hits(sequence, 64)) << "all fit, and " << hits << " hits";
      if (sweeps && lines > 64) {
        const double share = static_cast<double>(hits) / static_cast<double>(sequence.size());
        EXPECT_NEAR(share, random_sweep_hits(static_cast<double>(lines) / 64), 0.05) << lines;
      }
    }
  }
}

struct Swept {
  double reads = 0, writebacks = 0;  // of the lines touched, from the fourth sweep on
};

// Sweeps of one core over ratio x the last level, in rows of 64 lines; `hot`: each row of the sweep but one in so many is followed by one
// of a set of a quarter of the last level, which is read again and again.
Swept swept(const std::string& name, const Machine& machine, double ratio, bool writes, unsigned hot) {
  const auto model = make_caches(name, machine, 5);
  const auto held = static_cast<std::uint64_t>(machine.caches.back().size.count() / 64);
  const auto rows = static_cast<std::uint64_t>(ratio * static_cast<double>(held) / 64);
  const LineNumber hot_begin = begin + (std::uint64_t{1} << 24);
  std::uint64_t hot_row = 0, lines = 0;
  Totals all, warm;
  const auto touch = [&](LineNumber first, bool write) {
    const LineTouch row{.lines = {first, first + 64}, .reads = !write, .writes = write, .accesses = 512};
    CacheOutcome outcome;
    model->access(CoreId{0}, {&row, 1}, outcome);
    all.add(outcome);
    lines += 64;
  };
  constexpr int sweeps = 9, warming = 3;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::uint64_t row = 0; row < rows; ++row) {
      touch(begin + row * 64, writes);
      if (hot > 0 && row % hot == 0) touch(hot_begin + 64 * (hot_row++ % (held / 256)), false);
    }
    if (sweep + 1 == warming) warm = all, lines = 0;
  }
  const auto share = [&](std::uint64_t end, std::uint64_t start) { return static_cast<double>(end - start) / static_cast<double>(lines); };
  return {share(all.reads, warm.reads), share(all.writebacks, warm.writebacks)};
}

Machine with_last_level(std::int64_t bytes, unsigned ways, Inclusion inclusion) {
  Machine m = one_node(1);
  m.caches[1].size = Bytes{128 << 10};
  m.caches[2].size = Bytes{bytes};
  m.caches[2].ways = ways;
  m.caches[2].inclusion = inclusion;
  m.caches[2].victim = Victim::random;
  m.caches[2].slices = 2;
  return m;
}

constexpr double tolerance = 0.03;  // of the lines touched

TEST(RandomVictimsByRanges, SweepsMissAsOftenAsByLines) {
  for (const Inclusion inclusion : {Inclusion::inclusive, Inclusion::exclusive, Inclusion::non_inclusive})
    for (const auto& [bytes, ways] : {std::pair{std::int64_t{2} << 20, 16U}, std::pair{std::int64_t{3} << 20, 12U}})
      for (const double ratio : {0.5, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0}) {
        const Machine machine = with_last_level(bytes, ways, inclusion);
        const bool writes = ratio > 1.2;
        const Swept runs = swept("runs", machine, ratio, writes, 0), lines = swept("lines", machine, ratio, writes, 0);
        EXPECT_NEAR(runs.reads, lines.reads, tolerance) << ratio << " x " << bytes << ", inclusion " << static_cast<int>(inclusion);
        EXPECT_NEAR(runs.writebacks, lines.writebacks, tolerance) << ratio << " x " << bytes;
        EXPECT_NEAR(writes ? runs.writebacks : runs.reads, runs.reads, tolerance) << "what comes in dirty goes out";
      }
}

TEST(RandomVictimsByRanges, AStreamTakesPartOfWhatIsReadAgainAsByLines) {
  for (const Inclusion inclusion : {Inclusion::inclusive, Inclusion::non_inclusive})
    for (const unsigned hot : {1U, 4U})
      for (const double ratio : {0.75, 1.25, 3.0}) {
        const Machine machine = with_last_level(2 << 20, 16, inclusion);
        const Swept runs = swept("runs", machine, ratio, false, hot), lines = swept("lines", machine, ratio, false, hot);
        EXPECT_NEAR(runs.reads, lines.reads, tolerance) << ratio << ", hot " << hot << ", inclusion " << static_cast<int>(inclusion);
      }
}

// The same sweeps of an LRU cache miss always: what the description says, and nothing else, makes the difference.
TEST(RandomVictimsByRanges, TheOldestLineAsVictimLosesASweepWholly) {
  for (const std::string name : {"runs", "lines"}) {
    Machine machine = with_last_level(2 << 20, 16, Inclusion::inclusive);
    machine.caches[2].victim = Victim::oldest;
    EXPECT_GT(swept(name, machine, 2, false, 0).reads, 0.97) << name;
  }
}

}  // namespace
}  // namespace homenode::test
