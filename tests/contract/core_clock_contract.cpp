// What every timing engine owes a machine whose clock depends on how many cores of a socket are at work, and on how wide the vectors of
// their code are, and the closed form with them:
// code takes its cycles over that clock, memory takes what it took, nothing is faster than at the highest clock.
#include <gtest/gtest.h>

#include <algorithm>

#include "models/code/core_model.hpp"
#include "models/engines/engines.hpp"
#include "models/run/estimate.hpp"
#include "models/run/run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

constexpr double base = 2e9, alone = 4e9, pair = 3.2e9, all = 2.5e9;

// Two sockets of four cores: 4 GHz with one at work, 3.2 with two, 2.5 with all.
Machine with_turbo(bool caches_too = false) {
  Machine machine = two_sockets();
  machine.clock_by_cores = {{1, Frequency::hertz(alone)}, {2, Frequency::hertz(pair)}, {4, Frequency::hertz(all)}};
  if (caches_too) machine.caches[0].clock = machine.caches[1].clock = CacheClock::core;
  return machine;
}

constexpr double cycles = 1e6;

// One line is read, then the core computes: 4 instructions a cycle.
void compute(WorkloadBuilder& builder, RegionId region, ObjectId lines) {
  WorkCounts work;
  work.instructions = 4 * cycles;
  builder.nest(region, {1}, {read(lines, 0, {8}, 4096)});
  builder.work(region, work);
  builder.repeat(region);
}

// 8 iterations for the team, 3 iterations, and the same serially.
std::shared_ptr<Workload> computing() {
  WorkloadBuilder builder;
  const ObjectId lines = builder.object("lines", 8 * 4096, ObjectKind::mapped);
  for (const std::int64_t iterations : {8, 3}) compute(builder, builder.loop("loop of " + std::to_string(iterations), iterations), lines);
  compute(builder, builder.serial("serial"), lines);
  return builder.build();
}

RunSpec options_of(const std::string& engine, unsigned threads, const std::string& mapping = "compact") {
  RunSpec options;
  options.engine = engine;
  options.threads = threads;
  options.mapping = mapping;
  options.caches = "lines";
  return options;
}

// Of one region: of its longest thread.
double computed(const RunReport& report, const std::string& label) {
  for (const RegionReport& region : report.regions)
    if (region.label == label) return region.time.seconds();
  return -1;
}
double computed(const Estimate& found, const std::string& label) {
  for (const EstimatedRegion& region : found.regions)
    if (region.label == label) return region.seconds;
  return -1;
}

class CoreClockContract : public ::testing::TestWithParam<std::string> {
protected:
  // Fork, barrier and the one line of each iteration are below 3 us; the closed form goes by the same clocks.
  void expect(const Machine& machine, unsigned threads, const std::string& mapping, const std::string& label, double seconds) const {
    const RunSpec options = options_of(GetParam(), threads, mapping);
    EXPECT_NEAR(computed(run(*computing(), machine, options), label), seconds, 3e-6) << label << ' ' << threads << ' ' << mapping;
    EXPECT_NEAR(computed(estimate(*computing(), machine, options), label), seconds, 3e-6) << "closed form, " << label << ' ' << threads;
  }
};

TEST_P(CoreClockContract, CodeRunsAtTheClockOfTheCoresThatHaveWork) {
  const Machine machine = with_turbo();
  expect(machine, 1, "compact", "loop of 8", 8 * cycles / alone);
  expect(machine, 4, "compact", "loop of 8", 2 * cycles / all);   // four cores of one socket, two iterations each
  expect(machine, 4, "scatter", "loop of 8", 2 * cycles / pair);  // two of each
  expect(machine, 8, "compact", "loop of 8", cycles / all);
  expect(machine, 8, "compact", "loop of 3", cycles / all);   // three of one socket
  expect(machine, 8, "scatter", "loop of 3", cycles / pair);  // two of one socket, one of the other: the slower ones end last
  expect(machine, 8, "compact", "serial", cycles / alone);
}

TEST_P(CoreClockContract, WithMoreCoresThanTheTableSaysTheyRunAtTheBaseClock) {
  Machine machine = with_turbo();
  machine.clock_by_cores.pop_back();
  expect(machine, 4, "compact", "loop of 8", 2 * cycles / base);
  expect(machine, 4, "scatter", "loop of 8", 2 * cycles / pair);
}

TEST_P(CoreClockContract, WhatWaitsForMemoryTakesWhatItTook) {
  for (const auto& workload : {chase(4096, 4096), stream_triad(1 << 14, 64, 2)})
    for (const unsigned threads : {1U, 8U}) {
      const RunReport before = run(*workload, two_sockets(), options_of(GetParam(), threads));
      const RunReport after = run(*workload, with_turbo(), options_of(GetParam(), threads));
      EXPECT_EQ(after.time, before.time);
      EXPECT_EQ(after.counts.latency_ns, before.counts.latency_ns);
    }
}

TEST_P(CoreClockContract, CachesOfTheCoresClockFollowIt) {
  // 64 KiB, twice: the second time all of 1024 lines come from the second level or the first, one after the other. Serial: at twice the
  // base clock a hit of the second level takes 2.5 ns, not 5.
  const auto workload = chase(1024, 2048);
  const RunReport before = run(*workload, two_sockets(), options_of(GetParam(), 1));
  const RunReport after = run(*workload, with_turbo(true), options_of(GetParam(), 1));
  ASSERT_GT(before.counts.hit_lines.at(1), 500U);
  EXPECT_EQ(after.counts.hit_lines, before.counts.hit_lines);
  EXPECT_NEAR((before.time - after.time).seconds(), 2.5e-9 * static_cast<double>(before.counts.hit_lines[1]), 1e-9);
  for (const auto& [latency, lines] : after.counts.latency_ns.at("L2")) EXPECT_LE(latency, 3);
}

// The program with code: 4 instructions a cycle as before, of which a share computes on wide vectors, by region. What a core model said of
// it is told beforehand, so that no program is asked.
std::shared_ptr<Workload> computing_on_vectors() {
  std::shared_ptr<Workload> workload = computing();
  workload->executed.blocks = {{.bytes = "\x90", .instructions = 1}};
  workload->executed.counts = {{.region = RegionId{0U}, .block = 0, .executions = 1}};
  CodeCycles code;
  code.regions = {{.cycles = 0.25, .wide_512 = 0.4}, {.cycles = 0.25, .wide_256 = 0.4}, {.cycles = 0.25}};
  workload->code_cycles.get("skylake-avx512", [&] { return code; });
  return workload;
}

// Two cores of a socket: 3 GHz on vectors of 256 bits, 1.6 on those of 512, below the base clock.
Machine with_vector_clocks() {
  Machine machine = with_turbo();
  machine.clock_by_cores_256 = {{1, Frequency::hertz(3.5e9)}, {2, Frequency::hertz(3e9)}, {4, Frequency::hertz(2.25e9)}};
  machine.clock_by_cores_512 = {{1, Frequency::hertz(2.8e9)}, {2, Frequency::hertz(1.6e9)}, {4, Frequency::hertz(1.25e9)}};
  machine.core.llvm_cpu = "skylake-avx512";
  return machine;
}

TEST_P(CoreClockContract, CodeOfWideVectorsRunsAtTheirClock) {
  use_core_model({.program = "/no/program", .answers = {}});
  const Machine machine = with_vector_clocks();
  const auto expect_of = [&](unsigned threads, const std::string& mapping, const std::string& label, double seconds,
                             const std::string& core = "auto") {
    RunSpec options = options_of(GetParam(), threads, mapping);
    options.core = core;
    EXPECT_NEAR(computed(run(*computing_on_vectors(), machine, options), label), seconds, 3e-6) << label << ' ' << threads;
    EXPECT_NEAR(computed(estimate(*computing_on_vectors(), machine, options), label), seconds, 3e-6) << "closed form, " << label;
  };
  expect_of(1, "compact", "loop of 8", 8 * cycles / 2.8e9);
  expect_of(4, "compact", "loop of 8", 2 * cycles / 1.25e9);  // four cores of one socket, two iterations each
  expect_of(4, "scatter", "loop of 8", 2 * cycles / 1.6e9);   // two of each
  expect_of(8, "compact", "loop of 3", cycles / 2.25e9);      // three of one socket, on 256 bits
  expect_of(8, "scatter", "loop of 3", cycles / 3e9);         // two and one
  expect_of(8, "compact", "serial", cycles / alone);          // narrow
  // Nobody looks at the blocks: narrow.
  expect_of(4, "compact", "loop of 8", 2 * cycles / all, "classes");
  use_core_model({});
}

// A bound: the same machine with all cores at the highest clock, whatever the load.
TEST_P(CoreClockContract, NothingIsFasterThanAtTheHighestClockNorSlowerThanAtTheBaseClock) {
  const Machine machine = with_turbo(true);
  Machine fastest = machine, slowest = machine;
  fastest.clock_by_cores = {{4, Frequency::hertz(alone)}};
  slowest.clock_by_cores.clear();
  for (const auto& workload : {computing(), chase(1024, 2048)})
    for (const unsigned threads : {1U, 3U, 8U}) {
      const RunSpec options = options_of(GetParam(), threads, "scatter");
      const Time time = run(*workload, machine, options).time;
      EXPECT_GE(time, run(*workload, fastest, options).time) << threads;
      EXPECT_LE(time, run(*workload, slowest, options).time) << threads;
    }
}

INSTANTIATE_TEST_SUITE_P(every, CoreClockContract, ::testing::ValuesIn(engine_names()), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace homenode::test
