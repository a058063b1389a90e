// What is told about a whole trace: counts, footprint, misses in flight.
#include "traces/format/trace_summary.hpp"

#include <gtest/gtest.h>

#include "tests/support/workloads.hpp"
#include "traces/format/block_extents.hpp"
#include "traces/format/miss_parallelism.hpp"
#include "traces/format/touched_bytes.hpp"

namespace homenode {
namespace {

const RegionSummary& region(const Workload& workload, const TraceSummary& summary, const std::string& label) {
  for (std::size_t r = 0; r < workload.regions.size(); ++r)
    if (workload.regions[r].label == label) return summary.regions[r];
  throw std::logic_error("no region " + label);
}

TEST(TraceSummary, CountsByRegionAndInAll) {
  // init writes 2 n^2; a sweep reads 5 (n - 2)^2 and writes (n - 2)^2; n = 34, 3 sweeps of n - 2 rows
  const auto workload = test::jacobi2d(34, 3);
  const TraceSummary summary = summarize(*workload);
  EXPECT_EQ(region(*workload, summary, "init").sums, (AccessSums{1, 34, 2 * 34 * 34, 0, 2 * 34 * 34}));
  EXPECT_EQ(region(*workload, summary, "sweep").sums, (AccessSums{3, 3 * 32, 3 * 6 * 32 * 32, 3 * 5 * 32 * 32, 3 * 32 * 32}));
  EXPECT_EQ(summary.sums, (AccessSums{4, 34 + 3 * 32, 2 * 34 * 34 + 3 * 6 * 32 * 32, 3 * 5 * 32 * 32, 2 * 34 * 34 + 3 * 32 * 32}));
  EXPECT_EQ(access_sums(*workload), summary.sums);
}

TEST(TraceSummary, WorkIsThatOfAllIterations) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 4096);
  const RegionId first = builder.loop("first", 10), second = builder.loop("second", 4);
  WorkCounts work;
  work.instructions = 7;
  work.fp_add = 2;
  builder.nest(first, {1}, {read(a, 0, {0}, 8)});
  builder.work(first, work);
  builder.repeat(first, 3);
  work.divide = 1;
  builder.nest(second, {1}, {read(a, 0, {0}, 8)});
  builder.work(second, work);
  builder.repeat(second);
  const auto workload = builder.build();
  const TraceSummary summary = summarize(*workload);
  EXPECT_EQ(summary.regions[0].work.instructions, 3 * 10 * 7);
  EXPECT_EQ(summary.regions[0].work.fp_add, 3 * 10 * 2);
  EXPECT_EQ(summary.regions[0].work.divide, 0);
  EXPECT_EQ(summary.regions[1].work.divide, 4);
  EXPECT_EQ(summary.work.instructions, 3 * 10 * 7 + 4 * 7);  // the whole is the sum of its regions
}

TEST(TraceSummary, FootprintCountsEachByteOnce) {
  EXPECT_EQ(summarize(*test::jacobi2d(34, 3)).footprint_bytes, 2u * 34 * 34 * 8);  // two arrays, however often
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 8000), b = builder.object("b", 800);
  const RegionId loop = builder.loop("loop", 10), back = builder.serial("back");
  builder.nest(loop, {4}, {read(a, 0, {8}, 16)});  // iterations k: bytes [16 k, 16 k + 32), together [0, 176)
  builder.repeat(loop);
  builder.nest(back, {3}, {write(b, 80, {-16})});  // bytes [48, 88), with gaps
  builder.repeat(back);
  EXPECT_EQ(summarize(*builder.build()).footprint_bytes, 176u + 40u);
}

TEST(TraceSummary, TheBusiestLineIsThatOfMostAccesses) {
  MemoryWorkload workload;
  workload.objects.resize(1);
  workload.objects[0].bytes = 4096;
  for (const std::uint32_t line : {7u, 9u, 7u, 1u}) workload.sites.push_back({.file = "a.c", .line = line, .function = {}});
  ItemPattern pattern;
  pattern.slots = 1;
  for (const auto& [site, accesses] : {std::pair{0u, 3u}, std::pair{1u, 5u}, std::pair{2u, 4u}}) {  // line 7 has seven
    AccessRun run;
    run.site = SiteId{site};
    run.dimensions = 1;
    run.dimension[0] = {accesses, 8, 1};
    pattern.runs.push_back(run);
  }
  workload.patterns.push_back(pattern);
  pattern.runs.resize(1);
  pattern.runs[0].site = SiteId{3u};
  workload.patterns.push_back(pattern);
  workload.regions.resize(2);
  workload.executions.resize(1);
  workload.executions[0].iterations = 3;
  ExecutionBody body;
  body.blocks = {{0, 1, PatternId{0u}, {{ObjectId{0u}, 0, 0}}}, {1, 3, PatternId{1u}, {{ObjectId{0u}, 0, 0}}}};
  workload.bodies.push_back(std::make_shared<const ExecutionBody>(body));
  EXPECT_EQ(workload.sites[summarize(workload).regions[0].busiest.index()].line, 7u) << "7 of line 7, 5 of line 9, 2 x 3 of line 1";
  body.blocks[1].last = 4;
  workload.bodies[0] = std::make_shared<const ExecutionBody>(body);
  EXPECT_EQ(workload.sites[summarize(workload).regions[0].busiest.index()].line, 1u);
  EXPECT_TRUE(summarize(workload).regions[1].busiest.is_none()) << "no access";
}

TEST(TraceSummary, FootprintOfManyScatteredBlocksIsTheSame) {
  // one block an iteration, every other 8 bytes of `bytes`, in an order without locality: half of them
  constexpr std::int64_t blocks = 5000;
  MemoryWorkload workload;
  workload.objects.resize(1);
  workload.objects[0].bytes = 16 * blocks;
  ItemPattern pattern;
  pattern.slots = 1;
  pattern.accesses = pattern.reads = 1;
  AccessRun run;
  run.width = 8;
  pattern.runs.push_back(run);
  workload.patterns.push_back(pattern);
  ExecutionBody body;
  const auto order = test::scattered_order(blocks);
  for (std::int64_t k = 0; k < blocks; ++k)
    body.blocks.push_back({k, k + 1, PatternId{0u}, {{ObjectId{0u}, 16 * order[static_cast<std::size_t>(k)], 0}}});
  TouchedBytes touched{workload};
  touched.add(body);
  EXPECT_EQ(touched.total(), 8u * blocks);
  touched.add(body);
  EXPECT_EQ(touched.total(), 8u * blocks);
}

TEST(BlockExtents, CoverAllIterationsAlsoBackwards) {
  MemoryWorkload workload;
  workload.objects.resize(1);
  ItemPattern pattern;
  pattern.slots = 2;
  AccessRun run;  // 3 x 2 elements of 4 bytes, the first dimension downwards: offset - 16 .. offset + 100 + 4
  run.width = 4;
  run.offset = 20;
  run.dimensions = 2;
  run.dimension = {RunDimension{3, -8, 1}, RunDimension{2, 100, 3}};
  pattern.runs.push_back(run);
  workload.patterns.push_back(pattern);
  const ItemBlock block{5, 9, PatternId{0u}, {{ObjectId{0u}, 1000, -50}, {ObjectId{0u}, 0, 0}}};  // the second slot is not touched
  const auto extents = BlockExtents{workload}.of(block);
  ASSERT_EQ(extents.size(), 1u);
  EXPECT_EQ(extents[0].bytes, (ByteExtent{1000 + 20 - 16 - 3 * 50, 1000 + 20 + 100 + 4}));
}

// parallelism = lines / sum of (1 / misses in flight)
TEST(MissParallelism, IsThatOfItsDependencesBuffersAndPrefetches) {
  const auto of = [](const Workload& workload, const std::string& label) {
    return region(workload, summarize(workload), label).miss_parallelism;
  };
  EXPECT_NEAR(of(*test::chase(4096, 4096), "chase"), 1, 0.01);
  EXPECT_NEAR(of(*test::chase(4096, 4096, 4), "chase"), 4, 0.1);
  EXPECT_NEAR(of(*test::gather(65536, 65536, 8), "gather"), 10, 1.5);  // index and result are streams of few lines
  EXPECT_NEAR(of(*test::stream_triad(65536, 8, 1), "triad"), 16, 0.01);
}

TEST(MissParallelism, CountsTheIterationsThatAreLeftOver) {
  // 17 iterations are 16 stretches of one, the last with the seventeenth. Those have a line each, one at a time; it has 1024, ten at a
  // time: lines / latencies = (16 + 1024) / (16 + 102.4).
  WorkloadBuilder builder;
  const ObjectId data = builder.object("data", 2048 * 4096);
  const RegionId loop = builder.loop("loop", 17);
  std::vector<std::int64_t> scattered = test::scattered_order(1024);
  for (std::int64_t& offset : scattered) offset = (offset + 1) * 4096;
  builder.stream(loop, AccessKind::read, data, {0}, 1);
  builder.next_block(loop, 16);
  builder.stream(loop, AccessKind::read, data, scattered);
  builder.next_block(loop, 17);
  builder.repeat(loop);
  const double expected = (16 + 1024) / (16 + 102.4);
  EXPECT_NEAR(summarize(*builder.build()).regions[0].miss_parallelism, expected, 0.01 * expected);
}

TEST(MissParallelism, OfNothingIsZero) {
  WorkloadBuilder builder;
  const RegionId region = builder.serial("idle");
  builder.repeat(region);
  EXPECT_EQ(summarize(*builder.build()).regions[0].miss_parallelism, 0);
}

TEST(TraceSummary, NamesEveryKind) {
  EXPECT_EQ(name_of(ObjectKind::thread_local_storage), "tls");
  EXPECT_EQ(name_of(ObjectKind::mapped), "mmap");
  EXPECT_EQ(name_of(RegionKind::single), "single");
}

}  // namespace
}  // namespace homenode
