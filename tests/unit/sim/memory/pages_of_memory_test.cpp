// Full nodes and transparent huge pages: where pages go and how many faults it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/placement/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/memory/address_space.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t page = 4096, huge = 2 << 20;

class OneObject final : public Workload {
public:
  OneObject(ObjectKind kind, std::uint64_t bytes) { objects.push_back({kind, false, bytes, 16, SiteId{}, "", ObjectId::none(), -1}); }
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override { return nullptr; }
};

struct Space {
  Space(Machine described, ObjectKind kind, std::uint64_t bytes, std::string_view policy = "first-touch", Bytes huge_page = Bytes{})
      : machine{std::move(described)},
        object{kind, bytes},
        placement{page_placements().make(policy)},
        space{machine, object, *placement, Bytes{page}, huge_page} {
    placement->prepare(nullptr, machine);
    range = space.place_object(ObjectId{0}, ThreadId{0});
  }
  static Place on(std::size_t node) { return {ThreadId{0}, CoreId{node}, NodeId{node}, Time{}}; }

  Machine machine;
  OneObject object;
  std::unique_ptr<PagePlacement> placement;
  AddressSpace space;
  AddressRange range;
};

// Distances from node 0, as SLIT gives them: 10, 20, 30, 20.
Machine ring(std::int64_t pages_a_node) {
  Machine machine = test::machine("ring", 4, 1, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  for (NodeDescription& node : machine.nodes) node.memory = Bytes{pages_a_node * static_cast<std::int64_t>(page)};
  return machine;
}

TEST(FullNodes, passTheirPagesOnToTheNearestNodeWithRoom) {
  // 4 nodes of 10 pages at distances 10, 20, 30, 20: node 0 fills, then 1, then 3, as a real Linux with these distances does.
  Space s{ring(10), ObjectKind::mapped, 35 * page};
  EXPECT_EQ(s.space.touch(s.range, true, Space::on(0)), 35u);
  EXPECT_THAT(s.space.pages_by_node(), testing::ElementsAre(10u, 10u, 5u, 10u));
  for (std::uint64_t p = 0; p < 35; ++p) {
    const unsigned expected[] = {0, 1, 3, 2};
    EXPECT_EQ(s.space.home_of(s.range.first + p * page), NodeId{expected[p / 10]}) << "page " << p;
  }
  EXPECT_EQ(s.space.memory().overflowed(), 25u);
  EXPECT_EQ(s.space.remote_pages(), 25u);
}

TEST(FullNodes, haveRoomAgainWhenPagesAreGivenBack) {
  Space s{ring(10), ObjectKind::mapped, 10 * page};
  s.space.touch(s.range, true, Space::on(2));
  EXPECT_FALSE(s.space.memory().has_room(NodeId{2}));
  s.space.release_object(ObjectId{0});
  EXPECT_EQ(s.space.memory().used(NodeId{2}), 0u);
  s.space.touch(s.space.place_object(ObjectId{0}, ThreadId{0}), true, Space::on(2));
  EXPECT_EQ(s.space.memory().overflowed(), 0u);
}

TEST(FullNodes, takeNoMigratedPage) {
  Space s{ring(3), ObjectKind::mapped, 4 * page};
  s.space.touch(s.range, true, Space::on(0));  // 3 on node 0, 1 on node 1
  const PageNumber first = s.space.page_of(s.range.first);
  EXPECT_FALSE(s.space.migrate(first + 3, NodeId{0}));
  EXPECT_TRUE(s.space.migrate(first, NodeId{1}));
  EXPECT_TRUE(s.space.migrate(first + 3, NodeId{0}));  // into the frame that the other left
  EXPECT_THAT(s.space.pages_by_node(), testing::ElementsAre(3u, 1u, 0u, 0u));
}

TEST(Pages, thatAreNotPlacedYetDoNotMigrate) {
  Space s{test::two_sockets(), ObjectKind::mapped, 3 * page};
  const PageNumber first = s.space.page_of(s.range.first);
  s.space.touch({s.range.first + page, s.range.first + 2 * page}, false, Space::on(0));  // the zero page
  s.space.note_touch({s.range.first, s.range.first + page}, true, Space::on(0));
  for (std::uint64_t number = 0; number < 3; ++number) EXPECT_FALSE(s.space.migrate(first + number, NodeId{1}));
  EXPECT_EQ(s.space.settle(), 1u);
  EXPECT_EQ(s.space.home_of(s.range.first), NodeId{0});
  EXPECT_TRUE(s.space.migrate(first, NodeId{1}));
}

TEST(FullNodes, ofAllTheMachineRefuseTheProgram) {
  Space s{ring(2), ObjectKind::mapped, 9 * page};
  try {
    s.space.touch(s.range, true, Space::on(0));
    FAIL() << "9 pages were placed on 4 nodes of 2";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "the program needs more memory than machine 'ring' has; in use: 32 KiB, wanted: 4 KiB more, allowed: "
                 "32 KiB in pages of 4 KiB");
  }
}

TEST(HugePages, takeTheAlignedBlocksOfAMappingAndSmallPagesTheRest) {
  // 5 MiB from an aligned address = 2 huge pages and 1 MiB of 4 KiB: 2 + 256 faults; 1280 small pages' worth of memory.
  Space s{test::two_sockets(), ObjectKind::mapped, 5 << 20, "first-touch", Bytes{huge}};
  ASSERT_EQ(s.range.first.value() % huge, 0u);
  EXPECT_EQ(s.space.touch(s.range, true, Space::on(1)), 2u + 256u);
  EXPECT_EQ(s.space.huge_pages(), 2u);
  EXPECT_EQ(s.space.page_faults(), 258u);
  EXPECT_THAT(s.space.pages_by_node(), testing::ElementsAre(0u, 1280u));
  EXPECT_THAT(s.space.settled_pages(), testing::ElementsAre(0u, 1280u));
}

TEST(HugePages, belongToWhoWritesTheirFirstByte) {
  // One byte by node 1 takes 2 MiB: what node 0 writes there later is remote to it.
  Space s{test::two_sockets(), ObjectKind::mapped, 4 << 20, "first-touch", Bytes{huge}};
  EXPECT_EQ(s.space.touch({s.range.first + 100, s.range.first + 101}, true, Space::on(1)), 1u);
  EXPECT_EQ(s.space.touch(s.range, true, Space::on(0)), 1u);
  EXPECT_THAT(s.space.pages_by_node(), testing::ElementsAre(512u, 512u));
  EXPECT_EQ(s.space.home_of(s.range.first + huge - 1), NodeId{1});
}

TEST(HugePages, goRoundTheNodesByTheirOwnNumbers) {
  Space s{test::two_sockets(), ObjectKind::mapped, 8 << 20, "interleave", Bytes{huge}};
  EXPECT_EQ(s.space.touch(s.range, true, Space::on(0)), 4u);
  EXPECT_THAT(s.space.pages_by_node(), testing::ElementsAre(1024u, 1024u));
  EXPECT_EQ(s.space.remote_pages(), 1024u);  // as small pages, all that are not the writer's
}

TEST(HugePages, areSplitWhenAPartMoves) {
  Space s{test::two_sockets(), ObjectKind::mapped, 2 << 20, "first-touch", Bytes{huge}};
  s.space.touch(s.range, true, Space::on(0));
  const PageNumber first = s.space.page_of(s.range.first);
  EXPECT_TRUE(s.space.in_huge_page(first + 7));
  EXPECT_TRUE(s.space.migrate(first + 7, NodeId{1}));
  EXPECT_FALSE(s.space.in_huge_page(first));
  EXPECT_THAT(s.space.pages_by_node(), testing::ElementsAre(511u, 1u));
}

TEST(HugePages, straddleWhatLiesSideBySide) {
  // Two mappings of 2 MiB, the first 100 pages behind a multiple of 2 MiB: the block behind it begins 412 pages into the first one and ends
  // 412 pages into the second. Who writes first there gets both parts.
  const Machine machine = test::two_sockets();
  OneObject objects{ObjectKind::mapped, 2 << 20};
  objects.objects.push_back(objects.objects[0]);
  const auto placement = page_placements().make("first-touch");
  AddressSpace space{machine, objects, *placement, Bytes{page}, Bytes{huge}, 100};
  const AddressRange first = space.place_object(ObjectId{0}, ThreadId{0}), second = space.place_object(ObjectId{1}, ThreadId{0});
  EXPECT_EQ(first.first.value() % huge, 100 * page);
  space.touch({second.first, second.first + 1}, true, {ThreadId{1}, CoreId{4}, NodeId{1}, Time{}});
  EXPECT_EQ(space.huge_pages(), 1u);
  EXPECT_EQ(space.home_of(first.first + 412 * page), NodeId{1});
  EXPECT_TRUE(space.home_of(first.first + 411 * page).is_none());
  EXPECT_EQ(space.home_of(second.first + 411 * page), NodeId{1});
  EXPECT_TRUE(space.home_of(second.first + 412 * page).is_none());
}

TEST(HugePages, doNotReachBeyondWhatANodeIsBoundTo) {
  const Machine machine = test::two_sockets();
  OneObject objects{ObjectKind::mapped, 2 << 20};
  objects.objects.push_back(objects.objects[0]);
  const auto placement = page_placements().make("first-touch");
  AddressSpace space{machine, objects, *placement, Bytes{page}, Bytes{huge}, 100};
  const AddressRange first = space.place_object(ObjectId{0}, ThreadId{0}), second = space.place_object(ObjectId{1}, ThreadId{0});
  space.bind_pages(second, NodeId{0});
  space.touch({first.last - 1, first.last}, true, {ThreadId{1}, CoreId{4}, NodeId{1}, Time{}});
  EXPECT_EQ(space.huge_pages(), 0u);
}

}  // namespace
}  // namespace homenode::test
