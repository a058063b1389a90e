// Fast and slow memory in whole runs. A node with four cores (memory 100 ns, 24 GB/s), and one without (200 ns, 8 GB/s); a last level of
// 1 MiB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t page = 4096, lines_of_page = page / 64;
const std::string quick = "scan_delay=2ms,scan_period_min=2ms,scan_size=4MiB";

Machine two_tiers(std::int64_t fast_pages) {
  Machine machine = one_node();
  machine.name = "two-tiers";
  machine.nodes[0].memory = Bytes{fast_pages * page};
  machine.caches[2].size = Bytes{1 << 20};
  machine.nodes.push_back({SocketId{0}, Bytes{std::int64_t{1} << 30}, Time::nanoseconds(200), {}});
  machine.controllers.push_back({NodeId{1}, Bandwidth::bytes_per_second(8e9), Bandwidth::bytes_per_second(8e9), {}});
  return machine;
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); }

// One thread writes `cold` pages, then `hot` ones, and reads the hot ones `passes` times.
std::shared_ptr<Workload> reader(std::int64_t cold, std::int64_t hot, std::uint32_t passes) {
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", static_cast<std::uint64_t>((cold + hot) * page), ObjectKind::mapped);
  const RegionId fill = builder.serial("fill"), look = builder.serial("look");
  builder.nest(fill, {static_cast<std::uint32_t>((cold + hot) * lines_of_page)}, {write(array, 0, {64})});
  builder.repeat(fill);
  builder.nest(look, {static_cast<std::uint32_t>(hot * lines_of_page)}, {read(array, cold * page, {64})});
  builder.repeat(look, passes);
  return builder.build();
}

RunReport replay(const Workload& workload, const Machine& machine, const std::string& placement, const char* engine = "flow") {
  RunSpec options;
  options.threads = 1;
  options.placement = placement;
  options.engine = engine;
  return accounted_run(workload, machine, options, {});
}

// 1024 pages in slow memory, four times the last level, are read 40 times; a pass takes at least 4 MiB / 8 GB/s = 0.5 ms there.
TEST(Tiers, promoteWhatIsReadFromSlowMemory) {
  const auto workload = reader(0, 1024, 40);
  const Machine machine = two_tiers(std::int64_t{1} << 20);  // 4 GiB
  for (const char* engine : {"flow", "line"}) {
    const RunReport off = replay(*workload, machine, "bind:1", engine);
    EXPECT_THAT(off.pages_by_node, ElementsAre(0, 1024));
    for (const std::string& modifier : {"tiering:" + quick, "tpp:" + quick, std::string{"memtis:period=2ms,sample=1,adaptation=1000"}}) {
      const RunReport on = replay(*workload, machine, "bind:1+" + modifier, engine);
      EXPECT_THAT(on.pages_by_node, ElementsAre(1024, 0)) << modifier << ' ' << engine;
      EXPECT_EQ(on.migrated_pages, 1024u) << modifier << ' ' << engine;
      EXPECT_LT(on.time, off.time) << modifier << ' ' << engine;
    }
  }
}

// A core of 10.2 GB/s leaves its node at 100 ns (half of 24 GB/s), the other one is at 200: the bisection goes on to the node's side, by
// half of what is left each period. Of 40 passes some are still slow.
TEST(Tiers, comeNearerByHalvesWhereLatenciesAreBalanced) {
  const auto workload = reader(0, 1024, 40);
  const Machine machine = two_tiers(std::int64_t{1} << 20);
  for (const char* engine : {"flow", "line"}) {
    const RunReport off = replay(*workload, machine, "bind:1", engine),
                    on = replay(*workload, machine, "bind:1+colloid:period=2ms", engine);
    EXPECT_GT(on.pages_by_node[0], 512u) << engine;
    EXPECT_EQ(sum(on.pages_by_node), 1024u) << engine;
    EXPECT_LT(on.time, off.time) << engine;
  }
}

TEST(Tiers, carryEachPageOnce) {
  const auto workload = reader(0, 1024, 40);
  const Machine machine = two_tiers(std::int64_t{1} << 20);
  const RunReport off = replay(*workload, machine, "bind:1"), on = replay(*workload, machine, "bind:1+tiering:" + quick);
  EXPECT_EQ(sum(on.counts.read_bytes), sum(off.counts.read_bytes) + 1024 * page);
  EXPECT_EQ(sum(on.counts.write_bytes), sum(off.counts.write_bytes) + 1024 * page);
  EXPECT_EQ(on.hinting_faults, 1024u);  // one for each page; with two, TPP promotes
  EXPECT_EQ(replay(*workload, machine, "bind:1+tpp:" + quick).hinting_faults, 2u * 1024);
}

// The node has 1500 frames: 1024 cold pages and 476 of 1024 hot ones fill it. Whoever demotes makes room for hot pages.
TEST(Tiers, makeRoomForHotPages) {
  const auto workload = reader(1024, 1024, 60);
  const Machine machine = two_tiers(1500);
  const RunReport off = replay(*workload, machine, "first-touch");
  EXPECT_THAT(off.pages_by_node, ElementsAre(1500, 548));
  for (const std::string& modifier : {"tiering:" + quick, "tpp:" + quick, std::string{"memtis:period=2ms,sample=1,adaptation=1000"}}) {
    const RunReport on = replay(*workload, machine, "first-touch+" + modifier);
    EXPECT_LT(on.time, off.time) << modifier;
    EXPECT_LE(on.pages_by_node[0], 1500u) << modifier;
    EXPECT_EQ(sum(on.pages_by_node), 2048u) << modifier;
  }
  // TPP keeps 2 % free, 30 pages; the high watermark is less: 5 + 2 x 1.
  const RunReport tpp = replay(*workload, machine, "first-touch+tpp:" + quick);
  EXPECT_LE(tpp.pages_by_node[0], 1500u - 30);
}

TEST(Tiers, giveTheSameRunTwice) {
  const auto workload = reader(1024, 1024, 20);
  const std::vector<std::string> modifiers{"tiering:" + quick, "tpp:" + quick, std::string{"memtis:period=2ms,sample=1,adaptation=1000"},
                                           std::string{"colloid:period=2ms"}};
  for (const std::string& modifier : modifiers) {
    const RunReport one = replay(*workload, two_tiers(1500), "first-touch+" + modifier),
                    other = replay(*workload, two_tiers(1500), "first-touch+" + modifier);
    EXPECT_EQ(one.time, other.time) << modifier;
    EXPECT_EQ(one.counts.traffic_bytes, other.counts.traffic_bytes) << modifier;
  }
}

}  // namespace
}  // namespace homenode::test
