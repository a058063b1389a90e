#include "sim/address_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/policies.hpp"
#include "sim/errors.hpp"
#include "sim/machine.hpp"

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
  s.space.homes(range.first / 64, range.last / 64, NodeId{0}, shares);
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
  EXPECT_EQ(first.first % 4096, AddressSpace::heap_header);
  const std::uint64_t pages = 257;  // 1 MiB + 16 bytes of header
  EXPECT_EQ(s.space.touch(first, true, on_node(0)), pages);
  s.space.release_object(temporary);
  EXPECT_FALSE(s.space.placed(temporary));
  const AddressRange second = s.space.place_object(temporary, ThreadId{0});
  EXPECT_EQ(second.first, first.first);
  EXPECT_EQ(s.space.touch(second, true, on_node(1)), pages);
  EXPECT_EQ(s.space.home_of(second.first), NodeId{1});
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
  EXPECT_NE(s.space.address(local, ThreadId{0}) / 4096, s.space.address(local, ThreadId{1}) / 4096);
}

TEST(AddressSpace, bindRefusesANodeThatIsNotThere) {
  const auto bind = page_placements().make("bind:7");
  const Machine machine = nodes(2);
  EXPECT_THROW(bind->prepare(nullptr, machine), UsageError);
}

}  // namespace
}  // namespace homenode::test
