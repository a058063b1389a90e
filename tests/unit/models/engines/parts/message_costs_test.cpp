// Bytes a line on each directed link: requests, snoops and responses of 8 B, data of 72 B. Link 2l runs from the lower socket.
#include "models/engines/parts/message_costs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

class Links {
public:
  Links(Machine described, SnoopMode mode) : machine_{std::move(described)}, topology_{machine_} {
    machine_.snoop = mode;
    costs_ = std::make_unique<MessageCosts>(machine_, topology_);
  }
  const MessageCosts* operator->() const { return costs_.get(); }
  std::vector<double> dense(const std::vector<LinkBytes>& sparse) const {
    std::vector<double> all(topology_.directed_links(), 0.0);
    for (const LinkBytes& cost : sparse) all[cost.link.index()] += cost.bytes;
    return all;
  }
  double total(const std::vector<LinkBytes>& sparse) const {
    double sum = 0;
    for (const LinkBytes& cost : sparse) sum += cost.bytes;
    return sum;
  }

private:
  Machine machine_;
  Topology topology_;
  std::unique_ptr<MessageCosts> costs_;
};

constexpr SocketId zero{0}, one{1}, two{2}, three{3};
constexpr NodeId of(SocketId socket) { return NodeId{socket.value()}; }  // these machines have a node a socket

TEST(MessageCosts, aDirectorySendsNothingForLocalLinesAndRequestAndDataForRemoteOnes) {
  const Links links{two_sockets(), SnoopMode::directory};
  EXPECT_THAT(links.dense(links->read(zero, of(zero))), testing::ElementsAre(0, 0));
  EXPECT_THAT(links.dense(links->read(zero, of(one))), testing::ElementsAre(8, 72));
  EXPECT_THAT(links.dense(links->writeback(zero, of(one))), testing::ElementsAre(72, 8));
  EXPECT_THAT(links.dense(links->non_temporal_write(zero, of(one))), testing::ElementsAre(72, 8));
  EXPECT_THAT(links.dense(links->upgrade(zero)), testing::ElementsAre(0, 0));
}

TEST(MessageCosts, sourceSnoopsAskEveryOtherSocketForEveryLine) {
  const Links links{two_sockets(), SnoopMode::source};
  EXPECT_THAT(links.dense(links->read(zero, of(zero))), testing::ElementsAre(8, 8));
  EXPECT_THAT(links.dense(links->read(zero, of(one))), testing::ElementsAre(8 + 8, 72 + 8));
  EXPECT_THAT(links.dense(links->non_temporal_write(zero, of(one))), testing::ElementsAre(72 + 8, 8 + 8));
  EXPECT_THAT(links.dense(links->writeback(zero, of(one))), testing::ElementsAre(72, 8));  // nobody else can hold it
  const Links mesh{four_socket_mesh(), SnoopMode::source};
  EXPECT_EQ(mesh.total(mesh->read(zero, of(zero))), 3 * (8 + 8));
}

TEST(MessageCosts, homeSnoopsAskEverySocketButHomeAndRequester) {
  const Links pair{two_sockets(), SnoopMode::home};
  EXPECT_THAT(pair.dense(pair->read(zero, of(one))), testing::ElementsAre(8, 72));
  const Links mesh{four_socket_mesh(), SnoopMode::home};
  EXPECT_EQ(mesh.total(mesh->read(zero, of(one))), 8 + 72 + 2 * (8 + 8));
  EXPECT_EQ(mesh.total(mesh->read(zero, of(zero))), 3 * (8 + 8));
}

TEST(MessageCosts, everyHopCarriesTheMessage) {
  // 0 -> 3 on the square takes two links: (8 + 72) on each.
  const Links links{four_socket_square(), SnoopMode::directory};
  EXPECT_EQ(links.total(links->read(zero, of(three))), 2 * (8 + 72));
}

TEST(MessageCosts, aNodesOwnLinkCarriesItsMessagesAndNoTransfers) {
  const Links links{chiplets_and_far_memory(), SnoopMode::directory};  // its own link: towards the cores, then towards the memory
  const NodeId far{1};
  EXPECT_THAT(links.dense(links->read(zero, far)), testing::ElementsAre(72, 8));
  EXPECT_THAT(links.dense(links->writeback(zero, far)), testing::ElementsAre(8, 72));
  EXPECT_THAT(links.dense(links->non_temporal_write(zero, far)), testing::ElementsAre(8, 72));
  EXPECT_THAT(links.dense(links->read(zero, of(zero))), testing::ElementsAre(0, 0));
  EXPECT_EQ(links.total(links->transfer(zero, zero, zero)), 0);
}

TEST(MessageCosts, aTransferGoesOverTheHomeAndComesFromTheOwner) {
  const Links mesh{four_socket_mesh(), SnoopMode::directory};
  // Request 0 -> home 1, forward 1 -> owner 2, data 2 -> 0: three different links.
  EXPECT_EQ(mesh.total(mesh->transfer(zero, one, two)), 8 + 8 + 72);
  EXPECT_EQ(mesh.total(mesh->transfer(zero, zero, two)), 8 + 72);
  EXPECT_EQ(mesh.total(mesh->transfer(zero, one, zero)), 0);  // inside the socket
  const Links snooping{four_socket_mesh(), SnoopMode::source};
  EXPECT_EQ(snooping.total(snooping->transfer(zero, one, two)), 3 * (8 + 8) + 72);
}

}  // namespace
}  // namespace homenode::test
