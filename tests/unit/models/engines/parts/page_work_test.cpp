// What the kernel's work on pages takes, by hand: 64 lines a page, 16 of them in flight, 100 ns at home and 150 ns a hop away.
#include "models/engines/parts/page_work.hpp"

#include <gtest/gtest.h>

#include "models/placement/register.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

class NoObjects final : public Workload {
public:
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override { return nullptr; }
};

struct PageWorkTest : ::testing::Test {
  PageWorkTest() {
    for (std::size_t core = 0; core < 8; ++core) space.runs_on(CoreId{core});
    system.migration = {Time::nanoseconds(1000), Time::nanoseconds(300)};
    system.mapping.shootdown = Time::nanoseconds(2000);
    system.mapping.shootdown_core = Time::nanoseconds(100);
    system.fault.parallel = Time::nanoseconds(500);
  }
  double nanoseconds(const PageWork& work) const {
    double seconds = 0;
    add_page_work(work, NodeId{0}, space, machine, topology, system, seconds);
    return seconds * 1e9;
  }
  Machine machine = four_socket_mesh();
  Topology topology{machine};
  NoObjects workload;
  std::unique_ptr<PagePlacement> placement = page_placements().make("first-touch");
  AddressSpace space{machine, workload, *placement, Bytes{4096}};
  OperatingSystem system;
  const PageNumber page{7};
};

TEST_F(PageWorkTest, ofAPageThatMovesIsFixedShootdownAndCopy) {
  // 64 / 16 x 150 ns = 600 ns of copying.
  PageWork work;
  work.moves = {{page, NodeId{0}, NodeId{1}}};
  EXPECT_NEAR(nanoseconds(work), 1000 + 300 + 600, 1e-6);
}

TEST_F(PageWorkTest, ofAPageThatIsReplicatedIsACopyForEachNodeAndOneShootdown) {
  PageWork work;
  work.replicated = 1;
  work.copies = {{page, NodeId{0}, NodeId{1}}, {page, NodeId{0}, NodeId{2}}, {page, NodeId{0}, NodeId{3}}};
  EXPECT_NEAR(nanoseconds(work), 3 * (1000 + 600) + 300, 1e-6);
}

TEST_F(PageWorkTest, ofAPageThatCollapsesIsAFaultAndAShootdownOverTheCoresThatRan) {
  // Seven others of the eight.
  PageWork work;
  work.collapsed = {page};
  EXPECT_NEAR(nanoseconds(work), 500 + 2000 + 7 * 100, 1e-6);
  work.collapsed = {page, page + 1};
  EXPECT_NEAR(nanoseconds(work), 2 * (500 + 2000 + 7 * 100), 1e-6);
}

}  // namespace
}  // namespace homenode::test
