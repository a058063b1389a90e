#include "models/machines/machine_shape.hpp"

#include <gmock/gmock.h>

#include "models/machines/machine_changes.hpp"
#include "models/machines/machine_file.hpp"
#include "models/machines/machine_writer.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/topology.hpp"
#include "tests/unit/models/machines/described_machine.hpp"

namespace homenode {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

MachineFile small() { return parse_machine(described_machine, "small.toml"); }

// Links of n sockets: all pairs n (n - 1) / 2, a ring n, a line n - 1, a hypercube n log2(n) / 2, a mesh of r rows and c columns
// r (c - 1) + c (r - 1), a torus 2 r c where r and c are above 2.
TEST(MachineShape, JoinsAsManySocketsAsTheShapeSays) {
  EXPECT_EQ(joined_sockets("full", 8).size(), 28u);
  EXPECT_EQ(joined_sockets("ring", 8).size(), 8u);
  EXPECT_EQ(joined_sockets("line", 8).size(), 7u);
  EXPECT_EQ(joined_sockets("hypercube", 8).size(), 12u);
  EXPECT_EQ(joined_sockets("mesh", 12).size(), 17u);   // 3 x 4
  EXPECT_EQ(joined_sockets("torus", 12).size(), 24u);  // 3 x 4
  for (const std::string& name : topology_names()) {
    EXPECT_TRUE(joined_sockets(name, 1).empty()) << name;
    EXPECT_EQ(joined_sockets(name, 2).size(), 1u) << name;  // two sockets have one link, whatever the shape
  }
}

// Between opposite sockets of a ring of eight lie four links: 4 x the link's latency on top of the local one.
TEST(MachineShape, FarSocketsTakeMoreLinks) {
  const Machine machine = with_changes(small().machine, {{"sockets", "8"}, {"topology", "ring"}});
  const Topology topology{machine};
  const Time local = machine.nodes[0].latency, link = machine.links[0].latency;
  EXPECT_EQ(topology.latency(NodeId{0}, NodeId{4}), local + 4 * link);
  EXPECT_EQ(topology.latency(NodeId{0}, NodeId{7}), local + link);
}

TEST(MachineShape, EverySocketIsAsTheFirst) {
  const Machine before = small().machine, machine = with_changes(before, {{"sockets", "5"}});
  EXPECT_EQ(machine.cores(), 5 * before.cores() / before.sockets);
  EXPECT_EQ(machine.controllers.size(), 5 * before.controllers.size() / before.sockets);
  for (std::size_t core = 0; core < machine.cores(); ++core)
    EXPECT_EQ(machine.socket_of(CoreId{core}).index(), core / (before.cores() / before.sockets));
  EXPECT_EQ(machine.links.size(), 10u);
}

TEST(MachineShape, ChangesOfValuesAreMadeOnTheNewShape) {
  const Machine machine = with_changes(small().machine, {{"sockets", "4"}, {"nodes.3.latency", "90 ns"}});
  EXPECT_EQ(machine.nodes[3].latency, Time::nanoseconds(90));
  EXPECT_NE(machine.nodes[2].latency, Time::nanoseconds(90));
}

TEST(MachineShape, IsWrittenAndReadAgain) {
  MachineFile file = small();
  file.machine = with_changes(file.machine, {{"sockets", "6"}, {"topology", "mesh"}});
  reshape_parameters(file.parameters, file.machine);
  const std::string text = write_machine_toml(file.machine, file.parameters, file.sources);
  EXPECT_EQ(parse_machine(text, "written.toml").machine.hash, file.machine.hash);
}

TEST(MachineShape, RefusesWhatIsNoShape) {
  const auto changed = [](std::map<std::string, std::string> changes) {
    return [changes = std::move(changes)] { with_changes(small().machine, changes); };
  };
  EXPECT_THAT(changed({{"sockets", "0"}}), ThrowsMessage<UsageError>(HasSubstr("'0'; allowed: 1 to ")));
  EXPECT_THAT(changed({{"topology", "star"}}), ThrowsMessage<UsageError>(AllOf(HasSubstr("'star'"), HasSubstr("torus"))));
  EXPECT_THAT(changed({{"sockets", "6"}, {"topology", "hypercube"}}), ThrowsMessage<UsageError>(HasSubstr("powers of two")));
  const Machine ring = with_changes(small().machine, {{"sockets", "8"}, {"topology", "ring"}});
  EXPECT_THAT([&] { with_changes(ring, {{"sockets", "4"}}); }, ThrowsMessage<UsageError>(HasSubstr("without 'topology'")));
  const Machine unlike = with_changes(small().machine, {{"nodes.1.latency", "90 ns"}});
  EXPECT_THAT([&] { with_changes(unlike, {{"sockets", "4"}}); }, ThrowsMessage<UsageError>(HasSubstr("alike nodes")));
}

}  // namespace
}  // namespace homenode
