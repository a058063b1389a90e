// How far computing and transfers of a slice overlap, from made-up groups with round numbers.
#include "models/engines/parts/phases.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

// A group of `accesses` words of which the caches miss `reads` lines, in one stream.
struct Group {
  std::uint64_t accesses = 0, reads = 0;
  float parallelism = 16;
  bool stores = false;
  std::uint64_t hits = 0;       // lines of further streams that hit
  std::uint64_t transfers = 0;  // lines that come from another core
  std::uint8_t waited = 0;      // of 255 lines, those that the core waits for
};

std::vector<SlicePhase> phases_of(const std::vector<Group>& groups, const Machine& machine = one_node()) {
  PhaseRecorder recorder{machine};
  CacheOutcome outcome;
  outcome.hit_lines.resize(machine.caches.size());
  outcome.hit_weight.resize(machine.caches.size());
  recorder.start(outcome);
  std::uint64_t at = 1000;
  for (const Group& group : groups) {
    std::vector<LineTouch> touches{
        {.lines = LineRange::of(at, at + group.reads), .reads = !group.stores, .writes = group.stores, .parallelism = group.parallelism}};
    touches.front().accesses = group.accesses;
    touches.front().waited = group.waited;
    if (group.hits > 0) {
      touches.push_back({.lines = LineRange::of(0, group.hits), .reads = true, .parallelism = group.parallelism});
      outcome.hit_lines[1] += group.hits;
      outcome.hit_weight[1] += static_cast<double>(group.hits) / static_cast<double>(group.parallelism);
    }
    if (group.transfers > 0) outcome.transfers.push_back({LineRange::of(0, group.transfers), CoreId{1}, group.parallelism});
    if (group.reads > 0) outcome.reads.push_back({touches.front().lines, group.parallelism});
    at += group.reads + 1;
    recorder.add(touches, outcome);
  }
  std::vector<SlicePhase> phases;
  recorder.finish(phases);
  return phases;
}

CoreSeconds<double> spent(double core, double reads) { return {core, 0, 0, reads}; }

TEST(Phases, WhatAsksMemoryAlikeIsOne) {
  const std::vector<SlicePhase> phases = phases_of({{512, 64}, {512, 64}, {512, 64}});
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(phases[0].accesses, 3 * 512);
  EXPECT_EQ(phases[0].reads, 3 * 64);
  EXPECT_EQ(phases[0].read_weight, 3 * 64 / 16.);
  EXPECT_DOUBLE_EQ(busy_seconds(phases, spent(5, 3), one_node()), 5);
  EXPECT_DOUBLE_EQ(busy_seconds(phases, spent(2, 3), one_node()), 3);
}

// Half of the accesses wait for memory, 4 s of reads beside 3 of computing; the other half computes for 3: 4 + 3, not max(6, 4).
TEST(Phases, CopyingFirstAndComputingThenIsASum) {
  const std::vector<SlicePhase> phases = phases_of({{4096, 512}, {4096, 0}});
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_DOUBLE_EQ(busy_seconds(phases, spent(6, 4), one_node()), 4 + 3);
}

TEST(Phases, LinesFromAnotherCoreAreWaitedForAsThoseFromMemory) {
  const std::vector<SlicePhase> phases = phases_of({{4096, 0, 16, false, 0, 512}, {4096, 0}});
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0].transferred, 512);
  EXPECT_EQ(phases[0].transfer_weight, 512 / 16.);
  EXPECT_DOUBLE_EQ(busy_seconds(phases, {6, 0, 4, 0}, one_node()), 4 + 3);
}

// 512 lines, eight at a time, in 8 s: 125 ms each. The core waits for 51 of 255: 102.4 x (125 ms - 1 ns), beside 3 s of computing.
TEST(Phases, LoadsThatTheCoreWaitsForAddToComputing) {
  const Machine machine = one_node();
  const std::vector<SlicePhase> phases = phases_of({{.accesses = 4096, .reads = 512, .parallelism = 8, .waited = 51}});
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_DOUBLE_EQ(phases[0].waited, 102.4);
  const double waited = 102.4 * (8. / 64 - 1e-9);
  EXPECT_DOUBLE_EQ(waited_seconds(phases, spent(3, 8), machine, 1), waited);
  EXPECT_EQ(waited_seconds(phases, spent(3, 0), machine, 1), 0);  // they are there at once
  Machine blocking = machine;
  blocking.overlap = Overlap::none;
  EXPECT_EQ(waited_seconds(phases, spent(3, 8), blocking, 1), 0);
  Machine hiding = machine;
  hiding.load_waits = 0.25;
  EXPECT_DOUBLE_EQ(waited_seconds(phases, spent(3, 8), hiding, 1), waited / 4);
  CoreSeconds<double> with_them = spent(3, 8);
  with_them.waited = waited;
  EXPECT_DOUBLE_EQ(busy_seconds(phases, with_them, machine), 3 + waited);
  with_them.core = 0;
  with_them.waited = 5;
  EXPECT_DOUBLE_EQ(busy_seconds(phases, with_them, machine), 8);  // as long as the lines take
}

// Each phase waits for its own: 12.8 s of loads among as many accesses as compute 3 s, then 3 s that wait for nothing.
TEST(Phases, LoadsAreWaitedForInTheirPhase) {
  const Machine machine = one_node();
  const std::vector<SlicePhase> phases = phases_of({{.accesses = 4096, .reads = 512, .parallelism = 8, .waited = 51}, {.accesses = 4096}});
  ASSERT_EQ(phases.size(), 2u);
  CoreSeconds<double> all = spent(6, 8);
  all.waited = 12.8;
  EXPECT_DOUBLE_EQ(busy_seconds(phases, all, machine), 3 + 12.8 + 3);
}

TEST(Phases, NothingIsWaitedForThatPrefetchersFetch) {
  const Machine machine = one_node();
  const auto ahead = static_cast<float>(machine.miss_buffers) + 1;
  const std::vector<SlicePhase> phases = phases_of({{.accesses = 4096, .reads = 512, .parallelism = ahead, .waited = 255}});
  EXPECT_EQ(waited_seconds(phases, spent(3, 8), machine, 1), 0);
}

// Of two streams with as many lines one is waited for: half of the 64 hits, at 5 - 1 ns each.
TEST(Phases, HitsOfOuterLevelsAreWaitedForAsTheirStreamsAre) {
  const Machine machine = one_node();
  PhaseRecorder recorder{machine};
  CacheOutcome outcome;
  outcome.hit_lines.resize(machine.caches.size());
  outcome.hit_weight.resize(machine.caches.size());
  recorder.start(outcome);
  std::array<LineTouch, 2> group{LineTouch{.lines = LineRange::of(0, 100), .reads = true, .waited = 255, .parallelism = 4},
                                 LineTouch{.lines = LineRange::of(200, 300), .reads = true, .parallelism = 4}};
  for (LineTouch& touch : group) touch.accesses = 100;
  outcome.hit_lines[1] += 64;
  outcome.hit_weight[1] += 64 / 4.;
  recorder.add(group, outcome);
  std::vector<SlicePhase> phases;
  recorder.finish(phases);
  EXPECT_NEAR(waited_seconds(phases, spent(0, 0), machine, 1), 32 * 4e-9, 1e-15);
  Machine slowed = machine;  // at half the clock, which the second level has and the first one, too
  slowed.caches[0].clock = slowed.caches[1].clock = CacheClock::core;
  EXPECT_NEAR(waited_seconds(phases, spent(0, 0), slowed, 2), 32 * 8e-9, 1e-15);
}

TEST(Phases, LinesAreCountedWhereTheyCome) {
  Machine machine = one_node();
  PhaseRecorder recorder{machine};
  CacheOutcome outcome;
  outcome.hit_lines.resize(machine.caches.size());
  outcome.hit_weight.resize(machine.caches.size());
  recorder.start(outcome);
  LineTouch touch{.lines = LineRange::of(0, 1), .reads = true};
  touch.accesses = 4096;
  // a range of each kind that grows from 100 to 160 lines: the second window has 60
  outcome.reads.push_back({LineRange::of(0, 100), 1});
  outcome.transfers.push_back({LineRange::of(0, 100), CoreId{1}, 1});
  outcome.writebacks.push_back(LineRange::of(0, 100));
  outcome.non_temporal_writes.push_back(LineRange::of(0, 100));
  recorder.add({&touch, 1}, outcome);
  touch.accesses = 65536;
  outcome.reads.back().lines.last += 60;
  outcome.transfers.back().lines.last += 60;
  outcome.writebacks.back().last += 60;
  outcome.non_temporal_writes.back().last += 60;
  recorder.add({&touch, 1}, outcome);
  std::vector<SlicePhase> phases;
  recorder.finish(phases);
  ASSERT_EQ(phases.size(), 2u);
  const auto lines = [](const SlicePhase& phase) { return std::array{phase.reads, phase.transferred, phase.written, phase.lines()}; };
  EXPECT_EQ(lines(phases[0]), (std::array<double, 4>{60, 60, 120, 240}));
  EXPECT_EQ(lines(phases[1]), (std::array<double, 4>{100, 100, 200, 400}));
}

// Lines of streams one at a time: two of three are in a cache, and a store alone misses. A sample that keeps one in 8 tells the same.
TEST(Phases, ASampleSeesAsManyStreamsReadAgain) {
  const Machine machine = one_node(1);
  const float ahead = static_cast<float>(machine.miss_buffers) + 2;
  const auto told = [&](unsigned one_in) {
    PhaseRecorder recorder{machine};
    recorder.follow_sample({.one_in = one_in});
    CacheOutcome outcome;
    outcome.hit_lines.resize(machine.caches.size());
    outcome.hit_weight.resize(machine.caches.size());
    recorder.start(outcome, one_in);
    for (std::uint64_t step = 0; step < 8000; ++step) {
      // Of the four streams the first two hit; their lines lie at different places of their pages.
      std::vector<LineTouch> group;
      for (std::uint64_t stream = 0; stream < 4; ++stream) {
        LineTouch touch{.lines = LineRange::of(100'000 * stream + step, 100'000 * stream + step + 1), .parallelism = ahead, .accesses = 8};
        (stream == 3 ? touch.writes : touch.reads) = true;
        if ((step + 3 * stream) % one_in != 0) {
          recorder.pass_over(touch.accesses);
          continue;
        }
        group.push_back(touch);
        const std::uint64_t first = 100'000 * stream + step;
        if (stream >= 2) outcome.reads.push_back({LineRange::of(first, first + one_in), ahead});
      }
      recorder.add(group, outcome);
    }
    std::vector<SlicePhase> phases;
    recorder.finish(phases);
    SlicePhase all;
    for (const SlicePhase& phase : phases) all.add(phase);
    return all;
  };
  const SlicePhase whole = told(1), sampled = told(8);
  EXPECT_DOUBLE_EQ(sampled.accesses, whole.accesses);
  EXPECT_DOUBLE_EQ(sampled.streamed, whole.streamed);
  EXPECT_NEAR(sampled.again / whole.again, 1, 0.02);
  EXPECT_NEAR(sampled.loads / whole.loads, 1, 0.02);
  EXPECT_NEAR(sampled.streams_again(), 2, 0.05);
}

// 4 s with all lines, then 3 s without any: the first moves 7/4 of the slice's lines a second.
TEST(SliceParts, WhatMovesMostLinesComesFirst) {
  const SliceParts parts = parts_of(phases_of({{4096, 0}, {4096, 512}}), spent(6, 4), one_node());
  EXPECT_DOUBLE_EQ(parts.dense.seconds, 4);
  EXPECT_DOUBLE_EQ(parts.rest.seconds, 3);
  EXPECT_DOUBLE_EQ(parts.dense.lines, 1);
  EXPECT_DOUBLE_EQ(parts.rest.lines, 0);
  EXPECT_EQ(parts.dense.spent.reads, 4);
  EXPECT_EQ(parts.rest.spent.core, 3);
  EXPECT_EQ(parts.rest.spent.reads, 0);
  // 8 of 9 lines come in the part that waits for them, 4 of 4.5 s; the other computes for 3 s and waits for the rest meanwhile
  const SliceParts both = parts_of(phases_of({{4096, 512}, {4096, 64}}), spent(6, 4.5), one_node());
  EXPECT_DOUBLE_EQ(both.dense.seconds, 4);
  EXPECT_DOUBLE_EQ(both.rest.seconds, 3);
  EXPECT_DOUBLE_EQ(both.dense.lines, 8. / 9);
  EXPECT_DOUBLE_EQ(both.rest.lines, 1. / 9);
}

TEST(SliceParts, ThereIsOneWherePhasesAreAlikeOrTheFirstIsNearlyAll) {
  for (const SliceParts& parts : {parts_of(phases_of({{512, 64}, {512, 64}}), spent(5, 3), one_node()),
                                  parts_of(phases_of({{4096, 512}, {4096, 0}}), spent(2, 4), one_node()),  // 5/4
                                  parts_of({}, spent(5, 3), one_node())}) {
    EXPECT_DOUBLE_EQ(parts.dense.seconds, 5);
    EXPECT_EQ(parts.rest.seconds, 0);
    EXPECT_EQ(parts.dense.lines, 1);
  }
}

// Within what a core has in hand it cannot be told which came first.
TEST(Phases, ShortTurnsOverlap) {
  std::vector<Group> turns;
  for (int turn = 0; turn < 64; ++turn) turns.insert(turns.end(), {{64, 8}, {64, 0}});
  EXPECT_DOUBLE_EQ(busy_seconds(phases_of(turns), spent(6, 4), one_node()), 6);
  Machine endless = one_node();
  endless.overlap_accesses = 1'000'000;
  EXPECT_DOUBLE_EQ(busy_seconds(phases_of({{4096, 512}, {4096, 0}}, endless), spent(6, 4), endless), 6);
}

TEST(Phases, ABlockingCoreTakesTheSum) {
  Machine machine = one_node();
  machine.overlap = Overlap::none;
  EXPECT_DOUBLE_EQ(busy_seconds(phases_of({{4096, 512}}), spent(6, 4), machine), 10);
}

TEST(Phases, NeverTakeLessThanTheWholeSliceAtOnce) {
  for (const double core : {1.0, 3.0, 7.0}) {
    const std::vector<SlicePhase> phases = phases_of({{4096, 512}, {4096, 0}, {4096, 64}});
    EXPECT_GE(busy_seconds(phases, spent(core, 4), one_node()), std::max(core, 4.0));
    EXPECT_LE(busy_seconds(phases, spent(core, 4), one_node()), core + 4.0);
  }
}

// Two streams in a cache beside one from memory: its lines take 1.8 times as long, and half of the shorter comes on top. Beside one
// stream a quarter of that.
TEST(Phases, StreamsThatAreReadAgainSlowThoseFromMemory) {
  Machine machine = one_node();
  machine.reread_slowdown = 0.8;
  machine.reread_serial = 0.5;
  const std::vector<SlicePhase> two = phases_of({{4096, 512, 16, false, 1024}}, machine);
  EXPECT_DOUBLE_EQ(two[0].streams_again(), 2);
  EXPECT_DOUBLE_EQ(reread_factor(two, machine), 1.8);
  EXPECT_DOUBLE_EQ(busy_seconds(two, spent(6, 4), machine), 6 + 0.5 * 4);
  const std::vector<SlicePhase> one = phases_of({{4096, 512, 16, false, 512}}, machine);
  EXPECT_DOUBLE_EQ(reread_factor(one, machine), 1.2);
  EXPECT_DOUBLE_EQ(busy_seconds(one, spent(6, 4), machine), 6 + 0.125 * 4);
}

// Hits at random places overlap with the rest: of 10 s of waiting, 4 are the stream's.
TEST(Phases, WhatComesOnTopIsOfTheStreamFromMemory) {
  Machine machine = one_node();
  machine.reread_serial = 0.5;
  const std::vector<SlicePhase> phases = phases_of({{4096, 512, 16, false, 1024}}, machine);
  EXPECT_DOUBLE_EQ(busy_seconds(phases, {8, 6, 0, 4}, machine), 10 + 0.5 * 4);
}

// Steps of 256 loads that the second level serves; `lines`: of a step and a load. `kept`: bits, the lines of 64 that a sample follows.
template <class Lines>
std::vector<SlicePhase> phases_of_hits(const Machine& machine, unsigned steps, const Lines& lines, unsigned one_in = 1,
                                       std::uint64_t kept = ~std::uint64_t{0}) {
  PhaseRecorder recorder{machine};
  recorder.follow_sample({.one_in = one_in, .of_64 = kept});
  CacheOutcome outcome;
  outcome.hit_lines.resize(machine.caches.size());
  outcome.hit_weight.resize(machine.caches.size());
  outcome.wants_short_hits = recorder.follows_sets();
  recorder.start(outcome, one_in);
  for (unsigned step = 0; step < steps; ++step) {
    for (std::uint64_t i = 0; i < 256; ++i) {
      const LineTouch touch{.lines = lines(step, i), .reads = true, .parallelism = 4, .accesses = 1};
      if ((kept >> (touch.lines.first.value() & 63) & 1) == 0) {
        recorder.pass_over(1);
        continue;
      }
      outcome.note_hit(touch.lines, 1);
      recorder.add({&touch, 1}, outcome);
      outcome.short_hits.clear();
    }
  }
  std::vector<SlicePhase> phases;
  recorder.finish(phases);
  return phases;
}
LineRange one_line(std::uint64_t line) { return LineRange::of(line, line + 1); }
Machine with_sets() {
  Machine machine = one_node();  // 32 KiB in 8 ways: 64 sets
  machine.caches[1].same_set = Time::nanoseconds(2);
  return machine;
}

// Lines of one set come in one after the other, those of all sets do not wait for each other.
TEST(Phases, LinesOfOneSetTakeTheirTurn) {
  const Machine machine = with_sets();
  const double lines = 64 * 256;
  const auto of_one_set = phases_of_hits(machine, 64, [](unsigned, std::uint64_t i) { return one_line(64 * i + 5); });
  EXPECT_NEAR(same_set_seconds(of_one_set, machine, 1), lines * 2e-9, 1e-12);
  const auto of_four = phases_of_hits(machine, 64, [](unsigned, std::uint64_t i) { return one_line(16 * i + 5); });
  EXPECT_NEAR(same_set_seconds(of_four, machine, 1), lines / 4 * 2e-9, 1e-12);
  const auto of_all = phases_of_hits(machine, 64, [](unsigned, std::uint64_t i) { return one_line(i); });
  EXPECT_NEAR(same_set_seconds(of_all, machine, 1), lines / 64 * 2e-9, 1e-12);
  CoreSeconds<double> spent{20e-6, 10e-6, 0, 0};
  spent.same_set = same_set_seconds(of_one_set, machine, 1);
  EXPECT_NEAR(busy_seconds(of_one_set, spent, machine), lines * 2e-9, 1e-12);  // 33 us, the longest of the three
  const auto unlimited = phases_of_hits(one_node(), 64, [](unsigned, std::uint64_t i) { return one_line(64 * i); });
  EXPECT_EQ(same_set_seconds(unlimited, machine, 1), 0);
}

// A level with its own clock takes as long at any clock of the core.
TEST(Phases, LinesOfOneSetFollowTheClockOfTheirLevel) {
  Machine machine = with_sets();
  const auto phases = phases_of_hits(machine, 16, [](unsigned, std::uint64_t i) { return one_line(64 * i); });
  const double once = same_set_seconds(phases, machine, 1);
  EXPECT_GT(once, 0);
  EXPECT_DOUBLE_EQ(same_set_seconds(phases, machine, 2), once);
  machine.caches[0].clock = machine.caches[1].clock = CacheClock::core;
  EXPECT_DOUBLE_EQ(same_set_seconds(phases, machine, 2), 2 * once);
}

// Eight loads a line at three a cycle of 2 GHz, a line at 32 GB/s: 1.33 ns and 2 ns.
Machine that_lets_lines_in(double share) {
  Machine machine = one_node();
  machine.clock = Frequency::hertz(2e9);
  machine.core.load = 3;
  machine.caches[1].bandwidth_per_core = Bandwidth::bytes_per_second(32e9);
  machine.fill_serial = share;
  return machine;
}

TEST(Phases, LoadsTakeTurnsWithTheLinesThatComeIn) {
  const double lines = 64 * 256, loads = 8 * lines / 6e9, fills = lines * 2e-9;
  const auto phases = phases_of({{.accesses = 8 * 64 * 256, .hits = 64 * 256}}, that_lets_lines_in(1));
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(phases[0].fills(), lines);
  EXPECT_NEAR(8 * lines * load_pace(that_lets_lines_in(0.5)), loads, 1e-12);
  EXPECT_NEAR(fill_seconds(phases, that_lets_lines_in(1), 1), fills, 1e-12);
  EXPECT_NEAR(fill_seconds(phases, that_lets_lines_in(0.5), 2), fills / 2, 1e-12);  // by the level's own clock
  Machine machine = that_lets_lines_in(0.5);
  machine.caches[1].clock = CacheClock::core;
  EXPECT_NEAR(fill_seconds(phases, machine, 2), fills, 1e-12);
  EXPECT_EQ(load_pace(that_lets_lines_in(0)) + fill_seconds(phases, that_lets_lines_in(0), 1), 0);
  CoreSeconds<double> spent{30e-6, fills, 0, 0};
  EXPECT_DOUBLE_EQ(busy_seconds(phases, spent, that_lets_lines_in(1)), fills);  // 33 us
  spent.loading = loads, spent.fills = fills;
  EXPECT_DOUBLE_EQ(busy_seconds(phases, spent, that_lets_lines_in(1)), loads + fills);  // 55 us
  EXPECT_EQ(private_cause(spent, Overlap::full, 0), PrivateCause::cache);
  spent.core = 60e-6;
  EXPECT_DOUBLE_EQ(busy_seconds(phases, spent, that_lets_lines_in(1)), 60e-6);
  spent.core = loads / 2;  // loads are a part of computing, whatever a description says of their ports
  EXPECT_DOUBLE_EQ(busy_seconds(phases, spent, that_lets_lines_in(1)), loads / 2 + fills);
}

// Ranges of more than a few lines are spread over the sets.
TEST(Phases, LongRangesAreOfNoSet) {
  const Machine machine = with_sets();
  const auto of_ranges = [&](std::uint64_t lines) {
    return same_set_seconds(phases_of_hits(machine, 16, [&](unsigned, std::uint64_t i) { return LineRange::of(64 * i, 64 * i + lines); }),
                            machine, 1);
  };
  EXPECT_NEAR(of_ranges(ShortHit::most), 16 * 256 * 2e-9, 1e-12);
  EXPECT_EQ(of_ranges(ShortHit::most + 1), 0);
}

// One line in eight is followed, with all others of its set: what goes through the sets one after the other, and what is spread over them,
// take as long as all lines do.
TEST(Phases, ASampleOfSetsTakesAsLong) {
  const Machine machine = with_sets();
  const std::uint64_t kept = 0x0110'0480'0240'0820;  // one of each eight neighbours
  const auto both = [&](const auto& lines) {
    return std::pair{same_set_seconds(phases_of_hits(machine, 1024, lines), machine, 1),
                     same_set_seconds(phases_of_hits(machine, 1024, lines, 8, kept), machine, 1)};
  };
  const auto through = both([](unsigned step, std::uint64_t i) { return one_line(64 * i + step / 16); });
  EXPECT_NEAR(through.second / through.first, 1, 0.001);
  const auto quickly = both([](unsigned step, std::uint64_t i) { return one_line(64 * i + step); });
  EXPECT_NEAR(quickly.second / quickly.first, 1, 0.01);  // windows of phases end within a step
  const auto spread = both([](unsigned, std::uint64_t i) { return one_line(i); });
  EXPECT_NEAR(spread.second / spread.first, 1, 0.001);
}

TEST(Phases, OnlyLoadsThatPrefetchersFollowAreSlowed) {
  Machine machine = one_node();
  machine.reread_slowdown = 0.4;
  machine.reread_serial = 0.5;
  EXPECT_EQ(reread_factor(phases_of({{4096, 512, 10, false, 1024}}, machine), machine), 1);  // a gather: as many as miss buffers
  EXPECT_EQ(reread_factor(phases_of({{4096, 512, 16, true, 1024}}, machine), machine), 1);   // stores alone
  EXPECT_EQ(reread_factor(phases_of({{4096, 512}}, machine), machine), 1);
  EXPECT_EQ(reread_factor({}, machine), 1);
}

}  // namespace
}  // namespace homenode::test
