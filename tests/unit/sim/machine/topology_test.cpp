#include "sim/machine/topology.hpp"

#include <gmock/gmock.h>

#include "sim/base/errors.hpp"
#include "tests/unit/sim/machine/test_machine.hpp"

namespace homenode {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr auto link = [](std::size_t value) { return LinkId{value}; };
constexpr auto socket = [](std::size_t value) { return SocketId{value}; };
constexpr auto node = [](std::size_t value) { return NodeId{value}; };

// 0 - 1
// |   |
// 2 - 3
Machine square() { return small_machine(4, 2, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}); }

TEST(Topology, NeighboursTakeTheirLinkInItsDirection) {
  const Topology topology{square()};
  EXPECT_EQ(topology.directed_links(), 8u);
  EXPECT_THAT(topology.route(socket(0), socket(0)), IsEmpty());
  EXPECT_THAT(topology.route(socket(0), socket(1)), ElementsAre(link(0)));  // link 0 forwards: 2 * 0
  EXPECT_THAT(topology.route(socket(1), socket(0)), ElementsAre(link(1)));  // link 0 backwards: 2 * 0 + 1
  EXPECT_THAT(topology.route(socket(3), socket(2)), ElementsAre(link(7)));  // link 3 backwards: 2 * 3 + 1
}

TEST(Topology, DiagonalOfASquareTakesTwoHopsOverTheLowestLinks) {
  const Topology topology{square()};
  EXPECT_EQ(topology.hops(socket(0), socket(3)), 2u);
  EXPECT_THAT(topology.route(socket(0), socket(3)), ElementsAre(link(0), link(4)));  // over 1, not over 2 (links 2, 6)
  EXPECT_THAT(topology.route(socket(3), socket(0)), ElementsAre(link(5), link(1)));
  EXPECT_THAT(topology.route(socket(1), socket(2)), ElementsAre(link(1), link(2)));
}

TEST(Topology, FewestHopsComeBeforeLeastLatency) {
  Machine machine = small_machine(3, 1, {{0, 1}, {0, 2}, {2, 1}});
  machine.links[0].latency = Time::nanoseconds(500);  // direct but slow
  const Topology topology{machine};
  EXPECT_THAT(topology.route(socket(0), socket(1)), ElementsAre(link(0)));
}

TEST(Topology, LeastLatencyComesBeforeTheLowestLink) {
  Machine machine = square();
  machine.links[2].latency = Time::nanoseconds(90);  // 1-3: the way over 1 costs 40 + 90, over 2 40 + 40
  const Topology topology{machine};
  EXPECT_THAT(topology.route(socket(0), socket(3)), ElementsAre(link(2), link(6)));
}

// 0 - 3 - 4 - 2, 1 - 3: ends 3 and 4 are hubs, behind the three sockets.
TEST(Topology, RoutesCrossHubs) {
  Machine machine = small_machine(3, 1, {{0, 3}, {1, 3}, {3, 4}, {2, 4}});
  machine.hubs = 2;
  const Topology topology{machine};
  EXPECT_THAT(topology.route(socket(0), socket(1)), ElementsAre(link(0), link(3)));
  EXPECT_THAT(topology.route(socket(0), socket(2)), ElementsAre(link(0), link(4), link(7)));
  EXPECT_EQ(topology.latency(node(0), node(2)), Time::nanoseconds(60 + 3 * 40));
  EXPECT_EQ(machine.link_end_name(socket(2)), "2");
  EXPECT_EQ(machine.link_end_name(socket(4)), "hub 1");
}

TEST(Topology, LatencyIsTheHomesOwnPlusEachHop) {
  const Topology topology{square()};
  EXPECT_EQ(topology.latency(node(0), node(0)), Time::nanoseconds(60));
  EXPECT_EQ(topology.latency(node(0), node(1)), Time::nanoseconds(60 + 40));
  EXPECT_EQ(topology.latency(node(0), node(3)), Time::nanoseconds(60 + 40 + 40));
}

TEST(Topology, BandwidthIsTheLeastOfControllerLinkAndMissParallelism) {
  Machine machine = square();
  machine.prefetched_lines = 16;
  // controller: 20 GB/s; cores: 2 cores * 16 lines * 64 B / 60 ns = 34.1 GB/s
  EXPECT_DOUBLE_EQ(Topology{machine}.read_bandwidth(node(0), node(0)).bytes_per_second(), 20e9);
  // link: 9 GB/s * 64 B of data in messages of 72 B = 8 GB/s
  EXPECT_DOUBLE_EQ(Topology{machine}.read_bandwidth(node(0), node(1)).bytes_per_second(), 8e9);
  machine.prefetched_lines = 3;
  // cores: 2 * 3 * 64 B / 60 ns = 6.4 GB/s
  EXPECT_DOUBLE_EQ(Topology{machine}.read_bandwidth(node(0), node(0)).bytes_per_second(), 2 * 3 * 64 / 60e-9);
}

TEST(Topology, TwoNodesOfOneSocketAreApartByTheSocketsOwnCrossing) {
  Machine machine = small_machine(1, 2, {});
  machine.nodes.push_back(machine.nodes[0]);
  machine.core_node = {node(0), node(1)};
  machine.controllers.push_back({node(1), machine.controllers[0].read_only, machine.controllers[0].one_to_one, {}});
  machine.between_nodes_of_socket = Time::nanoseconds(12);
  const Topology topology{machine};
  EXPECT_EQ(topology.latency(node(0), node(0)), Time::nanoseconds(60));
  EXPECT_EQ(topology.latency(node(0), node(1)), Time::nanoseconds(60 + 12));
}

TEST(Topology, ANodeWithoutCoresHasItsOwnLatencyAndDrawsNothing) {
  Machine machine = small_machine(1, 2, {});
  machine.nodes.push_back({socket(0), Bytes{1 << 20}, Time::nanoseconds(150), {}});
  machine.controllers.push_back({node(1), machine.controllers[0].read_only, machine.controllers[0].one_to_one, {}});
  machine.between_nodes_of_socket = Time::nanoseconds(12);
  const Topology topology{machine};
  EXPECT_EQ(topology.latency(node(0), node(1)), Time::nanoseconds(150));  // the crossing is part of it
  EXPECT_EQ(topology.read_bandwidth(node(1), node(0)).bytes_per_second(), 0);
}

// 0 - 1, and node 2 without cores on socket 1: link 0 is 0->1 and 1->0, then come the node's own.
TEST(Topology, ANodesOwnLinkIsTheLastOneOfTheWayThere) {
  Machine machine = small_machine(2, 8, {{0, 1}});
  machine.nodes.push_back({socket(1), Bytes{1 << 20}, Time::nanoseconds(150), {}});
  machine.nodes.back().link_read = Bandwidth::bytes_per_second(4.5e9);
  machine.nodes.back().link_write = Bandwidth::bytes_per_second(3e9);
  machine.controllers.push_back({node(2), machine.controllers[0].read_only, machine.controllers[0].one_to_one, {}});
  ASSERT_NO_THROW(validate(machine));
  const Topology topology{machine};
  EXPECT_EQ(topology.directed_links(), 4u);
  EXPECT_THAT(topology.route(socket(0), node(2)), ElementsAre(link(0), link(3)));
  EXPECT_THAT(topology.route(node(2), socket(0)), ElementsAre(link(2), link(1)));
  EXPECT_THAT(topology.route(socket(1), node(2)), ElementsAre(link(3)));
  EXPECT_THAT(topology.route(socket(1), node(1)), IsEmpty());
  EXPECT_EQ(topology.name(link(1)), "1->0");
  EXPECT_EQ(topology.name(link(2)), "node 2->1");
  EXPECT_EQ(topology.name(link(3)), "1->node 2");
  EXPECT_DOUBLE_EQ(topology.bandwidth(link(3)).bytes_per_second(), 3e9);
  EXPECT_EQ(topology.latency(node(0), node(2)), Time::nanoseconds(150 + 40));  // its own latency has its own link in it
  // 64 B of data in messages of 72 B over 4.5 GB/s
  EXPECT_DOUBLE_EQ(topology.read_bandwidth(node(1), node(2)).bytes_per_second(), 4e9);
}

TEST(Topology, RefusesASocketThatNoLinkReaches) {
  EXPECT_THAT(
      [] {
        Topology{small_machine(4, 1, {{0, 1}, {0, 2}})};
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("machine 'small'"), HasSubstr("socket 3 cannot be reached from socket 0"))));
}

}  // namespace
}  // namespace homenode
