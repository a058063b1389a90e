// Carrefour's replication in whole runs. Memory 100 ns local and 150 ns over the link, 16 lines in flight: a pass over 2 MiB takes 0.20 ms
// at home, 0.31 ms away and 0.26 ms where the pages are spread over both nodes. A copy takes 2.6 us, those of 512 pages 1.3 ms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t page = 4096, lines_of_page = page / 64, pages = 512;
constexpr auto lines = static_cast<std::uint32_t>(pages * lines_of_page);

std::uint64_t sum(const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); }

Machine small_caches() {
  Machine machine = two_sockets();
  machine.caches[2].size = Bytes{1 << 20};
  return machine;
}

// Thread 0 fills a table of 2 MiB, twice the last level. Then, so many times: both threads read all of it `passes` times, and, if told,
// thread 0 stores once into each page.
std::shared_ptr<Workload> table(std::uint32_t times, std::uint32_t passes, bool stores) {
  WorkloadBuilder builder;
  const ObjectId array = builder.object("table", static_cast<std::uint64_t>(pages * page), ObjectKind::mapped);
  const RegionId fill = builder.serial("fill"), look = builder.bound("look", 2);
  builder.nest(fill, {lines}, {write(array, 0, {64})});
  builder.nest(look, {lines, passes}, {read(array, 0, {64, 0})});
  RegionId store;
  if (stores) {
    store = builder.serial("store");
    builder.nest(store, {static_cast<std::uint32_t>(pages)}, {write(array, 0, {page})});
  }
  builder.repeat(fill);
  for (std::uint32_t time = 0; time < times; ++time) {
    builder.repeat(look);
    if (stores) builder.repeat(store);
  }
  return builder.build();
}

RunReport replay(const Workload& workload, const std::string& placement, const std::string& engine = "flow",
                 const Machine& machine = small_caches()) {
  RunSpec options;
  options.threads = 2;
  options.mapping = "scatter";  // thread 0 on node 0, thread 1 on node 1
  options.placement = placement;
  options.engine = engine;
  return accounted_run(workload, machine, options);
}

// What controllers of a node served is what the matrix says of it.
void expect_conserved(const RunReport& report) {
  for (std::size_t node = 0; node < 2; ++node) {
    const std::uint64_t column = report.counts.traffic_bytes[node] + report.counts.traffic_bytes[2 + node];
    EXPECT_EQ(column, report.counts.read_bytes[node] + report.counts.write_bytes[node]);
  }
}

TEST(Replication, letsEachNodeReadASharedTableAtHome) {
  // In the first period the table is filled, so that it is spread. After the second it gets copies, and a pass takes 0.20 ms where it took
  // 0.26 ms: 100 passes 2 + 1.3 + (20 - 2 x 0.20 / 0.26) = 22 ms, without copies 26 ms.
  const auto workload = table(1, 100, false);
  for (const char* engine : {"flow", "line"}) {
    const RunReport off = replay(*workload, "bind:0+carrefour:period=1ms", engine),
                    on = replay(*workload, "bind:0+carrefour:period=1ms,replicate=on", engine);
    EXPECT_FALSE(off.replication) << engine;
    ASSERT_TRUE(on.replication) << engine;
    EXPECT_EQ(on.replication->replicated, 512u) << engine;
    EXPECT_EQ(on.replication->collapsed, 0u) << engine;
    EXPECT_EQ(on.replication->without_room, 0u) << engine;
    EXPECT_EQ(sum(on.pages_by_node), 512u) << engine;
    EXPECT_LT(on.time.seconds(), 0.95 * off.time.seconds()) << engine;
    const auto remote = [](const RunReport& report) {
      return static_cast<double>(report.counts.traffic_bytes[1] + report.counts.traffic_bytes[2]);
    };
    EXPECT_LT(remote(on), 0.3 * remote(off)) << engine;
    expect_conserved(on);
  }
}

TEST(Replication, carriesEachPageOnceToEachCopy) {
  // Nothing is decided while the table is filled. Then node 0's pages are read once more there and written once at node 1; give or take
  // what the caches held of them.
  const std::string placement = "bind:0+carrefour:period=5ms,imbalance=1000,locality=0";
  const auto workload = table(1, 100, false);
  const RunReport off = replay(*workload, placement), on = replay(*workload, placement + ",replicate=on");
  ASSERT_EQ(on.replication->replicated, 512u);
  EXPECT_EQ(off.migrated_pages + on.migrated_pages, 0u);
  EXPECT_EQ(on.counts.write_bytes[1] - off.counts.write_bytes[1], std::uint64_t{512} * page);
  EXPECT_NEAR(static_cast<double>(sum(on.counts.read_bytes)), static_cast<double>(sum(off.counts.read_bytes) + 512 * page), 1 << 20);
  EXPECT_GT(on.overheads.page_work, Time{});
}

TEST(Replication, doesNotPayWhereATableIsWrittenNowAndThen) {
  // Each round of reads lasts 2.6 ms, so that one period of 1 ms lies in it: the pages get copies, and the store into each of them takes
  // these away again. A round gains some 5 x 0.06 ms by copies that cost 1.3 ms. After six times a page is left alone.
  const auto workload = table(8, 10, true);
  for (const char* engine : {"flow", "line"}) {
    const std::string placement = "interleave+carrefour:period=1ms";
    const RunReport off = replay(*workload, placement, engine), on = replay(*workload, placement + ",replicate=on", engine);
    ASSERT_TRUE(on.replication) << engine;
    EXPECT_EQ(on.replication->collapsed, 6u * 512u) << engine;
    EXPECT_EQ(on.replication->replicated, 6u * 512u) << engine;
    EXPECT_GT(on.time, off.time) << engine;
    EXPECT_EQ(sum(on.pages_by_node), 512u) << engine;
    EXPECT_EQ(on.page_faults, 512u) << engine;
    expect_conserved(on);
  }
}

TEST(Replication, countsPagesThatFindNoRoom) {
  // Node 1 has 100 frames. All of the table lies on node 0, 32 % of the memory that there is.
  Machine machine = small_caches();
  machine.nodes[0].memory = Bytes{1500 * page};
  machine.nodes[1].memory = Bytes{100 * page};
  const std::string placement = "bind:0+carrefour:period=5ms,imbalance=1000,locality=0,replicate=on,used_memory=35";
  const RunReport report = replay(*table(1, 40, false), placement, "flow", machine);
  EXPECT_EQ(report.replication->replicated, 100u);
  EXPECT_EQ(report.replication->without_room, 412u);  // asked for once: then 38 % are in use
}

TEST(Replication, givesTheSameRunTwice) {
  const auto workload = table(2, 10, true);
  const std::string placement = "interleave+carrefour:period=1ms,replicate=on";
  for (const char* engine : {"flow", "line", "simgrid"}) {
    const RunReport a = replay(*workload, placement, engine), b = replay(*workload, placement, engine);
    EXPECT_GT(a.replication->collapsed, 0u) << engine;
    EXPECT_EQ(a.time, b.time) << engine;
    EXPECT_EQ(a.counts.traffic_bytes, b.counts.traffic_bytes) << engine;
  }
}

}  // namespace
}  // namespace homenode::test
