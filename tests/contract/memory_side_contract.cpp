// What every timing engine owes what lies behind the caches, and the closed form with them: memory-side caches, the directory that memory
// keeps beside its lines, and ports of outermost caches. Each case is an equation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/engines/engines.hpp"
#include "models/run/estimate.hpp"
#include "models/run/run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t page = 4096, pages = 256, lines = pages * 64;
constexpr double hit = 60e-9, memory = 100e-9;
constexpr double line_read = 64 / 24e9, line_write = 64 / 12e9;  // of a controller (tests/support/machines.hpp)

// Caches that hold a sixteenth of what the programs walk over.
Machine with_small_caches(Machine machine) {
  machine.caches[0].size = Bytes{4 * page};
  machine.caches[1].size = Bytes{8 * page};
  machine.caches[2].size = Bytes{16 * page};
  machine.dram.row_closes_after = Time{};
  for (ControllerDescription& controller : machine.controllers) controller.loaded_latency.clear();
  return machine;
}

Machine with_side_cache(std::int64_t held_pages, double bytes_per_second = 1e12) {
  Machine machine = with_small_caches(one_node());
  NodeDescription& node = machine.nodes.front();
  node.memory_side_cache = Bytes{held_pages * page};
  node.memory_side_latency = Time::from_seconds(hit);
  node.memory_side_read_only = node.memory_side_one_to_one = Bandwidth::bytes_per_second(bytes_per_second);
  return machine;
}

enum class Walk { one_by_one, stream, update };

// The team writes all lines once, then goes over them so many times.
std::shared_ptr<Workload> walking(Walk kind, unsigned times) {
  constexpr std::int64_t iterations = 8, share = pages * page / iterations;
  constexpr auto of_share = static_cast<std::uint32_t>(lines / iterations);
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", pages * page, ObjectKind::mapped);
  const RegionId fill = builder.loop("fill", iterations);
  builder.nest(fill, {of_share}, {write(array, 0, {64}, share)});
  builder.repeat(fill);
  const RegionId walk = builder.loop("walk", iterations);
  std::vector<Reference> references{read(array, 0, {64}, share)};
  if (kind == Walk::one_by_one) references.front().producer_distance = 1;
  if (kind == Walk::update) references.push_back(write(array, 0, {64}, share));
  builder.nest(walk, {of_share}, references);
  builder.repeat(walk, times);
  return builder.build();
}

class MemorySideContract : public ::testing::TestWithParam<std::string> {
protected:
  static RunSpec options(unsigned threads, const std::string& mapping = "compact", const std::string& placement = "bind:0") {
    RunSpec spec;
    spec.engine = GetParam();
    spec.threads = threads;
    spec.caches = "lines";
    spec.mapping = mapping;
    spec.placement = placement;
    return spec;
  }
  // What the fourth walk adds to three.
  template <class Seconds>
  static double one_walk(const Seconds& seconds, Walk kind) {
    return seconds(*walking(kind, 4)) - seconds(*walking(kind, 3));
  }
  static void expect(const Machine& machine, Walk kind, const RunSpec& spec, double expected, double tolerance = 0.02) {
    const auto replayed = [&](const Workload& program) { return run(program, machine, spec).time.seconds(); };
    const auto estimated = [&](const Workload& program) { return estimate(program, machine, spec).seconds; };
    const double overheads = 3e-6;  // of a fork and a barrier, and of a slice's end
    EXPECT_NEAR(one_walk(replayed, kind), expected, tolerance * expected + overheads);
    EXPECT_NEAR(one_walk(estimated, kind), expected, tolerance * expected + overheads) << "closed form";
  }
};

TEST_P(MemorySideContract, AMemorySideCacheThatHoldsAllAnswersAtItsLatency) {
  expect(with_small_caches(one_node()), Walk::one_by_one, options(1), lines * memory);
  expect(with_side_cache(pages), Walk::one_by_one, options(1), lines * hit);
  expect(with_side_cache(2 * pages), Walk::one_by_one, options(1), lines * hit);
}

// Frames lie one behind the other: of 4/3 times what it holds, a quarter of its places have two pages each, and half of the pages have
// one to themselves. Of twice what it holds none has.
TEST_P(MemorySideContract, PagesThatShareAPlacePushEachOtherOut) {
  expect(with_side_cache(pages * 3 / 4), Walk::one_by_one, options(1), lines * (hit + memory) / 2);
  expect(with_side_cache(pages / 2), Walk::one_by_one, options(1), lines * memory);
  const RunReport report = run(*walking(Walk::one_by_one, 2), with_side_cache(pages * 3 / 4), options(1));
  // What is written first comes from the caches, where the kernel has just cleared it; half of each walk's lines hit.
  EXPECT_EQ(report.counts.side_cache_misses, std::vector<std::uint64_t>{2 * lines / 2});
  EXPECT_EQ(report.counts.side_cache_hits, std::vector<std::uint64_t>{2 * lines / 2});
}

// Four cores ask for 64 lines in 60 ns. A hit is one access to it, a miss two: the tags are read, the line is written.
TEST_P(MemorySideContract, ItsBandwidthIsShared) {
  constexpr double bandwidth = 8e9;
  expect(with_side_cache(pages, bandwidth), Walk::stream, options(4), lines * 64 / bandwidth, 0.05);
  expect(with_side_cache(pages / 2, bandwidth), Walk::stream, options(4), 2 * lines * 64 / bandwidth, 0.05);
}

// One thread asks for 16 lines in 60 ns: 17 GB/s, 85 % of 20. At the equilibrium r = 0.85 x 60 / (60 + 60 r) with an extra of 60 r ns:
// r = 0.55, so that lines take 93 ns.
TEST_P(MemorySideContract, ItsLatencyGrowsWithItsLoad) {
  if (GetParam() == "line") return;  // which has a queue in place of the curve
  Machine machine = with_side_cache(pages, 20e9);
  machine.nodes.front().memory_side_loaded_latency = {{1.0, Time::from_seconds(hit)}};
  const double offered = 16 * 64 / hit / 20e9, share = (std::sqrt(1 + 4 * offered) - 1) / 2;
  expect(machine, Walk::stream, options(1), lines * (hit + share * hit) / 16, 0.03);
}

// An update reads a line and writes it back. Where it misses, it is fetched and pushes out a modified one.
TEST_P(MemorySideContract, MemoryBehindItIsSharedByWhatMisses) {
  expect(with_side_cache(pages / 2), Walk::update, options(4), lines * (line_read + line_write), 0.08);
}

Machine with_directory(DirectoryPlace place) {
  Machine machine = with_small_caches(two_sockets());
  machine.directory_in = place;
  for (LinkDescription& link : machine.links) link.bandwidth = Bandwidth::bytes_per_second(1e12);
  return machine;
}

// On the other socket: each line that was written back is noted again when it is read again.
TEST_P(MemorySideContract, ADirectoryInMemoryIsWrittenForLinesThatAnotherSocketReads) {
  const std::string other = "cores:4:5:6:7";
  expect(with_directory(DirectoryPlace::cache), Walk::update, options(4, other), lines * (line_read + line_write), 0.08);
  expect(with_directory(DirectoryPlace::memory), Walk::update, options(4, other), lines * (line_read + 2 * line_write), 0.08);
  expect(with_directory(DirectoryPlace::memory), Walk::update, options(4), lines * (line_read + line_write), 0.08);
}

// In front of memory a memory-side cache takes the notes: what misses is fetched, what was modified pushed out, once each.
TEST_P(MemorySideContract, NotesStayInAMemorySideCache) {
  Machine machine = with_directory(DirectoryPlace::memory);
  for (NodeDescription& node : machine.nodes) {
    node.memory_side_cache = Bytes{pages / 2 * page};
    node.memory_side_latency = Time::from_seconds(hit);
    node.memory_side_read_only = node.memory_side_one_to_one = Bandwidth::bytes_per_second(1e12);
  }
  expect(machine, Walk::update, options(4, "cores:4:5:6:7"), lines * (line_read + line_write), 0.08);
}

TEST_P(MemorySideContract, ALineIsNotedOnceUntilItIsWrittenBack) {
  const Machine machine = with_directory(DirectoryPlace::memory);
  const auto noted = [&](const std::string& mapping, unsigned walks) {
    return run(*walking(Walk::one_by_one, walks), machine, options(1, mapping)).counts.directory_bytes / 64;
  };
  EXPECT_EQ(noted("cores:0", 3), 0U);
  // When they are read from memory first, behind the writes on pages that the kernel had cleared in the caches; then they are clean.
  EXPECT_EQ(noted("cores:4", 1), lines);
  EXPECT_EQ(noted("cores:4", 3), lines);
}

Machine with_ports(double in, double out) {
  Machine machine = with_small_caches(chiplets());
  machine.caches.back().port_read = Bandwidth::bytes_per_second(in);
  machine.caches.back().port_write = Bandwidth::bytes_per_second(out);
  return machine;
}

TEST_P(MemorySideContract, WhatComesInSharesThePortOfItsChiplet) {
  const Machine machine = with_ports(4e9, 1e12);
  expect(machine, Walk::stream, options(2, "cores:0:1"), lines * 64 / 4e9, 0.05);
  expect(machine, Walk::stream, options(2, "cores:0:2"), lines * 64 / 8e9, 0.05);
}

TEST_P(MemorySideContract, WhatGoesOutSharesThePortOfItsChiplet) {
  const Machine machine = with_ports(1e12, 4e9);
  expect(machine, Walk::update, options(2, "cores:0:1"), lines * 64 / 4e9, 0.05);
  expect(machine, Walk::update, options(2, "cores:0:2"), lines * 64 / 8e9, 0.05);
}

INSTANTIATE_TEST_SUITE_P(every, MemorySideContract, ::testing::ValuesIn(engine_names()), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace homenode::test
