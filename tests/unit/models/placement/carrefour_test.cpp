// When Carrefour replicates a page: every condition by itself, on pages by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/placement/register.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t page_size = 4096;

// Of a machine with as many frames on each of two nodes.
class Pages final : public PageActions {
public:
  Pages(std::size_t pages, std::uint64_t frames)
      : home_of(pages, NodeId{0}), copied(pages, false), dirty(pages, false), collapsed(pages, 0) {
    free = {frames - pages, frames};
  }
  std::uint64_t pages() const override { return home_of.size(); }
  std::uint64_t page_bytes() const override { return page_size; }
  NodeId home(PageNumber page) const override { return home_of[page.value()]; }
  void migrate(PageNumber page, NodeId to) override { home_of[page.value()] = to; }
  bool unmap(PageNumber) override { return false; }
  bool replicate(PageNumber page) override {
    if (free[1] == 0) return false;
    --free[1];
    return copied[page.value()] = true;
  }
  bool replicated(PageNumber page) const override { return copied[page.value()]; }
  std::uint64_t collapses(PageNumber page) const override { return collapsed[page.value()]; }
  bool clear_dirty(PageNumber page) override {
    const bool was = dirty[page.value()];
    dirty[page.value()] = false;
    return was;
  }
  std::uint64_t free_pages(NodeId node) const override { return free[node.index()]; }
  bool move_thread(ThreadId, NodeId) override { return false; }

  std::uint64_t copies() const { return static_cast<std::uint64_t>(std::count(copied.begin(), copied.end(), true)); }
  std::uint64_t on(std::size_t node) const { return static_cast<std::uint64_t>(std::count(home_of.begin(), home_of.end(), NodeId{node})); }

  std::vector<NodeId> home_of;
  std::vector<bool> copied, dirty;
  std::vector<std::uint64_t> collapsed, free;
};

// 600 pages on node 0 of 4800 frames, an eighth of the machine's: both nodes read each of them, 64 lines a period.
struct Table {
  explicit Table(const std::string& options = "", std::uint64_t frames = 2400) : pages{600, frames} {
    Machine machine = two_sockets();
    for (NodeDescription& node : machine.nodes) node.memory = Bytes{static_cast<std::int64_t>(frames * page_size)};
    placement = page_placements().make("first-touch+carrefour:period=1ms,accesses=0,replicate=on" + options);
    placement->prepare(nullptr, machine);
  }
  void exchange(std::size_t node, std::uint64_t first, std::uint64_t last, bool write = false, std::uint64_t bytes = page_size) {
    std::vector<PageUse> uses;
    for (std::uint64_t page = first; page < last; ++page)
      uses.push_back({PageNumber{page}, pages.home_of[page], write ? 0 : bytes, write ? bytes : 0});
    placement->observe({ThreadId{node}, CoreId{4 * node}, NodeId{node}, now}, uses, pages);
  }
  void read_by_both() {
    for (const std::size_t node : {0U, 1U}) exchange(node, 0, 600);
  }
  void wake() {
    now += Time::nanoseconds(1e6);
    placement->wake({ThreadId{0}, CoreId{0}, NodeId{0}, now}, pages);
  }
  Pages pages;
  std::unique_ptr<PagePlacement> placement;
  Time now;
};

TEST(CarrefourReplicates, pagesThatSeveralNodesReadAndNoneWrites) {
  Table table;
  EXPECT_TRUE(table.placement->replicates());
  table.read_by_both();
  table.wake();
  EXPECT_EQ(table.pages.copies(), 600u);
  EXPECT_EQ(table.pages.on(0), 600u);  // copies are not spread
}

TEST(CarrefourReplicates, nothingUnlessAskedTo) {
  for (const char* text : {"first-touch+carrefour:period=1ms,accesses=0", "first-touch+carrefour:period=1ms,accesses=0,replicate=off"}) {
    Table table;
    table.placement = page_placements().make(text);
    table.placement->prepare(nullptr, two_sockets());
    EXPECT_FALSE(table.placement->replicates());
    table.read_by_both();
    table.wake();
    EXPECT_EQ(table.pages.copies(), 0u);
    EXPECT_EQ(table.pages.on(0), 300u);  // half is spread
  }
}

TEST(CarrefourReplicates, noPageThatWasWrittenInThePeriod) {
  Table table;
  std::fill_n(table.pages.dirty.begin(), 100, true);
  table.read_by_both();
  table.wake();
  EXPECT_EQ(table.pages.copies(), 500u);
  EXPECT_FALSE(table.pages.copied[99]);
  table.read_by_both();  // and nobody writes
  table.wake();
  EXPECT_EQ(table.pages.copies(), 600u);
}

TEST(CarrefourReplicates, noPageOfASingleUser) {
  Table table;
  table.exchange(0, 0, 600);
  table.exchange(1, 0, 550);
  table.wake();
  EXPECT_EQ(table.pages.copies(), 550u);
}

TEST(CarrefourReplicates, onlyWhenEnoughAccessesRead) {
  // 1200 pages' worth of lines are read. With w written the share of reads is 1200 / (1200 + w): 0.95 at w = 63.2.
  for (const std::uint64_t written : {63, 64}) {
    Table table;
    table.read_by_both();
    table.exchange(0, 0, written, true);
    table.wake();
    EXPECT_EQ(table.pages.copies() > 0, written == 63) << written;
  }
}

TEST(CarrefourReplicates, onlyWhileMemoryIsFree) {
  // 600 pages are a quarter of 2 x 1200 frames, and more of 2 x 1199.
  for (const std::uint64_t frames : {1200, 1199}) {
    Table table{"", frames};
    table.read_by_both();
    table.wake();
    EXPECT_EQ(table.pages.copies() > 0, frames == 1200) << frames;
  }
}

TEST(CarrefourReplicates, noneBeforeEnoughPagesQualifyAtOnce) {
  Table table;
  const auto read = [&](std::uint64_t first, std::uint64_t last) {
    for (const std::size_t node : {0U, 1U}) table.exchange(node, first, last);
    table.wake();
  };
  read(0, 499);
  EXPECT_EQ(table.pages.copies(), 0u);
  read(0, 500);
  EXPECT_EQ(table.pages.copies(), 500u);
  read(500, 501);  // from now on each one
  EXPECT_EQ(table.pages.copies(), 501u);
}

TEST(CarrefourReplicates, noPageThatCollapsedMoreThanFiveTimes) {
  Table table;
  table.pages.collapsed[3] = 5;
  table.pages.collapsed[4] = 6;
  table.read_by_both();
  table.wake();
  EXPECT_TRUE(table.pages.copied[3]);
  EXPECT_FALSE(table.pages.copied[4]);
}

TEST(CarrefourReplicates, whatHasRoomAndSpreadsTheRest) {
  // Node 1 has room for 200 copies; the 400 other pages are spread while node 0 has more than the mean.
  Table table{",used_memory=100"};
  table.pages.free[1] = 200;
  table.read_by_both();
  table.wake();
  EXPECT_EQ(table.pages.copies(), 200u);
  EXPECT_EQ(table.pages.on(1), 300u);
}

TEST(CarrefourReplicates, asItsThresholdsSay) {
  Table table{",reads=50,used_memory=100,first_pages=1,collapses=0", 400};
  table.pages.free = {0, 200};
  table.pages.collapsed[0] = 1;
  for (const std::size_t node : {0U, 1U}) table.exchange(node, 0, 2);
  table.exchange(0, 0, 3, true);
  table.wake();
  EXPECT_FALSE(table.pages.copied[0]);
  EXPECT_TRUE(table.pages.copied[1]);
}

TEST(CarrefourReplicates, onOrOff) {
  try {
    page_placements().make("first-touch+carrefour:replicate=maybe");
    FAIL() << "'maybe' was taken";
  } catch (const UsageError& error) { EXPECT_STREQ(error.what(), "unknown replicate of placement 'carrefour' 'maybe'; allowed: on, off"); }
  EXPECT_THROW(page_placements().make("first-touch+carrefour:replicate=on,reads=101"), UsageError);
}

}  // namespace
}  // namespace homenode::test
