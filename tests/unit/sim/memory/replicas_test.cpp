// Pages with a copy on every node that has cores: who reads where, what a write leaves, and how many frames that takes.
#include "sim/memory/replicas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/memory/address_space.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t page = 4096;

// First touch, and it replicates what a test asks it to.
class Replicating final : public PagePlacement {
public:
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) home[i] = faults[i].place.node;
  }
  Watch watches() const override { return Watch::traffic; }
  bool replicates() const override { return true; }
  void observe(const Place&, std::span<const PageUse> uses, PageActions&) override { seen.assign(uses.begin(), uses.end()); }
  std::vector<PageUse> seen;
};

class NoObjects final : public Workload {
public:
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override { return nullptr; }
};

// Four pages that a thread on node 0 wrote.
struct FourPages {
  explicit FourPages(const Machine& machine_, Bytes huge = Bytes{})
      : machine{machine_}, space{machine, workload, placement, Bytes{page}, huge} {
    space.touch(range, true, on(0));
  }
  static Place on(std::size_t node) { return {ThreadId{node}, CoreId{node * 4}, NodeId{node}, Time{}}; }
  std::uint64_t used(std::size_t node) const { return space.memory().used(NodeId{node}); }
  // Lines of all pages by home, as a core of the node reads them.
  std::vector<std::uint64_t> lines(std::size_t reader) const {
    std::vector<HomeShare> shares;
    space.homes(lines_of(range, 64), NodeId{reader}, shares);
    std::vector<std::uint64_t> by_home(machine.nodes.size(), 0);
    for (const HomeShare& share : shares) by_home[share.home.index()] += share.lines;
    return by_home;
  }

  Machine machine;
  NoObjects workload;
  Replicating placement;
  AddressSpace space;
  PageWatch& watch = space.watch();
  AddressRange range = space.reserve(4 * page);
  PageNumber first = space.page_of(range.first);
};

TEST(Replicas, areReadAtTheReadersOwnNode) {
  // 4 pages of 64 lines on node 0. With a copy of one, node 1 reads 64 lines at home and 192 from node 0.
  FourPages pages{two_sockets()};
  EXPECT_THAT(pages.lines(1), ElementsAre(256, 0));
  EXPECT_TRUE(pages.watch.replicate(pages.first + 1));
  EXPECT_THAT(pages.lines(1), ElementsAre(192, 64));
  EXPECT_THAT(pages.lines(0), ElementsAre(256, 0));
  const Address byte = pages.space.first_byte(pages.first + 1);
  EXPECT_EQ(pages.space.home_for(byte, NodeId{0}), NodeId{0});
  EXPECT_EQ(pages.space.home_for(byte, NodeId{1}), NodeId{1});
  EXPECT_EQ(pages.space.home_of_all(lines_of(pages.space.bytes_of(pages.first + 1), 64), NodeId{1}), NodeId{1});
  EXPECT_EQ(pages.space.home_of(byte), NodeId{0});  // it counts for the node that it was on
  EXPECT_THAT(pages.space.pages_by_node(), ElementsAre(4, 0));
  EXPECT_THAT((std::vector{pages.used(0), pages.used(1)}), ElementsAre(4, 1));
}

TEST(Replicas, areCopiedOnceToEachOtherNodeWithCores) {
  // Of five nodes four have cores: three copies.
  Machine machine = four_socket_mesh();
  machine.nodes.push_back({SocketId{1}, Bytes{std::int64_t{1} << 30}, Time::nanoseconds(200), {}});
  machine.controllers.push_back({NodeId{4}, Bandwidth::bytes_per_second(8e9), Bandwidth::bytes_per_second(8e9), {}});
  FourPages pages{machine};
  EXPECT_TRUE(pages.watch.replicate(pages.first));
  EXPECT_FALSE(pages.watch.replicate(pages.first));
  const PageWork work = pages.watch.take_work();
  EXPECT_EQ(work.replicated, 1u);
  ASSERT_EQ(work.copies.size(), 3u);
  for (std::size_t copy = 0; copy < 3; ++copy) {
    EXPECT_EQ(work.copies[copy].page, pages.first);
    EXPECT_EQ(work.copies[copy].from, NodeId{0});
    EXPECT_EQ(work.copies[copy].to, NodeId{copy + 1});
  }
  EXPECT_TRUE(work.moves.empty());
  EXPECT_EQ(pages.used(4), 0u);
}

TEST(Replicas, collapseToTheirWriter) {
  FourPages pages{two_sockets()};
  for (std::uint64_t at = 0; at < 4; ++at) EXPECT_TRUE(pages.watch.replicate(pages.first + at));
  pages.watch.take_work();
  pages.space.touch(pages.range, false, FourPages::on(1));
  EXPECT_FALSE(pages.watch.faulted());
  // Node 1 writes into the second page: the frame of node 0 goes. Four pages, three copies are left.
  EXPECT_EQ(pages.space.touch(AddressRange::of(pages.range.first + page, 8), true, FourPages::on(1)), 0u);
  EXPECT_TRUE(pages.watch.faulted());
  EXPECT_THAT(pages.watch.take_work().collapsed, ElementsAre(pages.first + 1));
  EXPECT_FALSE(pages.watch.replicated(pages.first + 1));
  EXPECT_TRUE(pages.watch.replicated(pages.first + 2));
  EXPECT_EQ(pages.space.home_of_page(pages.first + 1), NodeId{1});
  EXPECT_THAT((std::vector{pages.used(0), pages.used(1)}), ElementsAre(3, 4));
  EXPECT_THAT(pages.space.pages_by_node(), ElementsAre(3, 1));
  EXPECT_THAT(pages.lines(0), ElementsAre(192, 64));
  EXPECT_EQ(pages.watch.collapses(pages.first + 1), 1u);
  EXPECT_EQ(pages.watch.collapses(pages.first), 0u);
  const Replication& counts = pages.space.replicas().counts();
  EXPECT_EQ(counts.replicated, 4u);
  EXPECT_EQ(counts.collapsed, 1u);
  EXPECT_EQ(counts.without_room, 0u);
  EXPECT_EQ(pages.space.page_faults(), 4u);  // those that placed a page
  EXPECT_EQ(pages.space.migrated_pages(), 0u);
}

TEST(Replicas, needRoomOnEveryNode) {
  // Node 2 of four has room for two pages.
  Machine machine = four_socket_mesh();
  machine.nodes[2].memory = Bytes{2 * page};
  FourPages pages{machine};
  for (std::uint64_t at = 0; at < 2; ++at) EXPECT_TRUE(pages.watch.replicate(pages.first + at));
  for (std::uint64_t at = 2; at < 4; ++at) EXPECT_FALSE(pages.watch.replicate(pages.first + at));
  EXPECT_THAT((std::vector{pages.used(0), pages.used(1), pages.used(2), pages.used(3)}), ElementsAre(4, 2, 2, 2));
  EXPECT_EQ(pages.space.replicas().counts().replicated, 2u);
  EXPECT_EQ(pages.space.replicas().counts().without_room, 2u);
  EXPECT_EQ(pages.watch.take_work().copies.size(), 6u);
  EXPECT_EQ(pages.watch.free_pages(NodeId{2}), 0u);
}

TEST(Replicas, goWithTheirPage) {
  for (const bool unmapped : {false, true}) {
    FourPages pages{two_sockets()};
    for (std::uint64_t at = 0; at < 4; ++at) EXPECT_TRUE(pages.watch.replicate(pages.first + at));
    pages.space.touch(AddressRange::of(pages.range.first, 1), true, FourPages::on(1));
    EXPECT_EQ(unmapped ? pages.space.unmap(pages.range) : pages.space.discard(pages.range), 4u);
    EXPECT_THAT((std::vector{pages.used(0), pages.used(1)}), ElementsAre(0, 0));
    EXPECT_FALSE(pages.space.replicas().any());
    EXPECT_EQ(pages.watch.collapses(pages.first), 0u);
    EXPECT_TRUE(pages.space.home_of_page(pages.first + 1).is_none());
    EXPECT_FALSE(pages.watch.replicate(pages.first + 1));  // nobody wrote it
    EXPECT_EQ(pages.space.touch(pages.range, true, FourPages::on(1)), 4u);
    EXPECT_THAT((std::vector{pages.used(0), pages.used(1)}), ElementsAre(0, 4));
  }
}

TEST(Replicas, goWhenTheirPageMigrates) {
  FourPages pages{four_socket_mesh()};
  EXPECT_TRUE(pages.watch.replicate(pages.first));
  EXPECT_TRUE(pages.watch.replicate(pages.first + 1));
  pages.watch.migrate(pages.first, NodeId{3});
  pages.watch.migrate(pages.first + 1, NodeId{0});  // its home: the copies go all the same
  EXPECT_EQ(pages.space.home_of_page(pages.first), NodeId{3});
  EXPECT_EQ(pages.space.home_of_page(pages.first + 1), NodeId{0});
  EXPECT_FALSE(pages.space.replicas().any());
  EXPECT_THAT((std::vector{pages.used(0), pages.used(1), pages.used(2), pages.used(3)}), ElementsAre(3, 0, 0, 1));
  EXPECT_EQ(pages.watch.take_work().moves.size(), 1u);
  EXPECT_EQ(pages.space.replicas().counts().collapsed, 0u);
}

TEST(Replicas, areNotMadeOfHugePages) {
  FourPages pages{two_sockets(), Bytes{4 * page}};
  ASSERT_EQ(pages.space.huge_pages(), 1u);
  EXPECT_FALSE(pages.watch.replicate(pages.first));
  EXPECT_EQ(pages.space.replicas().counts().without_room, 0u);
}

TEST(Replicas, areToldAsTheReadersOwnMemory) {
  FourPages pages{two_sockets()};
  EXPECT_TRUE(pages.watch.replicate(pages.first));
  pages.watch.exchanged(AddressRange::of(pages.range.first, 2 * page), false);
  pages.watch.tell_traffic(FourPages::on(1));
  ASSERT_EQ(pages.placement.seen.size(), 2u);
  EXPECT_EQ(pages.placement.seen[0].home, NodeId{1});
  EXPECT_EQ(pages.placement.seen[1].home, NodeId{0});
}

TEST(DirtyBits, areSetByWritesAndClearedByAsking) {
  FourPages pages{two_sockets()};
  EXPECT_TRUE(pages.watch.clear_dirty(pages.first));
  EXPECT_FALSE(pages.watch.clear_dirty(pages.first));
  pages.space.touch(pages.range, false, FourPages::on(1));
  EXPECT_FALSE(pages.watch.clear_dirty(pages.first));
  pages.space.touch(AddressRange::of(pages.range.first, 1), true, FourPages::on(1));
  EXPECT_TRUE(pages.watch.clear_dirty(pages.first));
  EXPECT_TRUE(pages.watch.clear_dirty(pages.first + 1));  // still of its first write
}

}  // namespace
}  // namespace homenode::test
