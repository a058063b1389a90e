// Faults as runs, held against the same touches page by page with a placement that is asked for each page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <tuple>

#include "models/placement/register.hpp"
#include "sim/memory/address_space.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t page = 4096;

class Objects final : public Workload {
public:
  void add(ObjectKind kind, std::uint64_t bytes) {
    objects.push_back({kind, false, bytes, 16, SiteId{}, "o" + std::to_string(objects.size()), ObjectId::none(), -1});
  }
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override { return nullptr; }
};

using Fault = std::tuple<PageNumber, ObjectId, ThreadId, std::int64_t, std::uint64_t, std::uint64_t>;

// Another one, asked for each page; keeps what it was asked.
class PageByPage final : public PagePlacement {
public:
  explicit PageByPage(std::unique_ptr<PagePlacement> placement) : placement_{std::move(placement)} {}
  void prepare(const AccessSummary* summary, const Machine& machine) override { placement_->prepare(summary, machine); }
  void fault(std::span<const PageFault> faults, std::span<NodeId> homes) override {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      placement_->fault(faults.subspan(i, 1), homes.subspan(i, 1));
      const PageFault& fault = faults[i];
      asked.emplace_back(fault.page, fault.object, fault.place.thread, fault.offset, fault.bytes, fault.pages);
    }
  }
  std::vector<Fault> asked;

private:
  std::unique_ptr<PagePlacement> placement_;
};

// Nodes of 150, 500, 150 and 10000 pages, so that some are full before all is placed.
Machine small_nodes() {
  Machine machine = four_socket_square();
  const std::uint64_t pages[] = {150, 500, 150, 10000};
  for (std::size_t node = 0; node < 4; ++node) machine.nodes[node].memory = Bytes{static_cast<std::int64_t>(pages[node] * page)};
  return machine;
}

Objects workload() {
  Objects objects;
  for (const std::uint64_t pages : {40, 200, 3, 90}) objects.add(ObjectKind::heap, pages * page + 100);
  objects.add(ObjectKind::mapped, 130 * page);
  for (int small = 0; small < 30; ++small) objects.add(ObjectKind::global, 100 + 700 * static_cast<std::uint64_t>(small));
  return objects;
}

// One address space in two ways: `whole` touches ranges, otherwise page after page.
struct Space {
  Space(const Machine& machine_, const Objects& objects, std::string_view policy, Bytes huge, bool asks_each) : machine{machine_} {
    placement = page_placements().make(policy);
    if (asks_each) {
      auto each = std::make_unique<PageByPage>(std::move(placement));
      asked = &each->asked;
      placement = std::move(each);
    }
    placement->prepare(nullptr, machine);
    space.emplace(machine, objects, *placement, Bytes{page}, huge, 5);
    space->keep_placed_pages();
  }
  void note_each_page(AddressRange range, bool write, const Place& place) {
    for (Address at = range.first; at < range.last;) {
      const Address next = std::min(range.last, space->first_byte(space->page_of(at) + 1));
      space->note_touch({at, next}, write, place);
      at = next;
    }
  }

  Machine machine;
  std::unique_ptr<PagePlacement> placement;
  std::vector<Fault>* asked = nullptr;
  std::optional<AddressSpace> space;
};

void expect_equal(const Space& a, const Space& b) {
  const AddressSpace &one = *a.space, &other = *b.space;
  ASSERT_EQ(one.pages(), other.pages());
  for (PageNumber number; number < PageNumber{one.pages()}; ++number) ASSERT_EQ(one.home_of_page(number), other.home_of_page(number));
  EXPECT_EQ(one.settled_pages(), other.settled_pages());
  EXPECT_EQ(one.pages_by_node(), other.pages_by_node());
  EXPECT_EQ(one.page_faults(), other.page_faults());
  EXPECT_EQ(one.remote_pages(), other.remote_pages());
  EXPECT_EQ(one.huge_pages(), other.huge_pages());
  EXPECT_EQ(one.memory().overflowed(), other.memory().overflowed());
  for (std::size_t node = 0; node < 4; ++node) EXPECT_EQ(one.memory().used(NodeId{node}), other.memory().used(NodeId{node}));
  ASSERT_EQ(one.placed_pages().size(), other.placed_pages().size());
  for (std::size_t i = 0; i < one.placed_pages().size(); ++i) {
    const PlacedPage &placed = one.placed_pages()[i], &expected = other.placed_pages()[i];
    ASSERT_EQ(std::tie(placed.object, placed.page, placed.home), std::tie(expected.object, expected.page, expected.home));
  }
}

// Lines by home, counted line by line, in the order in which homes come.
std::vector<std::pair<NodeId, std::uint64_t>> shares_of(const AddressSpace& space, AddressRange range, NodeId reader) {
  std::vector<std::pair<NodeId, std::uint64_t>> shares;
  const LineRange lines = lines_of(range, space.line_bytes());
  for (LineNumber line = lines.first; line < lines.last; ++line) {
    NodeId home = space.home_of_page(space.page_of(first_byte(line, space.line_bytes())));
    if (home.is_none()) home = reader;
    auto share = std::find_if(shares.begin(), shares.end(), [&](const auto& known) { return known.first == home; });
    if (share == shares.end()) share = shares.insert(shares.end(), {home, 0});
    ++share->second;
  }
  return shares;
}

class FaultRuns : public ::testing::TestWithParam<std::tuple<std::string, std::uint64_t, bool>> {};

TEST_P(FaultRuns, areWhatTheirPagesAreOneByOne) {
  const auto& [policy, huge_pages, asks_each] = GetParam();
  const Machine machine = small_nodes();
  const Objects objects = workload();
  std::uint64_t placed = 0, overflowed = 0, huge = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::mt19937_64 random{seed};
    const Bytes huge_page{static_cast<std::int64_t>(huge_pages * page)};
    Space runs{machine, objects, policy, huge_page, asks_each}, pages{machine, objects, policy, huge_page, true};
    for (int step = 0; step < 150; ++step) {
      const ObjectId object{random() % objects.objects.size()};
      const std::uint64_t kind = random() % 10;
      const Place place{ThreadId{random() % 4}, CoreId{0}, NodeId{random() % 4}, Time::nanoseconds(step)};
      const AddressRange all = runs.space->place_object(object, place.thread);
      ASSERT_EQ(pages.space->place_object(object, place.thread), all);
      if (kind == 0) {
        runs.space->release_object(object);
        pages.space->release_object(object);
      } else if (kind == 1) {
        const PageNumber moved = runs.space->page_of(all.first + random() % all.size());
        ASSERT_EQ(runs.space->migrate(moved, place.node), pages.space->migrate(moved, place.node));
      } else if (kind == 2 && all.size() > page) {
        const PageNumber first = runs.space->page_of(all.first) + random() % 3, last = runs.space->page_of(all.last);
        if (first >= last) continue;
        const AddressRange bound{runs.space->first_byte(first), runs.space->first_byte(last)};
        runs.space->bind_pages(bound, place.node);
        pages.space->bind_pages(bound, place.node);
      } else {
        // Some touches, of parts of objects and across their ends, then all that faulted is settled.
        for (std::uint64_t touches = 1 + random() % 3; touches > 0; --touches) {
          const std::uint64_t from = random() % all.size(), bytes = 1 + random() % (all.size() - from);
          const AddressRange range = AddressRange::of(all.first + from, bytes);
          const bool write = random() % 3 != 0;
          const Place who{ThreadId{random() % 4}, CoreId{0}, NodeId{random() % 4}, Time::nanoseconds(step)};
          runs.space->note_touch(range, write, who);
          pages.note_each_page(range, write, who);
        }
        ASSERT_EQ(runs.space->settle(), pages.space->settle());
        std::vector<HomeShare> shares;
        runs.space->homes(lines_of(all, 64), place.node, shares);
        const auto expected = shares_of(*pages.space, all, place.node);
        ASSERT_EQ(shares.size(), expected.size());
        for (std::size_t i = 0; i < shares.size(); ++i) ASSERT_EQ(std::pair(shares[i].home, shares[i].lines), expected[i]);
      }
      ASSERT_NO_FATAL_FAILURE(expect_equal(runs, pages)) << "seed " << seed << ", step " << step;
    }
    if (asks_each) { EXPECT_EQ(*runs.asked, *pages.asked); }
    for (const std::uint64_t on_node : runs.space->pages_by_node()) placed += on_node;
    overflowed += runs.space->memory().overflowed();
    huge += runs.space->huge_pages();
  }
  // Whatever the chance, these have been: else the test says little.
  EXPECT_GT(placed, 3000u);
  if (policy == "bind:0") { EXPECT_GT(overflowed, 100u); }
  EXPECT_EQ(huge > 10, huge_pages != 0);
}

INSTANTIATE_TEST_SUITE_P(Placements, FaultRuns,
                         ::testing::Combine(::testing::Values("first-touch", "interleave", "bind:0", "weighted-interleave:3:1:2:1",
                                                              "preferred:1"),
                                            ::testing::Values(0u, 16u), ::testing::Bool()));

}  // namespace
}  // namespace homenode::test
