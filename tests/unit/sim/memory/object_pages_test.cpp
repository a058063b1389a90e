// Pages by object: where they were placed, and where they are after some migrated.
#include "sim/memory/object_pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/placement/register.hpp"
#include "sim/memory/address_space.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t page = 4096;
constexpr Place on_node_0{ThreadId{0}, CoreId{0}, NodeId{0}, Time{}};
constexpr Place on_node_1{ThreadId{1}, CoreId{1}, NodeId{1}, Time{}};

// Two heap blocks of one line of the source, 3 and 2 pages, and a global of 1 page.
class ThreeObjects final : public Workload {
public:
  ThreeObjects() {
    for (const std::uint64_t pages : {3, 2})
      objects.push_back({ObjectKind::mapped, false, pages * page, page, SiteId{}, "grid.c:7", {}, -1});
    objects.push_back({ObjectKind::global, false, page, page, SiteId{}, "table", {}, -1});
    for (TracedObject& object : objects) object.reallocated_from = ObjectId::none();
  }
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override { return nullptr; }
};

TEST(ObjectPages, areSummedBySymbolBeforeAndAfterMigrations) {
  const Machine machine = test::machine("pair", 2, 1, {{0, 1}});
  const ThreeObjects workload;
  const std::unique_ptr<PagePlacement> placement = page_placements().make("first-touch");
  placement->prepare(nullptr, machine);
  AddressSpace space{machine, workload, *placement, Bytes{page}};
  const AddressRange first = space.place_object(ObjectId{0}, ThreadId{0});
  const AddressRange second = space.place_object(ObjectId{1}, ThreadId{0});
  space.touch(first, true, on_node_0);
  space.touch(second, true, on_node_1);
  const Address global = space.address(ObjectId{2}, ThreadId{0});
  space.touch(AddressRange::of(global, page), true, on_node_1);
  ASSERT_TRUE(space.migrate(space.page_of(first.first), NodeId{1}));
  ASSERT_TRUE(space.migrate(space.page_of(global), NodeId{0}));
  space.release_object(ObjectId{1});  // its pages count where they were

  const std::vector<SymbolPages> found = space.object_pages().by_symbol(workload);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].symbol, "grid.c:7");
  EXPECT_EQ(found[0].objects, 2u);
  EXPECT_THAT(found[0].placed_by_node, testing::ElementsAre(3, 2));
  EXPECT_THAT(found[0].pages_by_node, testing::ElementsAre(2, 3));
  EXPECT_EQ(found[1].kind, ObjectKind::global);
  EXPECT_THAT(found[1].placed_by_node, testing::ElementsAre(0, 1));
  EXPECT_THAT(found[1].pages_by_node, testing::ElementsAre(1, 0));
  // Over all objects: what the address space counts by node.
  EXPECT_THAT(space.pages_by_node(), testing::ElementsAre(2 + 1, 3 + 0));
}

TEST(ObjectPages, ofNoObjectHaveNoSymbol) {
  const ThreeObjects workload;
  ObjectPages pages{2};
  const std::vector<std::uint64_t> on_0{1, 0}, on_1{0, 1};
  pages.placed(PageNumber{5}, PageNumber{6}, ObjectId::none(), on_1);
  pages.placed(PageNumber{2}, PageNumber{3}, ObjectId{2}, on_0);
  pages.placed(PageNumber{9}, PageNumber{10}, ObjectId::none(), on_1);
  const std::vector<SymbolPages> found = pages.by_symbol(workload);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].symbol, "");
  EXPECT_EQ(found[0].kind, ObjectKind::unknown);
  EXPECT_THAT(found[0].pages_by_node, testing::ElementsAre(0, 2));
}

}  // namespace
}  // namespace homenode::test
