// Work cut inside its iterations: what a serial region does must not depend on where it is cut.
#include <gtest/gtest.h>

#include <numeric>

#include "models/machines/machine_file.hpp"
#include "models/run/run.hpp"
#include "sim/loop/simulation.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

std::uint64_t sum(const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); }

Machine x5550() { return load_machine(test::source_folder() / "models/machines/xeon-x5550-2s.toml"); }

RunReport run_on(const Machine& machine, const Workload& workload, unsigned threads, Bytes quantum = Bytes{0},
                 const char* caches = "runs") {
  RunSpec options;
  options.threads = threads;
  options.caches = caches;
  RunExtras extras;
  extras.quantum = quantum;
  return accounted_run(workload, machine, options, extras);
}

constexpr std::int64_t block_bytes = 256 << 10;  // pages of its own, far less than the last level

void allocate_write_release(WorkloadBuilder& builder, RegionId region, ObjectId block, bool release) {
  builder.heap(region, HeapOperation::allocate, block);
  builder.nest(region, {block_bytes / 8}, {write(block, 0, {8})});
  if (release) builder.heap(region, HeapOperation::release, block);
}

class WithCaches : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(both, WithCaches, ::testing::Values("runs", "lines"));

TEST_P(WithCaches, aBlockTakesThePlaceOfTheOneFreedBeforeIt) {
  // malloc A; write A; free A; malloc B of the same size; write B, in one serial region.
  //   A starts 64 bytes into a page (its alignment): L = 262144 / 64 lines on P = 262144 / 4096 + 1 pages. free(A) gives them back: B gets
  //   A's addresses, its pages fault anew, and what A left modified in the caches is lost, not written.
  //   faults = 2 P; lines read = 0 (the kernel zeroes them in the caches); lines written = L, those of B, at the end.
  // Were both allocated before and released after the region, B would lie elsewhere and 2 L lines would be written.
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", block_bytes), b = builder.object("b", block_bytes);
  const RegionId region = builder.serial("temporaries");
  allocate_write_release(builder, region, a, true);
  allocate_write_release(builder, region, b, false);
  builder.repeat(region);
  const RunReport report = run_on(one_node(), *builder.build(), 1, Bytes{0}, GetParam());
  const std::uint64_t lines = block_bytes / 64, pages = block_bytes / 4096 + 1;
  EXPECT_EQ(report.page_faults, 2 * pages);
  EXPECT_EQ(sum(report.counts.read_bytes), 0U);
  EXPECT_EQ(sum(report.counts.write_bytes), lines * 64);
  EXPECT_EQ(report.counts.accesses, 2u * block_bytes / 8);
}

TEST_P(WithCaches, aBlockFreedLaterIsNotReused) {
  // malloc A; write A; malloc B; write B; free A: both exist at a time. P faults and L lines read each; only A's are lost.
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", block_bytes), b = builder.object("b", block_bytes);
  const RegionId region = builder.serial("temporaries");
  allocate_write_release(builder, region, a, false);
  allocate_write_release(builder, region, b, false);
  builder.heap(region, HeapOperation::release, a);
  builder.nest(region, {1}, {read(b, 0, {8})});
  builder.repeat(region);
  const RunReport report = run_on(one_node(), *builder.build(), 1, Bytes{0}, GetParam());
  const std::uint64_t lines = block_bytes / 64, pages = block_bytes / 4096 + 1;
  EXPECT_EQ(report.page_faults, 2 * pages);
  EXPECT_EQ(sum(report.counts.read_bytes), 0U);
  EXPECT_EQ(sum(report.counts.write_bytes), lines * 64);
}

TEST(SerialItem, ofManyTemporariesNeedsTheMemoryOfOne) {
  // 1000 blocks one after the other. The first is mapped and unmapped, and none of its lines is written to memory. All others have one
  // place in glibc's heap: 2 P faults, and the lines of the last one are written in the end.
  WorkloadBuilder builder;
  const RegionId region = builder.serial("temporaries");
  for (int i = 0; i < 1000; ++i) allocate_write_release(builder, region, builder.object("block", block_bytes), true);
  builder.repeat(region);
  const RunReport report = run_on(one_node(), *builder.build(), 1);
  EXPECT_EQ(report.page_faults, 2u * (block_bytes / 4096 + 1));
  EXPECT_EQ(sum(report.counts.write_bytes), block_bytes);
}

// Stencil of n x n doubles, all in one iteration (`items` = 1) or its rows spread over `items` of them; every item of equal size.
std::shared_ptr<Workload> stencil_in(std::int64_t n, std::int64_t items, bool serial) {
  WorkloadBuilder builder;
  const std::int64_t row = n * 8, rows = (n - 2) / items;
  const auto bytes = static_cast<std::uint64_t>(n * row);
  const ObjectId a = builder.object("a", bytes, ObjectKind::mapped), b = builder.object("b", bytes, ObjectKind::mapped);
  const RegionId sweep = serial ? builder.serial("sweep") : builder.loop("sweep", items);
  builder.nest(sweep, {static_cast<std::uint32_t>(n - 2), static_cast<std::uint32_t>(rows)},
               {read(a, row + 8, {8, row}, rows * row), read(a, 8, {8, row}, rows * row), read(a, 2 * row + 8, {8, row}, rows * row),
                write(b, row + 8, {8, row}, rows * row)});
  WorkCounts work;
  work.instructions = static_cast<double>(7 * (n - 2) * rows);
  work.load = static_cast<double>(3 * (n - 2) * rows);
  work.store = static_cast<double>((n - 2) * rows);
  builder.work(sweep, work);
  builder.repeat(sweep, 2);
  return builder.build();
}

TEST(SerialItem, ofManyQuantaIsLikeTheSameLoopAsFreeIterationsOnOneThread) {
  // 2 arrays of 510 rows of 4 KiB: 8 quanta of 512 KiB; rows as iterations, or all as one. The groups of accesses are the same, so the
  // traffic is the same line by line; the cuts lie elsewhere, which moves latency under load by less than 1 %.
  const Machine machine = x5550();
  ASSERT_EQ(default_quantum(machine).count(), 512 << 10);
  const RunReport serial = run_on(machine, *stencil_in(512, 1, true), 1), free = run_on(machine, *stencil_in(512, 510, false), 1);
  EXPECT_EQ(serial.counts.traffic_bytes, free.counts.traffic_bytes);
  EXPECT_EQ(serial.counts.hit_lines, free.counts.hit_lines);
  EXPECT_EQ(serial.counts.accesses, free.counts.accesses);
  EXPECT_EQ(serial.counts.tlb_misses, free.counts.tlb_misses);
  EXPECT_EQ(serial.page_faults, free.page_faults);
  EXPECT_NEAR(serial.time.seconds(), free.time.seconds(), 0.01 * free.time.seconds());
}

TEST(SerialItem, besideNothingElseConservesBytes) {
  // Bytes by (initiator, home) = bytes read + written by home = 64 B a line moved; every access is made; one array of n^2 doubles
  // is written, so as many lines are filled for it and written back as it has, all by the master's node.
  const std::int64_t n = 1024;
  const auto workload = stencil_in(n, 1, true);
  const Machine machine = x5550();
  const RunReport report = run_on(machine, *workload, 1);
  EXPECT_EQ(sum(report.counts.traffic_bytes), 64 * report.counts.memory_lines);
  EXPECT_EQ(sum(report.counts.read_bytes) + sum(report.counts.write_bytes), 64 * report.counts.memory_lines);
  EXPECT_EQ(report.counts.accesses, 2u * 4 * (n - 2) * (n - 2));
  EXPECT_EQ(report.counts.traffic_bytes[0], sum(report.counts.traffic_bytes));
  // Two sweeps over 8 MiB a and b each, in 8 MiB of cache: at least the first sweep's reads of a and b, and one write of b.
  EXPECT_GE(sum(report.counts.write_bytes), static_cast<std::uint64_t>((n - 2) * (n - 2) * 8));
  EXPECT_GE(sum(report.counts.read_bytes), static_cast<std::uint64_t>(2 * (n - 2) * (n - 2) * 8));
}

TEST(Quantum, halvingItChangesASerialRunByLessThanOnePercent) {
  const Machine machine = x5550();
  for (const auto& workload : {stencil_in(1024, 1, true), chase(1 << 16, 1 << 18), stream_triad(1 << 20, 1, 2)}) {
    const RunReport whole = run_on(machine, *workload, 1);
    for (const std::int64_t part : {2, 4, 16}) {
      const RunReport cut = run_on(machine, *workload, 1, Bytes{default_quantum(machine).count() / part});
      EXPECT_NEAR(cut.time.seconds(), whole.time.seconds(), 0.01 * whole.time.seconds()) << part;
      // Alone on the machine, a cut changes nothing about what the caches see.
      EXPECT_EQ(cut.counts.traffic_bytes, whole.counts.traffic_bytes) << part;
      EXPECT_EQ(cut.counts.tlb_misses, whole.counts.tlb_misses) << part;
      EXPECT_EQ(cut.page_faults, whole.page_faults) << part;
    }
  }
}

// Each of `team` ranks sweeps its own part of two arrays, 16 quanta a part.
std::shared_ptr<Workload> bound_streams(std::uint32_t team) {
  WorkloadBuilder builder;
  const std::int64_t part = 4 << 20;
  const ObjectId a = builder.object("a", static_cast<std::uint64_t>(team * part), ObjectKind::mapped),
                 b = builder.object("b", static_cast<std::uint64_t>(team * part), ObjectKind::mapped);
  const RegionId region = builder.bound("parts", team);
  builder.nest(region, {static_cast<std::uint32_t>(part / 8)}, {read(a, 0, {8}, part), write(b, 0, {8}, part)});
  builder.repeat(region, 2);
  return builder.build();
}

TEST(BoundItems, ofSeveralThreadsGoOnEachWhereItWas) {
  // 8 ranks of 2 x 4 MiB, twice: every access is made; b is filled and written, on first touch by its own rank: nothing is remote.
  const auto workload = bound_streams(8);
  for (const bool shared_cores : {false, true}) {
    Machine machine = x5550();
    if (shared_cores) {  // two ranks a core take turns by slices
      machine.core_node.resize(4);
      machine.sockets = 1;
      machine.nodes.resize(1);
      machine.controllers.resize(1);
      machine.links.clear();
    }
    RunSpec options;
    options.threads = 8;
    options.oversubscribe = shared_cores;
    RunExtras extras;
    extras.keep_log = true;
    const RunReport report = accounted_run(*workload, machine, options, extras);
    EXPECT_EQ(report.counts.accesses, 2u * 8 * 2 * (4 << 20) / 8);
    EXPECT_EQ(sum(report.counts.traffic_bytes), 64 * report.counts.memory_lines);
    EXPECT_EQ(report.remote_pages, 0u);
    EXPECT_EQ(report.page_faults, 8u * (4 << 20) / 4096);
    EXPECT_EQ(report.log.size(), 16u);
    for (const HandOut& out : report.log) EXPECT_EQ(out.items.size(), 1);
  }
}

TEST(Quantum, halvingItChangesBoundThreadsByLessThanTwoPercent) {
  const Machine machine = x5550();
  const auto workload = bound_streams(8);
  const RunReport whole = run_on(machine, *workload, 8), half = run_on(machine, *workload, 8, Bytes{default_quantum(machine).count() / 2});
  EXPECT_NEAR(half.time.seconds(), whole.time.seconds(), 0.02 * whole.time.seconds());
  const auto lines = static_cast<double>(whole.counts.memory_lines);
  EXPECT_NEAR(static_cast<double>(half.counts.memory_lines), lines, 0.02 * lines);
}

TEST(CutRun, isTheSameTwiceAndOnItsOwnLog) {
  const Machine machine = x5550();
  const auto workload = jacobi3d(60, 600, 600, 10, 10, 600, 1);  // a block is several quanta
  RunSpec options;
  options.threads = 8;
  options.distribution = "dynamic:2";
  RunExtras extras;
  extras.keep_log = true;
  const RunReport first = accounted_run(*workload, machine, options, extras), second = accounted_run(*workload, machine, options, extras);
  EXPECT_EQ(first.time, second.time);
  EXPECT_EQ(first.counts.traffic_bytes, second.counts.traffic_bytes);
  extras.follow = first.log;
  const RunReport followed = accounted_run(*workload, machine, options, extras);
  EXPECT_EQ(followed.time, first.time);
  EXPECT_EQ(followed.counts.traffic_bytes, first.counts.traffic_bytes);
}

}  // namespace
}  // namespace homenode::test
