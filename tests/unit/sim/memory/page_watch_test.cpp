// What a placement that watches pages is told, and what it may do.
#include "sim/memory/page_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/errors.hpp"
#include "sim/memory/address_space.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

using ::testing::ElementsAre;

class Watcher final : public PagePlacement {
public:
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) home[i] = faults[i].place.node;
  }
  Watch watches() const override { return Watch::hinting_faults; }
  void observe(const Place&, std::span<const PageUse> uses, PageActions&) override {
    for (const PageUse& use : uses) seen.push_back(use.page);
  }
  std::vector<PageNumber> seen;
};

class NoObjects final : public Workload {
public:
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override { return nullptr; }
};

struct PageWatchTest : ::testing::Test {
  Machine machine = two_sockets();
  NoObjects workload;
  Watcher placement;
  AddressSpace space{machine, workload, placement, Bytes{4096}};
  PageWatch& watch = space.watch();
  Place here{ThreadId{0}, CoreId{0}, NodeId{0}, Time{}};
  AddressRange range = space.reserve(std::uint64_t{4} * 4096);
  PageNumber first = space.page_of(range.first);
};

TEST_F(PageWatchTest, tellsOfTheFirstTouchOfAnUnmappedPageOnce) {
  space.touch(range, true, here);
  EXPECT_TRUE(watch.unmap(first + 2));
  EXPECT_TRUE(watch.unmap(first + 1));
  EXPECT_FALSE(watch.unmap(first + 1));  // it is already
  space.touch(range, false, here);
  ASSERT_TRUE(watch.faulted());
  watch.tell_faults(here);
  EXPECT_THAT(placement.seen, ElementsAre(first + 1, first + 2));
  space.touch(range, false, here);
  EXPECT_FALSE(watch.faulted());
  const PageWork work = watch.take_work();
  EXPECT_EQ(work.unmapped, 2u);
  EXPECT_EQ(work.hinting_faults, 2u);
  EXPECT_EQ(watch.take_work().unmapped, 0u);
}

TEST_F(PageWatchTest, tellsOfTouchesOfPagesWhoseAccessedBitItClearedAtNoCost) {
  space.touch(range, true, here);
  EXPECT_TRUE(watch.clear_accessed(first + 1));
  EXPECT_TRUE(watch.clear_accessed(first + 2));
  EXPECT_TRUE(watch.unmap(first + 2));  // a hinting fault after all
  space.touch(range, false, here);
  watch.tell_faults(here);
  EXPECT_THAT(placement.seen, ElementsAre(first + 1, first + 2));
  space.touch(range, false, here);
  EXPECT_FALSE(watch.faulted());
  const PageWork work = watch.take_work();
  EXPECT_EQ(work.unmapped, 1u);
  EXPECT_EQ(work.hinting_faults, 1u);
}

TEST_F(PageWatchTest, knowsHowManyPagesANodeHasRoomFor) {
  const std::uint64_t all = static_cast<std::uint64_t>(machine.nodes[0].memory.count()) / 4096;
  EXPECT_EQ(watch.free_pages(NodeId{0}), all);
  space.touch(range, true, here);
  EXPECT_EQ(watch.free_pages(NodeId{0}), all - 4);
}

TEST_F(PageWatchTest, leavesPagesAloneThatNobodyWroteOrThatAreBound) {
  EXPECT_FALSE(watch.unmap(first));
  space.bind_pages({range.first, range.first + 4096}, NodeId{1});
  space.touch(range, true, here);
  EXPECT_FALSE(watch.unmap(first));
  EXPECT_FALSE(watch.clear_accessed(first));
  EXPECT_TRUE(watch.unmap(first + 1));
}

TEST_F(PageWatchTest, recordsMovesAndRefusesWhatIsNotThere) {
  EXPECT_THROW(watch.migrate(first, NodeId{1}), PolicyError);
  space.touch(range, true, here);
  EXPECT_THROW(watch.migrate(first, NodeId{2}), PolicyError);
  watch.migrate(first, NodeId{0});  // is there already
  watch.migrate(first, NodeId{1});
  EXPECT_EQ(space.home_of(range.first), NodeId{1});
  const PageWork work = watch.take_work();
  ASSERT_EQ(work.moves.size(), 1u);
  EXPECT_EQ(work.moves[0].page, first);
  EXPECT_EQ(work.moves[0].from, NodeId{0});
  EXPECT_EQ(space.migrated_pages(), 1u);
}

}  // namespace
}  // namespace homenode::test
