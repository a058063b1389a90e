// What every timing engine owes a machine whose first level lets in a line or serves loads, one after the other (machine.hpp,
// fill_serial), and the closed form with them: the loop takes the longest of computing, its lines, and the turns of both.
#include <gtest/gtest.h>

#include "models/engines/engines.hpp"
#include "models/run/estimate.hpp"
#include "models/run/run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

constexpr double lines = 1024;  // twice the first level, a quarter of the second
constexpr unsigned sweeps = 200;
constexpr std::int64_t iterations = 64;  // of a sweep

// Loads at three a cycle of 2 GHz: 1/6 ns each. Lines at 32 GB/s: 2 ns each.
Machine that_lets_lines_in(double share) {
  Machine machine = one_node();
  machine.core.issue = 4;
  machine.core.load = 3;
  machine.caches[1].bandwidth_per_core = Bandwidth::bytes_per_second(32e9);
  machine.fill_serial = share;
  return machine;
}

// One thread goes through 64 KiB again and again, eight accesses to each line; `computing`: nanoseconds a line.
std::shared_ptr<Workload> sweeping(double computing, bool reads, bool writes) {
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", 64 * static_cast<std::uint64_t>(lines), ObjectKind::mapped);
  const RegionId sweep = builder.loop("sweep", iterations);
  constexpr std::int64_t chunk = 64 * static_cast<std::int64_t>(lines) / iterations;  // bytes
  std::vector<Reference> accesses;
  if (reads) accesses.push_back(read(array, 0, {8}, chunk));
  if (writes) accesses.push_back(write(array, 0, {8}, chunk));
  builder.nest(sweep, {static_cast<std::uint32_t>(chunk / 8)}, accesses);
  WorkCounts work;
  work.instructions = 8 * computing * lines / iterations;  // four a cycle of 0.5 ns
  work.load = reads ? 8 * lines / iterations : 0;
  builder.work(sweep, work);
  builder.repeat(sweep, sweeps);
  return builder.build();
}

class FirstLevelContract : public ::testing::TestWithParam<std::string> {
protected:
  RunReport replayed(const Workload& workload, const Machine& machine, unsigned threads = 1) const {
    return run(workload, machine, options(threads));
  }
  RunSpec options(unsigned threads) const {
    RunSpec options;
    options.engine = GetParam();
    options.threads = threads;
    options.caches = "lines";
    return options;
  }
  // Nanoseconds a line. The first sweep gets its lines from memory, page faults come once.
  void expect(const Machine& machine, const Workload& workload, double nanoseconds) const {
    const double expected = nanoseconds * 1e-9 * lines * sweeps;
    EXPECT_NEAR(replayed(workload, machine).regions.at(0).time.seconds(), expected, 0.03 * expected) << nanoseconds;
    EXPECT_NEAR(estimate(workload, machine, options(1)).regions.at(0).seconds, expected, 0.03 * expected) << "closed form " << nanoseconds;
  }
  void expect(double share, double computing, double nanoseconds, bool reads = true, bool writes = false) const {
    expect(that_lets_lines_in(share), *sweeping(computing, reads, writes), nanoseconds);
  }
};

TEST_P(FirstLevelContract, LoadsAndLinesTakeTurns) {
  expect(0, 2.5, 2.5);
  expect(1, 2.5, 8.0 / 6 + 2);
  expect(0.5, 2, 8.0 / 6 + 1);
}

TEST_P(FirstLevelContract, ComputingHidesThem) {
  expect(0, 5, 5);
  expect(1, 5, 5);
}

TEST_P(FirstLevelContract, CodeWithoutLoadsIsNotKeptWaiting) {
  expect(0, 2.5, 2.5, false, true);
  expect(1, 2.5, 2.5, false, true);
}

TEST_P(FirstLevelContract, LoadsGoByTheClockOfTheCoreAndLinesByThatOfTheirLevel) {
  Machine machine = that_lets_lines_in(1);
  machine.clock_by_cores = {{1, Frequency::hertz(4e9)}};
  expect(machine, *sweeping(2.5, true, false), 4.0 / 6 + 2);
  machine.caches[1].clock = CacheClock::core;
  expect(machine, *sweeping(2.5, true, false), 4.0 / 6 + 1);
}

// A core that blocks waits for each of its lines already.
TEST_P(FirstLevelContract, NothingIsAddedWhereNothingOverlaps) {
  Machine machine = that_lets_lines_in(0);
  machine.overlap = Overlap::none;
  const auto workload = sweeping(2.5, true, false);
  const Time silent = replayed(*workload, machine).time;
  machine.fill_serial = 1;
  EXPECT_EQ(replayed(*workload, machine).time, silent);
}

// `line` has the core computing for 2.5 of 3.33 ns a line, and waiting for its caches for the rest; the others name one bottleneck.
TEST_P(FirstLevelContract, TheCachesAreTheBottleneck) {
  const auto of_caches = [&](double share) {
    const RunReport report = replayed(*sweeping(2.5, true, false), that_lets_lines_in(share));
    double seconds = 0;
    for (const BottleneckTime& part : report.regions.at(0).bottlenecks)
      if (part.resource == "cache") seconds += part.seconds;
    return seconds * 1e9 / (lines * sweeps);
  };
  EXPECT_NEAR(of_caches(0), 0, 0.1);
  EXPECT_NEAR(of_caches(1), GetParam() == "line" ? 8.0 / 6 + 2 - 2.5 : 8.0 / 6 + 2, 0.1);
}

// Two threads that write the same lines in turn: each gets them from the other's caches, 40 ns each, ten and more at a time.
TEST_P(FirstLevelContract, LinesFromOtherCoresComeInLikeAllOthers) {
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", 64 * 256, ObjectKind::mapped);
  for (const std::int64_t first : {0, 1}) {  // the iterations of two threads, crosswise
    const RegionId region = builder.loop("turn " + std::to_string(first), 2);
    const std::int64_t half = 64 * 128;
    builder.nest(region, {1024},
                 {read(array, first * half, {8}, first == 0 ? half : -half), write(array, first * half, {8}, first == 0 ? half : -half)});
    WorkCounts work;
    work.instructions = 2048;
    work.load = 1024;
    builder.work(region, work);
  }
  for (int turn = 0; turn < 100; ++turn)
    for (const unsigned region : {0U, 1U}) builder.repeat(RegionId{region});
  const auto workload = builder.build();
  const Time silent = replayed(*workload, that_lets_lines_in(0), 2).time;
  Machine machine = that_lets_lines_in(1);
  machine.caches[1].bandwidth_per_core = Bandwidth::bytes_per_second(6.4e9);  // 10 ns a line, far beyond their latency in parallel
  const RunReport report = replayed(*workload, machine, 2);
  EXPECT_GE(report.time, silent);
  // 200 turns of 128 lines a thread, 10 ns each and eight loads
  EXPECT_GE(report.time.seconds(), 199 * 128 * (10e-9 + 8.0 / 6e9));
}

INSTANTIATE_TEST_SUITE_P(every, FirstLevelContract, ::testing::ValuesIn(engine_names()), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace homenode::test
