// The closed form's estimate of a whole program.
#include "models/run/estimate.hpp"

#include <gtest/gtest.h>

#include "models/run/placement_pass.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

TEST(Estimate, hasAPlacementPassThatTouchesEachPageOnce) {
  // Two threads on a node each sweep four pages of their own: stencil-aware lets each touch its four, a fault of 500 ns; the line that it
  // writes is in its caches, where the page has just been zeroed.
  constexpr std::int64_t block = 4 * 4096;
  WorkloadBuilder builder;
  const ObjectId grid = builder.object("grid", 2 * block, ObjectKind::mapped);
  const RegionId sweep = builder.loop("sweep", 2);
  builder.nest(sweep, {block / 8}, {write(grid, 0, {8}, block)});
  builder.repeat(sweep);
  RunSpec spec;
  spec.threads = 2;
  spec.placement = "stencil-aware";
  const Estimate found = estimate(*builder.build(), two_sockets(1), spec);
  ASSERT_FALSE(found.regions.empty());
  EXPECT_EQ(found.regions[0].label, placement_pass_label);
  ASSERT_EQ(found.regions[0].thread_seconds.size(), 2U);
  for (const double seconds : found.regions[0].thread_seconds) EXPECT_NEAR(seconds, 4 * 500e-9, 1e-12);
}

TEST(Estimate, addsUpRegionsOfOneThread) {
  // One thread waits for nobody: no barrier takes time, and loops and serial code follow each other all the same.
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", 1 << 20, ObjectKind::mapped);
  const RegionId fill = builder.loop("fill", 4), sweep = builder.loop("sweep", 4), serial = builder.serial("serial");
  for (const RegionId region : {fill, sweep}) builder.nest(region, {4096}, {write(array, 0, {64}, 1 << 18)});
  builder.nest(serial, {4096}, {read(array, 0, {64})});
  builder.repeat(fill);
  builder.repeat(sweep, 3);
  builder.repeat(serial);
  RunSpec spec;
  spec.threads = 1;
  const Estimate found = estimate(*builder.build(), one_node(), spec);
  double regions = 0;
  for (const EstimatedRegion& region : found.regions) regions += region.seconds;
  EXPECT_GT(regions, 10e-6);
  EXPECT_NEAR(found.seconds, regions, 1e-9 + 4 * one_node().fork_base.seconds());
}

constexpr std::int64_t short_iterations = 1 << 17;

// Each of four lines: written in one execution, read in two.
std::shared_ptr<Workload> many_short_iterations() {
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", short_iterations * 256, ObjectKind::mapped);
  const RegionId fill = builder.loop("fill", short_iterations), sweep = builder.loop("sweep", short_iterations);
  builder.nest(fill, {4}, {write(array, 0, {64}, 256)});
  builder.nest(sweep, {4}, {read(array, 0, {64}, 256)});
  builder.repeat(fill);
  builder.repeat(sweep, 2);
  return builder.build();
}

TEST(Estimate, ofIterationsHandedOutOneByOneIsThatOfThreadsWithAsMuchOfEachCell) {
  // 2^17 iterations are told in 2048 cells of 64. Of each cell four threads have a quarter, one by one or in a row.
  constexpr std::int64_t cell = 64;
  const auto program = many_short_iterations();
  const Machine machine = one_node();
  RunSpec spec;
  spec.threads = 4;
  const auto estimated = [&](std::int64_t chunk) {
    std::vector<ScheduledRange> schedule;
    for (std::int64_t first = 0; first < short_iterations; first += chunk)
      schedule.push_back({first, first + chunk, ThreadId{static_cast<std::size_t>(first / chunk) % 4}});
    const OracleOfRun made = make_oracle(*program, machine, spec, {});
    made.oracle->record_execution(ExecutionId{0}, schedule);
    return made.oracle->estimate(ExecutionId{1}, schedule);
  };
  const RegionEstimate one_by_one = estimated(1), in_a_row = estimated(cell / 4);
  ASSERT_EQ(one_by_one.thread_seconds.size(), 4U);
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_GT(in_a_row.thread_seconds[t], 1e-3);
    EXPECT_NEAR(one_by_one.thread_seconds[t], in_a_row.thread_seconds[t], 1e-9 * in_a_row.thread_seconds[t]);
  }
}

TEST(Estimate, ofIterationsDealtOutOneByOneHasPagesOnAllNodes) {
  // Iteration i goes to thread i mod 4, on two nodes. Each cell of 64 is dealt out evenly: cells have owners in turn, which touch its
  // pages.
  const auto program = many_short_iterations();
  RunSpec spec;
  spec.threads = 4;
  spec.distribution = "static:1";
  const auto seconds = [&](const std::string& placement) {
    spec.placement = placement;
    const Estimate found = estimate(*program, two_sockets(2), spec);
    return found.regions.back().seconds;
  };
  EXPECT_NEAR(seconds("first-touch"), seconds("interleave"), 0.05 * seconds("interleave"));
  EXPECT_LT(seconds("first-touch"), 0.8 * seconds("bind:0"));
}

double seconds_of(const Estimate& found, const std::string& label) {
  for (const auto& region : found.regions)
    if (region.label == label) return region.thread_seconds.at(0);
  return -1;
}

TEST(Estimate, ofMemoryBehindALinkOfItsOwnIsBoundByTheLink) {
  // 32 MiB, four times the last level: each line comes from memory, its message of 72 B over 0.1 GB/s. The last level is full of lines that
  // were written before: each goes back meanwhile, with a response of 8 B.
  constexpr std::int64_t bytes = 32 << 20;
  Machine machine = chiplets_and_far_memory();
  machine.nodes[1].link_read = Bandwidth::bytes_per_second(0.1e9);
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", bytes, ObjectKind::mapped);
  const RegionId fill = builder.loop("fill", 1), sweep = builder.loop("sweep", 1);
  builder.nest(fill, {bytes / 8}, {write(array, 0, {8})});
  builder.nest(sweep, {bytes / 8}, {read(array, 0, {8})});
  builder.repeat(fill);
  builder.repeat(sweep);
  RunSpec spec;
  spec.threads = 1;
  spec.placement = "bind:1";
  const double expected = (bytes / 64.0 * 72 + (8 << 20) / 64.0 * 8) / 0.1e9;
  EXPECT_NEAR(seconds_of(estimate(*builder.build(), machine, spec), "sweep"), expected, 1e-3 * expected);
}

TEST(Estimate, ofLinesThatACoreOfTheSameLastLevelWroteTakesLess) {
  // Each of two threads reads the 64 lines that the other has written, 16 of a stream in flight: 64 / 16 x (40 - 15) ns less.
  constexpr std::int64_t block = 64 * 64;
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", 4 * block, ObjectKind::mapped);
  const RegionId fill = builder.loop("fill", 2), swap = builder.loop("swap", 2);
  builder.nest(fill, {block / 8}, {write(array, 0, {8}, block)});
  builder.nest(swap, {block / 8}, {read(array, block, {8}, -block)});
  builder.repeat(fill);
  builder.repeat(swap);
  const auto program = builder.build();
  RunSpec spec;
  spec.threads = 2;
  spec.placement = "bind:0";
  Machine alike = chiplets();
  alike.core_to_core_shared_cache.reset();
  const double near = seconds_of(estimate(*program, chiplets(), spec), "swap");
  EXPECT_NEAR(seconds_of(estimate(*program, alike, spec), "swap") - near, 64.0 / 16 * 25e-9, 1e-12);
}

}  // namespace
}  // namespace homenode::test
