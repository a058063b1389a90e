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

// Loads at three a cycle of 2 GHz: 1/6 ns each. Lines of the second level at 32 GB/s: 2 ns each.
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
  // Nanoseconds a line. The first sweep gets its lines from memory, page faults come once.
  void expect(double share, double computing, double nanoseconds, bool reads = true, bool writes = false) const {
    RunSpec options;
    options.engine = GetParam();
    options.threads = 1;
    options.caches = "lines";
    const Machine machine = that_lets_lines_in(share);
    const auto workload = sweeping(computing, reads, writes);
    const double expected = nanoseconds * 1e-9 * lines * sweeps;
    EXPECT_NEAR(run(*workload, machine, options).regions.at(0).time.seconds(), expected, 0.03 * expected) << share << ' ' << computing;
    const double estimated = estimate(*workload, machine, options).regions.at(0).seconds;
    EXPECT_NEAR(estimated, expected, 0.03 * expected) << "closed form, " << share << ' ' << computing;
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

TEST_P(FirstLevelContract, StoresLoadNothing) {
  expect(0, 2.5, 2.5, false, true);
  expect(1, 2.5, 2.5, false, true);
  expect(1, 2.5, 8.0 / 6 + 2, true, true);  // of each update one access loads
}

INSTANTIATE_TEST_SUITE_P(every, FirstLevelContract, ::testing::ValuesIn(engine_names()), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace homenode::test
