// Set sampling: which lines are kept, that their fates are those of the whole model, that counts add up, and the error that is told.
#include "models/caches/line_sample.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "models/caches/choose_caches.hpp"
#include "models/caches/set_caches.hpp"
#include "tests/support/machines.hpp"
#include "tests/unit/models/caches/programs.hpp"

namespace homenode::test {
namespace {

Machine nehalem() {
  Machine m = two_sockets(2);
  m.caches[2].slices = 4;
  return m;
}

TEST(LineSample, KeepsOneOfEachNeighbours) {
  for (const unsigned one_in : {1U, 2U, 8U, 32U}) {
    const LineSample sample{nehalem(), one_in, 5};
    std::uint64_t kept = 0;
    for (LineNumber line{640}; line < LineNumber{640 + 256}; ++line) {
      EXPECT_EQ(sample.kept_lines().has(line), sample.has(line));
      if (!sample.has(line)) continue;
      ++kept;
      EXPECT_EQ(sample.line(sample.number(line)), line);
      const LineRange of = sample.stands_for(line);
      EXPECT_TRUE(of.first <= line && line < of.last);
      EXPECT_EQ(of.size(), one_in);
      EXPECT_EQ(of.first.value() % one_in, 0U);
    }
    EXPECT_EQ(kept, 256 / one_in);
  }
}

TEST(LineSample, FindsTheKeptLinesOfARange) {
  std::mt19937_64 random{6};
  for (const unsigned one_in : {2U, 8U, 32U}) {
    const LineSample sample{nehalem(), one_in, 5};
    for (int i = 0; i < 500; ++i) {
      const LineNumber first{1000 + random() % 200}, last = first + random() % 300;
      std::vector<LineNumber> found, expected;
      sample.for_each({first, last}, [&](LineNumber line) { found.push_back(line); });
      for (LineNumber line = first; line < last; ++line)
        if (sample.has(line)) expected.push_back(line);
      ASSERT_EQ(found, expected);
      const LineRange numbers = sample.numbers({first, last});
      ASSERT_EQ(numbers.size(), expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k) ASSERT_EQ(sample.number(expected[k]), numbers.first + k);
    }
  }
}

TEST(LineSample, TakesOtherLinesWithAnotherSeed) {
  const LineSample one{nehalem(), 8, 1}, other{nehalem(), 8, 2};
  EXPECT_NE(one.kept_lines().of_64, other.kept_lines().of_64);
}

TEST(LineSample, RefusesWhatCannotBeSampled) {
  Machine few = nehalem();
  few.caches[0].size = Bytes{16 * 64};  // 2 sets of 8 ways
  EXPECT_THROW((LineSample{few, 4, 0}), UsageError);
  EXPECT_THROW((LineSample{nehalem(), 64, 0}), UsageError);
  EXPECT_NO_THROW((LineSample{few, 1, 0}));
}

struct Access {
  CoreId core;
  LineNumber line;
  bool writes = false;
};
std::vector<Access> random_accesses(std::uint64_t seed, int count, std::uint64_t lines) {
  std::mt19937_64 random{seed};
  std::vector<Access> accesses;
  for (int i = 0; i < count; ++i) {
    const CoreId core{static_cast<unsigned>(random() % 4)};
    accesses.push_back({core, LineNumber{(base_address >> 6) + random() % lines}, random() % 4 == 0});
  }
  return accesses;
}
LineTouch touch_of(const Access& access) {
  return {.lines = {access.line, access.line + 1}, .reads = !access.writes, .writes = access.writes, .accesses = 1};
}

// Sets whose number is a multiple of a page's lines hold lines of one place in their pages: those that are kept have a fate of their own.
void expect_the_same_fates(const Machine& machine) {
  SetCaches whole{machine, 3}, sampled{machine, 3, false, 8};
  const LineSample sample{machine, 8, 3};
  CacheOutcome ignored;
  std::uint64_t kept = 0;
  for (const Access& access : random_accesses(1, 400'000, 200'000)) {
    const LineTouch touch = touch_of(access);
    const LineFate all = whole.access_line(access.core, access.line, touch, ignored);
    if (!sample.has(access.line)) continue;
    ++kept;
    const LineFate one = sampled.access_line(access.core, access.line, touch, ignored);
    ASSERT_EQ(one.from, all.from);
    ASSERT_EQ(one.level, all.level);
    ASSERT_EQ(one.owner, all.owner);
    ASSERT_EQ(one.upgrade, all.upgrade);
  }
  EXPECT_NEAR(static_cast<double>(kept), 50'000, 1000);
}
TEST(LineSample, KeptLinesFareAsAmongAllLines) { expect_the_same_fates(nehalem()); }
TEST(LineSample, RandomVictimsAreDrawnAlike) {
  Machine machine = nehalem();
  for (CacheDescription& cache : machine.caches) cache.victim = Victim::random;
  expect_the_same_fates(machine);
}

// Streams of a group advance together, also where few of their lines are followed: what memory gives comes in the order in which it gives
// it to the whole model.
TEST(LineSample, KeptLinesOfStreamsComeInTheSameOrder) {
  constexpr unsigned one_in = 8;
  SetCaches whole{nehalem(), 3}, sampled{nehalem(), 3, false, one_in};
  const LineSample sample{nehalem(), one_in, 3};
  std::mt19937_64 random{8};
  std::uint64_t reads = 0;
  for (int i = 0; i < 3000; ++i) {
    const CoreId core{static_cast<unsigned>(random() % 4)};
    std::vector<LineTouch> group;
    LineNumber next{(base_address >> 6) + random() % 100'000};
    for (std::uint64_t streams = 1 + random() % 5; streams > 0; --streams) {
      const LineNumber last = next + 1 + random() % (random() % 2 == 0 ? 4 : 200);
      group.push_back({.lines = {next, last}, .reads = true, .accesses = 1});
      next = last + random() % 100;
    }
    CacheOutcome all, some;
    whole.access(core, group, all);
    sampled.access(core, group, some);
    std::vector<LineNumber> expected, found;
    for (const MissRange& miss : all.reads)
      for (LineNumber line = miss.lines.first; line < miss.lines.last; ++line)
        if (sample.has(line)) expected.push_back(line);
    for (const MissRange& miss : some.reads) sample.for_each(miss.lines, [&](LineNumber line) { found.push_back(line); });
    ASSERT_EQ(found, expected);
    reads += found.size();
  }
  EXPECT_GT(reads, 10'000U);
}

Totals totals_of(CacheModel& model, const std::vector<Access>& accesses) {
  Totals totals;
  CacheOutcome outcome;
  for (const Access& access : accesses) {
    const LineTouch touch = touch_of(access);
    outcome.clear();
    model.access(access.core, {&touch, 1}, outcome);
    totals.add(outcome);
  }
  outcome.clear();
  model.flush(outcome);
  totals.add(outcome);
  return totals;
}

TEST(LineSample, CountsStandForAllLines) {
  const auto accesses = random_accesses(2, 600'000, 400'000);
  for (const std::int64_t last_level : {std::int64_t{8} << 20, std::int64_t{7} << 20}) {  // the other has no power of two of sets
    Machine machine = nehalem();
    machine.caches[2].size = Bytes{last_level};
    SetCaches whole{machine, 4};
    const Totals exact = totals_of(whole, accesses);
    for (const unsigned one_in : {2U, 8U}) {
      SetCaches sampled{machine, 4, false, one_in};
      const Totals found = totals_of(sampled, accesses);
      const auto near = [&](std::uint64_t a, std::uint64_t b) { EXPECT_NEAR(static_cast<double>(a) / static_cast<double>(b), 1, 0.03); };
      near(found.reads, exact.reads);
      near(found.writebacks, exact.writebacks);
      near(found.transfers, exact.transfers);
      EXPECT_EQ(found.accesses, exact.accesses);
      // Each access of a line is a hit, a transfer or a read of as many lines as it stands for.
      const std::uint64_t hits = std::accumulate(found.hits.begin(), found.hits.end(), std::uint64_t{0});
      EXPECT_EQ((hits + found.transfers + found.reads) % one_in, 0U);
    }
  }
}

TEST(LineSample, TellsAnErrorThatFitsWhatItMisses) {
  // The true number of reads lies within two of the told standard errors for most seeds.
  const auto accesses = random_accesses(7, 100'000, 60'000);
  SetCaches whole{nehalem(), 0};
  const double exact = static_cast<double>(totals_of(whole, accesses).reads);
  int within = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SetCaches sampled{nehalem(), seed, false, 8};
    const double found = static_cast<double>(totals_of(sampled, accesses).reads);
    CacheOutcome end;
    sampled.flush(end);
    EXPECT_GT(end.sampling_error, 0);
    EXPECT_LT(end.sampling_error, 0.1);
    within += std::abs(found / exact - 1) <= 2 * end.sampling_error ? 1 : 0;
  }
  EXPECT_GE(within, 17);
}

TEST(LineSample, ALineThatAllTouchIsNotLeftOutUnseen) {
  // Half of all touches are of one line: a sample has it eight times or not at all.
  auto accesses = random_accesses(9, 20'000, 60'000);
  for (std::size_t i = 0; i < accesses.size(); i += 2) accesses[i].line = LineNumber{base_address >> 6};
  SetCaches sampled{nehalem(), 1, false, 8};
  totals_of(sampled, accesses);
  CacheOutcome end;
  sampled.flush(end);
  EXPECT_GT(end.sampling_error, 0.3);
}

TEST(LineSample, WhereNothingIsKeptTheErrorIsAll) {
  SetCaches sampled{nehalem(), 1, false, 8};
  CacheOutcome outcome;
  LineNumber line{base_address >> 6};
  while (sampled.kept_lines().has(line)) ++line;
  const LineTouch touch{.lines = {line, line + 1}, .reads = true, .accesses = 1};
  sampled.access(CoreId{0}, {&touch, 1}, outcome);
  sampled.flush(outcome);
  EXPECT_EQ(outcome.sampling_error, 1);
}

TEST(LineSample, DroppedLinesReachMemoryOnce) {
  SetCaches sampled{nehalem(), 1, false, 8};
  CacheOutcome outcome;
  const LineNumber page{base_address >> 6};
  LineTouch touch{.lines = {page, page + 64}, .writes = true, .accesses = 512};
  sampled.access(CoreId{0}, {&touch, 1}, outcome);
  outcome.clear();
  sampled.drop({page, page + 64}, false, outcome);
  ASSERT_EQ(outcome.writebacks.size(), 1U);
  EXPECT_EQ(outcome.writebacks[0].size(), 64U);
  outcome.clear();
  sampled.flush(outcome);
  EXPECT_TRUE(outcome.writebacks.empty());
}

TEST(LineSample, TouchesThatAreLeftOutLoseNoAccess) {
  Program program;
  ItemPattern pattern;
  for (SlotNumber slot = 0; slot < 12; ++slot) pattern.runs.push_back(run(slot, AccessKind::read, 0, slot, {}));
  pattern.runs.push_back(run(12, AccessKind::write, 0, 12, {{40, 8, 1}}));
  pattern.accesses = 52;
  pattern.slots = 13;
  program.patterns.push_back(pattern);
  std::mt19937_64 random{4};
  for (std::int64_t i = 0; i < 50; ++i) {
    ItemBlock block{i, i + 1, PatternId{0u}, {}};
    for (int slot = 0; slot < 13; ++slot) block.slots.push_back({ObjectId{0u}, static_cast<std::int64_t>(random() % 4096) * 8, 0});
    program.body.blocks.push_back(block);
  }
  LineTouches touches{{}};
  const KeptLines kept = LineSample{nehalem(), 8, 1}.kept_lines();
  touches.keep(kept);
  touches.start(program.patterns, program.body, 0, 50, [](ObjectId) { return Address{base_address}; });
  std::vector<LineTouch> group;
  std::uint64_t accesses = 0;
  std::size_t left_out = 0;
  while (touches.next(group)) {
    for (const LineTouch& touch : group) {
      accesses += touch.accesses;
      EXPECT_TRUE(touch.lines.size() > 1 || kept.has(touch.lines.first));
    }
    for (const LineTouch& touch : touches.left_out()) {
      accesses += touch.accesses;
      EXPECT_TRUE(touch.lines.size() == 1 && !kept.has(touch.lines.first));
    }
    left_out += touches.left_out().size();
  }
  EXPECT_EQ(accesses, 50U * 52);
  EXPECT_GT(left_out, 450U);
}

}  // namespace
}  // namespace homenode::test
