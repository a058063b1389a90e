// S1's machine (table 2): what is printed must come out of the file, and what is assumed between must hang together.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "models/machines/machine_changes.hpp"
#include "models/machines/machine_file.hpp"
#include "sim/machine/topology.hpp"
#include "tests/support/source_folder.hpp"

namespace homenode {
namespace {

using testing::ElementsAre;
using testing::Pair;

Machine uv() { return load_machine(test::source_folder() / "models" / "machines" / "sgi-uv-32s.toml"); }

double distance(const Topology& topology, std::size_t from, std::size_t to) {
  return topology.latency(NodeId{from}, NodeId{to}).seconds() / topology.latency(NodeId{from}, NodeId{from}).seconds();
}

TEST(SgiUv, Has256CoresOn32NodesOf32GB) {
  const Machine machine = uv();
  EXPECT_EQ(machine.sockets, 32u);
  EXPECT_EQ(machine.nodes.size(), 32u);
  EXPECT_EQ(machine.cores(), 256u);
  for (std::size_t core = 0; core < 256; ++core) EXPECT_EQ(machine.node_of(CoreId{core}), NodeId{core / 8});  // S1: thread i on node i/8
  for (const NodeDescription& node : machine.nodes) EXPECT_EQ(node.memory, Bytes{32'000'000'000});
}

// C37 (identity): least distance 1.0, largest 6.8. The identity sets a NUMAlink hop h: 6.8 = 1 + (2 x 62 + 4 h) / 135, h = 164.75 ns.
TEST(SgiUv, SpansThePrintedDistances) {
  const Topology topology{uv()};
  double least = 100, largest = 0;
  for (std::size_t from = 0; from < 32; ++from)
    for (std::size_t to = 0; to < 32; ++to) {
      least = std::min(least, distance(topology, from, to));
      largest = std::max(largest, distance(topology, from, to));
    }
  EXPECT_EQ(least, 1.0);
  EXPECT_NEAR(largest, 6.8, 1e-9);
}

// Assumed levels: itself; 1 + 62 / 135 to the blade's other socket; 1 + (2 x 62 + 2 x 164.75) / 135 to the 6 sockets on the same
// router; 6.8 to the 24 others.
TEST(SgiUv, HasFourLevelsAlikeFromEveryNode) {
  const Topology topology{uv()};
  for (std::size_t from = 0; from < 32; ++from) {
    std::map<long, int> sockets;  // by distance in thousandths
    for (std::size_t to = 0; to < 32; ++to) ++sockets[std::lround(1000 * distance(topology, from, to))];
    EXPECT_THAT(sockets, ElementsAre(Pair(1000, 1), Pair(1459, 1), Pair(4359, 6), Pair(6800, 24))) << from;
    EXPECT_EQ(std::lround(1000 * distance(topology, from, from ^ 1u)), 1459) << from;  // sockets 2b and 2b + 1 share a blade
  }
}

// No route crosses another socket: apart from the blade's own link, the first hop is to the hub, and so is the last one back.
TEST(SgiUv, RoutesThroughHubsOnly) {
  const Machine machine = uv();
  const Topology topology{machine};
  for (std::size_t from = 0; from < 32; ++from)
    for (std::size_t to = 0; to < 32; ++to) {
      const std::vector<LinkId>& route = topology.route(SocketId{from}, SocketId{to});
      ASSERT_EQ(route.size(), from == to ? 0u : from / 2 == to / 2 ? 1u : from / 8 == to / 8 ? 4u : 6u);
      std::set<std::size_t> ends;
      for (const LinkId link : route)
        for (const SocketId end : {machine.links[link.index() / 2].from, machine.links[link.index() / 2].to})
          if (end.index() < machine.sockets) ends.insert(end.index());
      if (from != to) { EXPECT_EQ(ends, (std::set<std::size_t>{from, to})); }
    }
}

// JArena on 8 threads writes 8 x 64 blocks of 1 MiB of a node in 0.039 s (S1, table 4), lines that are not fetched first:
// 1 / B_w = 2 / B_11 - 1 / B_r. STREAM triad of another 4 x X7550, 35.9 GB/s that count 24 of 32 B, is attained as well.
TEST(SgiUv, WritesAsS1Measured) {
  for (const ControllerDescription& controller : uv().controllers) {
    const double read = 1 / controller.read_only.bytes_per_second(), write = 2 / controller.one_to_one.bytes_per_second() - read;
    EXPECT_NEAR(8 * 64 * 1048576 * write, 0.039, 0.001);
    EXPECT_GT(1 / (0.75 * read + 0.25 * write), 35.9e9 * 32 / 24 / 4);
  }
}

// A lone reader of a far node is held up by its hub's NUMAlink, 3.7 x 64 / 72, and not by QPI; where the ports carry what is said of them,
// by Little's law and then by QPI.
TEST(SgiUv, ALoneReaderIsHeldUpByNumalink) {
  const Machine machine = uv();
  std::map<std::string, std::string> wide;
  for (std::size_t link = 48; link < 68; ++link) wide["links." + std::to_string(link) + ".bandwidth"] = link < 64 ? "30 GB/s" : "120 GB/s";
  EXPECT_NEAR(Topology{machine}.read_bandwidth(NodeId{0}, NodeId{31}).bytes_per_second(), 3.7e9 * 64 / 72, 1e6);
  // 8 cores x 15 lines x 64 B / (6.8 x 135 ns) = 8.37 GB/s
  EXPECT_NEAR(Topology{with_changes(machine, wide)}.read_bandwidth(NodeId{0}, NodeId{31}).bytes_per_second(), 8 * 15 * 64 / 918e-9, 1e6);
  // with misses enough it is the link: 12.8 x 64 / 72 = 11.38 GB/s
  wide["core.prefetched_lines"] = "150";
  EXPECT_NEAR(Topology{with_changes(machine, wide)}.read_bandwidth(NodeId{0}, NodeId{31}).bytes_per_second(), 12.8e9 * 64 / 72, 1e6);
}

}  // namespace
}  // namespace homenode
