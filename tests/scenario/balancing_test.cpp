// Automatic NUMA balancing in whole runs: what was measured in a real Linux (1 s delay, 1 to 60 s period, 256 MB a scan), in simulated
// time. Machines with round numbers: memory 100 ns local and 150 ns over the link, 16 lines in flight, so that one core reads
// 64 B x 16 / 100 ns = 10.2 GB/s at home and 6.8 GB/s away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t page = 4096, lines_of_page = page / 64;

std::uint64_t sum(const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); }

struct Readers {
  std::int64_t pages = 4096;                  // 16 MiB, twice the last level: every pass misses
  std::vector<std::uint32_t> passes{1};       // by thread
  std::vector<double> nanoseconds_a_line{0};  // that the thread computes for each line
};

// Thread 0 writes the array; then each thread reads all of it as often as told, a read for each line.
std::shared_ptr<Workload> readers(const Readers& r) {
  WorkloadBuilder builder;
  const auto bytes = static_cast<std::uint64_t>(r.pages * page);
  const auto lines = static_cast<std::uint32_t>(r.pages * lines_of_page);
  const ObjectId array = builder.object("array", bytes, ObjectKind::mapped);
  const auto team = static_cast<std::uint32_t>(r.passes.size());
  const RegionId fill = builder.serial("fill"), look = builder.bound("look", team);
  builder.nest(fill, {lines}, {write(array, 0, {64})});
  builder.repeat(fill);
  for (std::uint32_t thread = 0; thread < team; ++thread) {
    builder.nest(look, {lines, r.passes[thread]}, {read(array, 0, {64, 0})});
    WorkCounts work;
    work.fp_add = r.nanoseconds_a_line[thread] * 2 * lines * r.passes[thread];  // one an operation a cycle, 2 GHz
    builder.work(look, work);
    builder.next_block(look, thread + 1);
  }
  builder.repeat(look);
  return builder.build();
}

RunReport replay(const Readers& r, const std::string& placement, Bytes quantum = Bytes{0}) {
  RunSpec options;
  options.threads = static_cast<unsigned>(r.passes.size());
  options.mapping = "scatter";  // thread 0 on node 0, thread 1 on node 1
  options.placement = placement;
  RunExtras extras;
  extras.quantum = quantum;
  return accounted_run(*readers(r), two_sockets(), options, extras);
}

// Thread 1 reads alone what thread 0 wrote. One pass of 16 MiB takes 2.5 ms away and 1.6 ms at home.
Readers away(std::uint32_t passes) { return {4096, {1, passes}, {0, 0}}; }

TEST(Balancing, doesNothingBeforeItsDelay) {
  // 100 passes take 0.25 s: no scan, and the same run as without.
  const RunReport off = replay(away(100), "first-touch"), on = replay(away(100), "first-touch+autonuma");
  EXPECT_EQ(on.time, off.time);
  EXPECT_EQ(on.hinting_faults, 0u);
  EXPECT_EQ(on.migrated_pages, 0u);
}

TEST(Balancing, movesPagesToTheirOnlyReaderAfterTheDelay) {
  // 500 passes take 1.24 s away. The scan after 1 s unmaps all pages; each moves at its first touch, as no fault spoke against it:
  // until then 1 / 2.46 ms = 406 passes, then 94 at home. A pass more or less for the faults.
  const RunReport off = replay(away(500), "first-touch"), on = replay(away(500), "first-touch+autonuma");
  EXPECT_EQ(off.migrated_pages, 0u);
  EXPECT_GT(on.time, Time::from_seconds(1));
  EXPECT_EQ(on.hinting_faults, 4096u);
  EXPECT_EQ(on.migrated_pages, 4096u);
  EXPECT_THAT(on.pages_by_node, ::testing::ElementsAre(0, 4096));
  const double pass_away = 4096 * 64 / 16.0 * 150e-9, pass_home = 4096 * 64 / 16.0 * 100e-9;
  const double passes_before = 1 / pass_away;
  EXPECT_NEAR(on.time.seconds(), 1 + (500 - passes_before) * pass_home, 0.02);
  EXPECT_NEAR(off.time.seconds(), 500 * pass_away, 0.01);
}

TEST(Balancing, carriesTheBytesOfEachPageFromHomeToHome) {
  // Each of the 4096 pages is read once at its old home and written once at its new one, beside what the program itself does.
  const std::string quick = "first-touch+autonuma:scan_delay=10ms";
  const RunReport off = replay(away(20), "first-touch"), on = replay(away(20), quick);
  const std::uint64_t moved = 4096 * page;
  ASSERT_EQ(on.migrated_pages, 4096u);
  EXPECT_EQ(sum(on.counts.read_bytes), sum(off.counts.read_bytes) + moved);
  EXPECT_EQ(sum(on.counts.write_bytes), sum(off.counts.write_bytes) + moved);
  EXPECT_EQ(on.counts.write_bytes[1], moved);
  for (std::size_t node = 0; node < 2; ++node) {
    const std::uint64_t column = on.counts.traffic_bytes[node] + on.counts.traffic_bytes[2 + node];
    EXPECT_EQ(column, on.counts.read_bytes[node] + on.counts.write_bytes[node]);
  }
}

TEST(Balancing, movesPagesToTheReaderThatReadsEightTimesAsOften) {
  // Thread 0, on the pages' node, computes for 70 ns at each line: 18.3 ms a pass, while thread 1 takes 2.5 ms, then 1.6 ms.
  // Scans every 1 ms unmap 1 MiB, as many a second as Linux allows at most (2560 MiB); 16 of them see all pages.
  Readers r{4096, {40, 320}, {70, 0}};
  const RunReport on = replay(r, "first-touch+autonuma:scan_delay=5ms,scan_period_min=1ms,scan_period_max=2ms,scan_size=1MiB");
  EXPECT_GT(on.pages_by_node[1], 4096u * 9 / 10);
}

TEST(Balancing, neitherLosesNorDoublesPagesThatTwoReadersShareEvenly) {
  // Which way shared pages go depends on the order of faults (in a real Linux it does not repeat): bounds only.
  Readers r{4096, {60, 60}, {0, 0}};
  const RunReport on = replay(r, "first-touch+autonuma:scan_delay=5ms,scan_period_min=1ms,scan_period_max=4ms,scan_size=4MiB");
  EXPECT_EQ(sum(on.pages_by_node), 4096u);
  EXPECT_GT(on.hinting_faults, 0u);
  EXPECT_LE(on.migrated_pages, on.hinting_faults);
}

TEST(Balancing, givesTheSameRunTwice) {
  Readers r{4096, {60, 60}, {0, 0}};
  const std::string placement = "interleave+autonuma:scan_delay=5ms,scan_period_min=1ms,scan_period_max=4ms,scan_size=4MiB";
  const RunReport a = replay(r, placement), b = replay(r, placement);
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.migrated_pages, b.migrated_pages);
  EXPECT_EQ(a.counts.traffic_bytes, b.counts.traffic_bytes);
}

TEST(Balancing, costsItsThreadAFixedTimeForEachPageThatItScansAndFaultsOn) {
  // One thread on the pages' node: nothing moves, the traffic is the same. A scan of 16 MiB costs 4096 (fault + scan), one of 8 MiB half.
  const Readers r{4096, {20}, {0}};
  const auto with = [&](const char* size) { return replay(r, std::string{"first-touch+autonuma:scan_delay=10ms,scan_size="} + size); };
  const RunReport off = replay(r, "first-touch"), all = with("16MiB"), half = with("8MiB");
  EXPECT_EQ(all.hinting_faults, 4096u);
  EXPECT_EQ(half.hinting_faults, 2048u);
  EXPECT_EQ(all.migrated_pages, 0u);
  EXPECT_EQ(all.counts.traffic_bytes, off.counts.traffic_bytes);
  const double cost_of_all = (all.time - off.time).seconds(), cost_of_half = (half.time - off.time).seconds();
  EXPECT_GT(cost_of_half, 0);
  EXPECT_NEAR(cost_of_all / cost_of_half, 2, 0.05);
}

TEST(Carrefour, movesPagesToTheirOnlyReader) {
  // 6.8 GB/s are 107 lines a microsecond (> 50). In the first 10 ms thread 0 writes the pages and thread 1 reads them: traffic (all, 0),
  // and half of the pages, which both used, are spread. Later they have one user and fewer than 80 % of accesses are local: all go there.
  // Each page is read once more for its copy, give or take what the caches held when its lines were dropped (8 MiB).
  const RunReport off = replay(away(20), "first-touch"), on = replay(away(20), "first-touch+carrefour:period=10ms");
  EXPECT_EQ(on.migrated_pages, 4096u);
  EXPECT_THAT(on.pages_by_node, ::testing::ElementsAre(0, 4096));
  EXPECT_NEAR(static_cast<double>(sum(on.counts.read_bytes)), static_cast<double>(sum(off.counts.read_bytes) + 4096 * page), 8 << 20);
  EXPECT_LT(on.time, off.time);
}

TEST(Carrefour, knowsWhoseTrafficItIsInEveryEngine) {
  // Two threads read an array of their own at once, each interleaved over both nodes; a pass of 16 MiB takes 2 ms. After a period of 10 ms
  // with one user each page goes to it: thread 0's after the first, at most five passes; thread 1's after the second, at most ten, for in
  // the first thread 0 has filled them. Half of those bytes are remote, half of the lines that are filled, read and written back, and half
  // of the pages that are copied: of 20 passes, fill and copies (7.5 / 2 + 1 + 0.5) / 23.
  WorkloadBuilder builder;
  const std::int64_t bytes = 4096 * page;
  const ObjectId arrays = builder.object("arrays", 2 * static_cast<std::uint64_t>(bytes), ObjectKind::mapped);
  constexpr auto lines = static_cast<std::uint32_t>(4096 * lines_of_page);
  const RegionId fill = builder.serial("fill"), look = builder.bound("look", 2);
  builder.nest(fill, {2 * lines}, {write(arrays, 0, {64})});
  builder.repeat(fill);
  builder.nest(look, {lines, 20}, {read(arrays, 0, {64, 0}, bytes)});
  builder.repeat(look);
  const auto workload = builder.build();
  RunSpec options;
  options.threads = 2;
  options.mapping = "scatter";
  options.placement = "interleave+carrefour:period=10ms";
  for (const char* engine : {"flow", "line"}) {
    options.engine = engine;
    const std::vector<std::uint64_t> traffic = run(*workload, two_sockets(), options).counts.traffic_bytes;  // by reader, by home
    EXPECT_LT(static_cast<double>(traffic[1] + traffic[2]), static_cast<double>(sum(traffic)) * 5.25 / 23) << engine;
  }
}

TEST(Carrefour, spreadsPagesThatSeveralNodesReadUntilTheirTrafficIsEven) {
  // Both nodes read all pages, which lie on node 0: traffic (all, 0), deviation over mean = 1.41 (> 35 %). Half of it moves.
  const Readers r{4096, {20, 20}, {0, 0}};
  const RunReport on = replay(r, "bind:0+carrefour:period=10ms");
  EXPECT_NEAR(static_cast<double>(on.pages_by_node[0]), 2048, 205);
  EXPECT_LT(on.time, replay(r, "bind:0").time);
}

TEST(Carrefour, leavesTrafficAloneThatIsSlightOrEven) {
  const Readers r{4096, {20, 20}, {0, 0}};
  EXPECT_EQ(replay(r, "interleave+carrefour:period=10ms").migrated_pages, 0u);                                   // deviation 0
  EXPECT_EQ(replay(away(20), "first-touch+carrefour:period=10ms,accesses=200").migrated_pages, 0u);              // 107 a microsecond
  EXPECT_EQ(replay(away(20), "first-touch+carrefour:period=10ms,locality=0,imbalance=150").migrated_pages, 0u);  // at most 141 %
}

TEST(Balancing, hangsLittleOnTheQuantum) {
  // Decisions fall at the begin of slices: a quantum of half as much moves them by at most one slice of 512 KiB, 77 us of 50 ms.
  const std::string quick = "first-touch+autonuma:scan_delay=10ms";
  const RunReport usual = replay(away(20), quick), half = replay(away(20), quick, Bytes{256 << 10});
  EXPECT_EQ(usual.migrated_pages, half.migrated_pages);
  EXPECT_NEAR(half.time.seconds() / usual.time.seconds(), 1, 0.01);
}

}  // namespace
}  // namespace homenode::test
