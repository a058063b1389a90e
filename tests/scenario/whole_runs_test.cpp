// Whole runs of the reference programs on the papers' machines: what must hold whatever the numbers are, and S4's orders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "models/machines/machine_file.hpp"
#include "models/run/run.hpp"
#include "sim/base/errors.hpp"
#include "sim/loop/simulation.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

Machine paper_machine(const std::string& name) { return load_machine(test::source_folder() / "models/machines" / (name + ".toml")); }

const std::vector<std::string> s4_machines{"opteron-8431-4s", "xeon-x5550-2s", "xeon-x7560-4s"};

RunSpec all_cores(const Machine& machine, std::string placement, std::string distribution = "static") {
  RunSpec options;
  options.threads = machine.cores();
  options.placement = std::move(placement);
  options.distribution = std::move(distribution);
  return options;
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); }

double seconds_of(const RunReport& report, const std::string& label) {
  for (const RegionReport& region : report.regions) {
    if (region.label == label) return region.time.seconds();
  }
  throw std::out_of_range("no region " + label);
}

// S4's grid, shortened in its slowest direction to a multiple of every team: 96 layers of blocks / 24, 8 and 32 threads.
std::shared_ptr<Workload> s4_short() { return jacobi3d(960, 600, 600, 10, 10, 600, 1); }

class OnS4Machines : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(all, OnS4Machines, ::testing::ValuesIn(s4_machines));

TEST_P(OnS4Machines, bytesAreConserved) {
  const Machine machine = paper_machine(GetParam());
  const auto workload = jacobi2d(1024, 2);
  for (const char* placement : {"first-touch", "interleave", "bind:0"}) {
    const RunReport report = accounted_run(*workload, machine, all_cores(machine, placement));
    const EventCounts& counts = report.counts;
    // Bytes by (initiator, home) = bytes read + bytes written by home = 64 B for every line that memory moved.
    for (std::size_t home = 0; home < counts.nodes; ++home) {
      std::uint64_t column = 0;
      for (std::size_t node = 0; node < counts.nodes; ++node) column += counts.traffic_bytes[node * counts.nodes + home];
      EXPECT_EQ(column, counts.read_bytes[home] + counts.write_bytes[home]);
    }
    EXPECT_EQ(sum(counts.read_bytes) + sum(counts.write_bytes), 64 * counts.memory_lines);
    // Every access of the program was made.
    std::uint64_t accesses = 0;
    for (const Execution& execution : workload->executions) accesses += execution.accesses;
    EXPECT_EQ(counts.accesses, accesses);
  }
}

TEST_P(OnS4Machines, noRunIsFasterThanItsBandwidthBound) {
  const Machine machine = paper_machine(GetParam());
  const auto workload = s4_short();
  for (const char* placement : {"first-touch", "interleave", "bind:0"}) {
    const RunReport report = accounted_run(*workload, machine, all_cores(machine, placement));
    for (std::size_t home = 0; home < machine.nodes.size(); ++home) {
      // T >= reads / B_r + writes / B_w for each controller, 1 / B_w = 2 / B_11 - 1 / B_r. What is still in the caches
      // at the end is flushed outside the run's time: at most the capacity of all last levels.
      const ControllerDescription& controller = machine.controllers[home];
      const double read = 1 / controller.read_only.bytes_per_second(), write = 2 / controller.one_to_one.bytes_per_second() - read;
      const double flushed = static_cast<double>(machine.caches.back().size.count()) * static_cast<double>(machine.sockets);
      const double bound = static_cast<double>(report.counts.read_bytes[home]) * read +
                           std::max(0.0, static_cast<double>(report.counts.write_bytes[home]) - flushed) * write;
      EXPECT_GE(report.time.seconds(), bound * (1 - 1e-9)) << placement << ", node " << home;
    }
  }
}

TEST_P(OnS4Machines, theSameRunTwiceIsTheSame) {
  const Machine machine = paper_machine(GetParam());
  const auto workload = jacobi2d(512, 2);
  const RunReport first = accounted_run(*workload, machine, all_cores(machine, "interleave", "dynamic:4"));
  const RunReport second = accounted_run(*workload, machine, all_cores(machine, "interleave", "dynamic:4"));
  EXPECT_EQ(first.time, second.time);
  EXPECT_EQ(first.counts.traffic_bytes, second.counts.traffic_bytes);
  for (std::size_t t = 0; t < first.threads.size(); ++t) EXPECT_EQ(first.threads[t].busy, second.threads[t].busy);
}

TEST_P(OnS4Machines, serialPlacementIsBelowInterleavedAndInterleavedNotAboveParallelFirstTouch) {
  const Machine machine = paper_machine(GetParam());
  const auto workload = s4_short();
  const double parallel = seconds_of(accounted_run(*workload, machine, all_cores(machine, "first-touch")), "sweep");
  const double interleaved = seconds_of(accounted_run(*workload, machine, all_cores(machine, "interleave")), "sweep");
  const double serial = seconds_of(accounted_run(*workload, machine, all_cores(machine, "bind:0")), "sweep");
  // C60: all data on one of n domains: one controller serves what n could, so at least 0.97 n times as long.
  EXPECT_GE(serial / parallel, 0.97 * static_cast<double>(machine.nodes.size()));
  EXPECT_LT(interleaved, serial);
  EXPECT_GE(interleaved, parallel * 0.995);
}

TEST(S4, interleavingCostsMostOnTheX5550AndItsLinkBinds) {
  // C61: "the penalty for round-robin placement is especially large for the Nehalem EP system".
  double greatest = 0;
  std::string loser;
  for (const std::string& name : s4_machines) {
    const Machine machine = paper_machine(name);
    const auto workload = s4_short();
    const double parallel = seconds_of(accounted_run(*workload, machine, all_cores(machine, "first-touch")), "sweep");
    const RunReport interleaved = accounted_run(*workload, machine, all_cores(machine, "interleave"));
    const double loss = 1 - parallel / seconds_of(interleaved, "sweep");
    if (loss > greatest) {
      greatest = loss;
      loser = name;
      EXPECT_THAT(interleaved.regions.back().bottlenecks.front().resource, ::testing::StartsWith(name == "xeon-x5550-2s" ? "link" : ""));
    }
  }
  EXPECT_EQ(loser, "xeon-x5550-2s");
}

TEST(S4, onOneDomainAllPlacementsCoincide) {
  // C76: with a single locality domain the three lines match, within 0.1 %.
  Machine machine = paper_machine("xeon-x5550-2s");
  machine.sockets = 1;
  machine.nodes.resize(1);
  machine.core_node.resize(machine.core_node.size() / 2);
  machine.controllers.resize(1);
  machine.links.clear();
  const auto workload = jacobi3d(120, 600, 600, 10, 10, 600, 1);
  const double parallel = accounted_run(*workload, machine, all_cores(machine, "first-touch")).time.seconds();
  for (const char* placement : {"interleave", "bind:0"}) {
    EXPECT_NEAR(accounted_run(*workload, machine, all_cores(machine, placement)).time.seconds(), parallel, 1e-3 * parallel);
  }
}

TEST(Quantum, halvingItChangesAMemoryBoundRunByLessThanTwoPercent) {
  const Machine machine = paper_machine("xeon-x5550-2s");
  const auto workload = jacobi3d(240, 600, 600, 10, 10, 600, 1);
  RunSpec options = all_cores(machine, "interleave");
  const double whole = accounted_run(*workload, machine, options).time.seconds();
  RunExtras extras;
  extras.quantum = Bytes{default_quantum(machine).count() / 2};
  EXPECT_NEAR(accounted_run(*workload, machine, options, extras).time.seconds(), whole, 0.02 * whole);
}

// When both follow the same item-to-thread log, the engines' totals agree within 1 %. The largest difference is 0.84 % (first touch,
// dynamic:4, xeon-x7560-4s). Lines from memory agree within 0.01 % there; the engines share the controllers' bandwidth differently. Why by
// so much is not known.
class FlowAgainstSimgrid : public ::testing::TestWithParam<std::tuple<std::string, std::string, std::string>> {};

TEST_P(FlowAgainstSimgrid, totalsAgreeOnOneLog) {
  const auto& [name, placement, distribution] = GetParam();
  const Machine machine = paper_machine(name);
  const auto workload = jacobi3d(120, 600, 600, 10, 10, 600, 1);
  RunSpec options = all_cores(machine, placement, distribution);
  RunExtras extras;
  extras.keep_log = true;
  const RunReport flow = accounted_run(*workload, machine, options, extras);
  extras.follow = flow.log;
  options.engine = "simgrid";
  EXPECT_NEAR(accounted_run(*workload, machine, options, extras).time.seconds() / flow.time.seconds(), 1, 0.01);
}

INSTANTIATE_TEST_SUITE_P(all, FlowAgainstSimgrid,
                         ::testing::Combine(::testing::ValuesIn(s4_machines), ::testing::Values("first-touch", "interleave", "bind:0"),
                                            ::testing::Values("static", "dynamic:4")));

// Free-running, an engine's rounding decides who asks first for the next iterations, and from there on the runs differ; makespans
// stay near each other. Their ratio is reported (RecordProperty, DEVIATIONS.md); the bound is that of the engines on unrelated
// mixes (FlowAgainstSimgridDeviation in tests/contract).
class FreeRunning : public ::testing::TestWithParam<std::tuple<std::string, std::string, std::string>> {};

TEST_P(FreeRunning, makespansAreNear) {
  const auto& [name, placement, distribution] = GetParam();
  const Machine machine = paper_machine(name);
  const auto workload = jacobi3d(120, 600, 600, 10, 10, 600, 1);
  RunSpec options = all_cores(machine, placement, distribution);
  const double flow = accounted_run(*workload, machine, options).time.seconds();
  options.engine = "simgrid";
  const double ratio = accounted_run(*workload, machine, options).time.seconds() / flow;
  RecordProperty("simgrid_over_flow", std::to_string(ratio));
  EXPECT_NEAR(ratio, 1, 0.04);
}

INSTANTIATE_TEST_SUITE_P(all, FreeRunning,
                         ::testing::Combine(::testing::ValuesIn(s4_machines), ::testing::Values("first-touch", "interleave"),
                                            ::testing::Values("dynamic:1", "guided:1")));

TEST(Run, refusesWhatItDoesNotKnowBeforeAnythingRuns) {
  const Machine machine = paper_machine("xeon-x5550-2s");
  const auto workload = jacobi2d(64, 1);
  const auto message = [&](auto change) {
    RunSpec options = all_cores(machine, "first-touch");
    change(options);
    try {
      accounted_run(*workload, machine, options);
    } catch (const Error& error) { return std::string{error.what()}; }
    return std::string{"accepted"};
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message([](RunSpec& o) { o.engine = "flows"; }), HasSubstr("unknown engine 'flows'; allowed: flow, simgrid"));
  EXPECT_THAT(message([](RunSpec& o) { o.stores = "non-temporal"; }), HasSubstr("allowed: nt, machine, regular"));
  EXPECT_THAT(message([](RunSpec& o) { o.threads = 9; }), HasSubstr("9 threads on machine 'xeon-x5550-2s' with 8 cores"));
  EXPECT_THAT(message([](RunSpec& o) { o.distribution = "swep@static"; }), HasSubstr("unknown region label 'swep'; allowed: "));
  EXPECT_THAT(message([](RunSpec& o) { o.placement = "bind:2"; }), HasSubstr("has nodes 0 to 1"));
}

TEST(Translations, ofLargePagesHaveTheEntriesForLargePages) {
  // Ten passes over 32 pages of 2 MiB: 64 entries hold all of them after the first; four would miss 320 times.
  Machine machine = one_node();
  machine.tlb.entries = 4;
  machine.tlb.large_entries = 64;
  WorkloadBuilder builder;
  const std::int64_t large = 2 << 20;
  const ObjectId array = builder.object("array", 32 * static_cast<std::uint64_t>(large), ObjectKind::mapped);
  const RegionId serial = builder.serial("passes");
  builder.nest(serial, {32, 10}, {write(array, 0, {large, 0})});
  builder.repeat(serial);
  const auto workload = builder.build();
  RunSpec options;
  options.pages = "2MiB";
  for (const char* engine : {"flow", "line"}) {
    options.engine = engine;
    EXPECT_EQ(run(*workload, machine, options).counts.tlb_misses, 32u) << engine;
  }
}

TEST(Translations, OfAFirstLevelBoundTheCoreWhereColumnsAreWiderThanIt) {
  // A column of 96 rows, a line of a page each, 500 times: the first level holds 64 pages, and each of 499 x 96 reads has its page from the
  // second, 4 ns one after the other, while the core computes less. Of 64 rows all are found but the first time. Nothing else overlaps.
  const auto of_rows = [](std::uint32_t rows) {
    WorkloadBuilder builder;
    const ObjectId array = builder.object("array", 96 * 4160, ObjectKind::mapped);
    const RegionId column = builder.serial("column");
    builder.nest(column, {rows, 500}, {read(array, 0, {4160, 0})});
    builder.repeat(column);
    return builder.build();
  };
  Machine without = one_node();
  without.miss_buffers = 1;
  without.tlb.entries = 1024;
  Machine with = without;
  with.tlb.first_entries = 64;
  with.tlb.first_miss_penalty = Time::nanoseconds(4);
  with.tlb.first_misses = 1;
  for (const char* engine : {"flow", "line"}) {
    RunSpec options;
    options.engine = engine;
    const auto seconds = [&](const Machine& machine, std::uint32_t rows) { return run(*of_rows(rows), machine, options).time.seconds(); };
    constexpr double least = 499 * 96 * 4e-9;
    EXPECT_LT(seconds(without, 96), 0.5 * least) << engine;
    EXPECT_GE(seconds(with, 96), least) << engine;
    EXPECT_LE(seconds(with, 96), least + seconds(without, 96)) << engine;
    EXPECT_EQ(seconds(with, 64), seconds(without, 64)) << engine;
  }
}

TEST(Translations, OfPagesThatTheFirstLevelHasAreNotWalkedFor) {
  // 20 pages of one set of the second level, which has 4 ways, 10 times.
  WorkloadBuilder builder;
  const std::int64_t apart = 256 * 4096;
  const ObjectId array = builder.object("array", 20 * apart, ObjectKind::mapped);
  const RegionId column = builder.serial("column");
  builder.nest(column, {20, 10}, {read(array, 0, {apart, 0})});
  builder.repeat(column);
  const auto workload = builder.build();
  Machine machine = one_node();
  machine.tlb.entries = 1024;
  EXPECT_EQ(run(*workload, machine, {}).counts.tlb_misses, 200u);
  machine.tlb.first_entries = 64;
  EXPECT_EQ(run(*workload, machine, {}).counts.tlb_misses, 20u);
}

}  // namespace
}  // namespace homenode::test
