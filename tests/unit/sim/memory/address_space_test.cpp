#include "sim/memory/address_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/placement/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/machine.hpp"

namespace homenode::test {
namespace {

class Objects final : public Workload {
public:
  ObjectId add(ObjectKind kind, std::uint64_t bytes, bool thread_private = false) {
    objects.push_back({kind, thread_private, bytes, 16, SiteId{}, "", ObjectId::none(), -1});
    return ObjectId{objects.size() - 1};
  }
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override { return nullptr; }
};

Machine nodes(std::size_t count) {
  Machine machine;
  machine.name = "nodes";
  for (std::size_t n = 0; n < count; ++n) {
    machine.nodes.push_back({SocketId{n}, Bytes{1 << 30}, Time::nanoseconds(60), {}});
    machine.core_node.push_back(NodeId{n});
  }
  return machine;
}

Place on_node(std::size_t node) { return {ThreadId{node}, CoreId{node}, NodeId{node}, Time{}}; }

struct Space {
  Space(Objects& objects, std::size_t node_count, std::string_view policy)
      : machine{nodes(node_count)}, placement{page_placements().make(policy)}, space{machine, objects, *placement, Bytes{4096}} {
    placement->prepare(nullptr, machine);
  }
  Machine machine;
  std::unique_ptr<PagePlacement> placement;
  AddressSpace space;
};

TEST(AddressSpace, aReadOfAnUnwrittenPageMapsTheZeroPageAndTheFirstWritePlacesIt) {
  Objects objects;
  const ObjectId array = objects.add(ObjectKind::mapped, 2 * 4096);
  Space s{objects, 2, "first-touch"};
  const AddressRange range = s.space.place_object(array, ThreadId{0});
  EXPECT_EQ(s.space.touch(range, false, on_node(1)), 0u);
  EXPECT_TRUE(s.space.home_of(range.first).is_none());
  EXPECT_EQ(s.space.touch({range.first, range.first + 1}, true, on_node(0)), 1u);
  EXPECT_EQ(s.space.touch(range, true, on_node(1)), 1u);
  EXPECT_EQ(s.space.home_of(range.first), NodeId{0});
  EXPECT_EQ(s.space.home_of(range.first + 4096), NodeId{1});
  EXPECT_EQ(s.space.page_faults(), 2u);
}

TEST(AddressSpace, linesAreCountedByHome) {
  Objects objects;
  const ObjectId array = objects.add(ObjectKind::mapped, 8 * 4096);
  Space s{objects, 4, "interleave"};
  const AddressRange range = s.space.place_object(array, ThreadId{0});
  EXPECT_EQ(s.space.touch(range, true, on_node(0)), 8u);
  std::vector<HomeShare> shares;
  s.space.homes(lines_of(range, 64), NodeId{0}, shares);
  // 8 pages of 64 lines over 4 nodes: 128 lines each, their sum the lines of the range.
  ASSERT_EQ(shares.size(), 4u);
  for (const HomeShare& share : shares) EXPECT_EQ(share.lines, 128u);
  EXPECT_THAT(s.space.pages_by_node(), ::testing::Each(2u));
  EXPECT_EQ(s.space.remote_pages(), 6u);  // all but those that fell to the writer's node
}

TEST(AddressSpace, largeBlocksGiveTheirPagesBackAndFaultAgain) {
  Objects objects;
  const ObjectId temporary = objects.add(ObjectKind::heap, 1 << 20);
  Space s{objects, 2, "first-touch"};
  const AddressRange first = s.space.place_object(temporary, ThreadId{0});
  EXPECT_EQ(first.first.value() % 4096, AddressSpace::heap_header);
  const std::uint64_t pages = 257;  // 1 MiB + 16 bytes of header
  EXPECT_EQ(s.space.touch(first, true, on_node(0)), pages);
  EXPECT_EQ(s.space.heap_bytes_placed(), pages * 4096);
  s.space.release_object(temporary);
  EXPECT_EQ(s.space.heap_bytes_placed(), 0u);
  EXPECT_FALSE(s.space.placed(temporary));
  const AddressRange second = s.space.place_object(temporary, ThreadId{0});
  EXPECT_EQ(second.first, first.first);
  EXPECT_EQ(s.space.touch(second, true, on_node(1)), pages);
  EXPECT_EQ(s.space.home_of(second.first), NodeId{1});
}

TEST(AddressSpace, everyPlacingIsKeptWhenAskedFor) {
  Objects objects;
  const ObjectId first = objects.add(ObjectKind::mapped, 2 * 4096), second = objects.add(ObjectKind::heap, 1 << 20);
  Space s{objects, 2, "first-touch"};
  s.space.touch(s.space.place_object(first, ThreadId{0}), true, on_node(0));
  EXPECT_THAT(s.space.placed_pages(), ::testing::IsEmpty());
  s.space.keep_placed_pages();
  const AddressRange range = s.space.place_object(second, ThreadId{1});
  s.space.touch({range.first + 4096, range.first + 2 * 4096}, true, on_node(1));
  s.space.migrate(s.space.page_of(range.first) + 1, NodeId{0});
  // bytes 4096 to 8191 after 16 bytes of header: pages 1 and 2, both on node 1; then page 1 on node 0
  const auto& kept = s.space.placed_pages();
  ASSERT_EQ(kept.size(), 3u);
  for (const PlacedPage& page : kept) EXPECT_EQ(page.object, second);
  EXPECT_EQ(kept[0].page, 1u);
  EXPECT_EQ(kept[1].page, 2u);
  EXPECT_EQ(kept[2].page, 1u);
  EXPECT_EQ(kept[1].home, NodeId{1});
  EXPECT_EQ(kept[2].home, NodeId{0});
}

TEST(AddressSpace, remotePagesOfABlockAreThoseAwayFromItsOwner) {
  Objects objects;
  const ObjectId block = objects.add(ObjectKind::heap, 4 * 4096);
  Space s{objects, 2, "first-touch"};
  const AddressRange pages = s.space.reserve(8 * 4096), range = AddressRange::of(pages.first + 16, 4 * 4096);
  s.space.bind_object(block, ThreadId{0}, range, NodeId{0});
  EXPECT_EQ(s.space.remote_pages_of(block, ThreadId{0}), 0u);  // nobody wrote it yet
  s.space.touch({range.first, range.first + 4096}, true, on_node(1));
  s.space.touch(range, true, on_node(0));
  // bytes 0 and 4096 of the block lie in pages 0 and 1, which node 1 wrote first; 8192 and 12288 on node 0
  EXPECT_EQ(s.space.remote_pages_of(block, ThreadId{0}), 2u);
}

TEST(AddressSpace, aPageIsMixedByBlocksOfTwoOwnersInAnyOrder) {
  // Blocks of 64 bytes in two pages, for nodes 0 and 1; those of the first page share it whichever comes first, the second has one owner.
  for (const bool upper_first : {false, true}) {
    Objects objects;
    std::vector<ObjectId> block;
    for (int i = 0; i < 4; ++i) block.push_back(objects.add(ObjectKind::heap, 64));
    Space s{objects, 2, "first-touch"};
    const Address page = s.space.reserve(2 * 4096).first;
    const auto bind = [&](int number, std::uint64_t offset, std::size_t owner) {
      s.space.bind_object(block[static_cast<std::size_t>(number)], ThreadId{0}, AddressRange::of(page + offset, 64), NodeId{owner});
    };
    bind(2, 4096, 1);
    bind(3, 4096 + 64, 1);
    bind(0, upper_first ? 128 : 0, 0);
    EXPECT_EQ(s.space.mixed_owner_pages(), 0u);
    bind(1, upper_first ? 0 : 128, 1);
    EXPECT_EQ(s.space.mixed_owner_pages(), 1u);
  }
}

TEST(AddressSpace, privateObjectsHaveOneCopyAThread) {
  Objects objects;
  const ObjectId local = objects.add(ObjectKind::stack, 256, true);
  const ObjectId global = objects.add(ObjectKind::global, 256);
  Space s{objects, 2, "first-touch"};
  EXPECT_NE(s.space.address(local, ThreadId{0}), s.space.address(local, ThreadId{1}));
  EXPECT_EQ(s.space.address(local, ThreadId{0}), s.space.address(local, ThreadId{0}));
  EXPECT_EQ(s.space.address(global, ThreadId{0}), s.space.address(global, ThreadId{1}));
  // Different owners never share a page.
  EXPECT_NE(s.space.address(local, ThreadId{0}).value() / 4096, s.space.address(local, ThreadId{1}).value() / 4096);
}

TEST(AddressSpace, globalsLieTogetherWhoeverComesFirst) {
  // The linker packs them: 256 bytes each, one behind the other; what is of a thread has pages of its own.
  Objects objects;
  const ObjectId first = objects.add(ObjectKind::global, 256), second = objects.add(ObjectKind::unknown, 256),
                 third = objects.add(ObjectKind::global, 256), local = objects.add(ObjectKind::stack, 256, true);
  Space s{objects, 2, "first-touch"};
  const Address begin = s.space.address(first, ThreadId{0});
  EXPECT_EQ(s.space.address(second, ThreadId{1}), begin + 256);
  EXPECT_EQ(s.space.address(third, ThreadId{1}), begin + 512);
  EXPECT_NE(s.space.address(local, ThreadId{0}).value() / 4096, begin.value() / 4096);
}

TEST(AddressSpace, bindRefusesANodeThatIsNotThere) {
  const auto bind = page_placements().make("bind:7");
  const Machine machine = nodes(2);
  EXPECT_THROW(bind->prepare(nullptr, machine), UsageError);
}

}  // namespace
}  // namespace homenode::test
