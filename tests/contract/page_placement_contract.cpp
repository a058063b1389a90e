// One contract for every placement, modifiers on another one included: pages are on nodes that have memory, each exactly once, and the
// same calls get the same answers however they are cut into batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>

#include "models/placement/register.hpp"
#include "models/run/run.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/program/access_summary.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/registered.hpp"

namespace homenode::test {
namespace {

// A clause that a modifier may say it does not keep.
const std::string leaves_faults = "faults go where the modified placement says";

constexpr std::uint64_t page = 4096, pages_of_object = 2048, huge_page = 512 * page;
constexpr std::size_t objects = 3;

// The last machine has a node without cores.
std::vector<Machine> machines() {
  Machine far_memory = two_sockets();
  far_memory.name = "far-memory";
  far_memory.nodes.push_back({SocketId{1}, Bytes{std::int64_t{1} << 30}, Time::nanoseconds(200), {}});
  far_memory.controllers.push_back({NodeId{2}, Bandwidth::bytes_per_second(8e9), Bandwidth::bytes_per_second(8e9), {}});
  return {one_node(), two_sockets(), four_socket_square(), far_memory};
}

// Object o: its pages are used by one thread each in turn, or, the last quarter, by all alike.
AccessSummary summary_for(const Machine& machine) {
  AccessSummary summary;
  for (std::size_t core = 0; core < machine.cores(); ++core) summary.node.push_back(machine.node_of(CoreId{core}));
  for (std::size_t object = 0; object < objects; ++object) {
    ObjectUse use{0, object == 0, {}};
    for (std::uint64_t first = 0; first < pages_of_object; first += 64) {
      UsedPages pages{first, first + 64, {}};
      for (std::size_t thread = 0; thread < machine.cores(); ++thread) {
        const bool uses = first >= pages_of_object / 4 * 3 || first / 64 % machine.cores() == thread;
        if (uses) pages.users.push_back({ThreadId{thread}, 512, 64});
      }
      use.pages.push_back(std::move(pages));
    }
    summary.objects[ObjectId{object}] = std::move(use);
  }
  return summary;
}

// A placement on a machine, if it takes it: one may refuse a machine when it is prepared.
struct Placed {
  Placed(const std::string& text, const Machine& machine_) : machine{machine_}, summary{summary_for(machine_)} {
    placement = page_placements().make(text);
    try {
      placement->prepare(placement->wants_summary() ? &summary : nullptr, machine);
    } catch (const UsageError&) { placement = nullptr; }
  }
  explicit operator bool() const { return placement != nullptr; }
  PagePlacement* operator->() const { return placement.get(); }

  Machine machine;
  AccessSummary summary;
  std::unique_ptr<PagePlacement> placement;
};

Place place_of(const Machine& machine, std::size_t core, Time now = Time{}) {
  return {ThreadId{core}, CoreId{core}, machine.node_of(CoreId{core}), now};
}

// Pages of all objects in address order, touched by any thread; each fourth one is huge.
std::vector<PageFault> random_faults(const Machine& machine, std::size_t count, unsigned seed) {
  std::mt19937_64 random{seed};
  std::vector<PageFault> faults;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t in_object = random() % pages_of_object, pages = i % 4 == 3 ? 512 : 1;
    PageFault fault{PageNumber{i * 1024}, ObjectId{static_cast<std::size_t>(random() % objects)}, {}, true, 0, pages * page, pages};
    fault.place = place_of(machine, random() % machine.cores(), Time::nanoseconds(static_cast<double>(i)));
    fault.offset = static_cast<std::int64_t>(in_object * page) - static_cast<std::int64_t>(i % 2 * 16);
    faults.push_back(fault);
  }
  return faults;
}

std::vector<NodeId> homes(const Placed& placed, std::span<const PageFault> faults, std::size_t batch) {
  std::vector<NodeId> homes(faults.size(), NodeId::none());
  for (std::size_t first = 0; first < faults.size(); first += batch) {
    const std::size_t size = std::min(batch, faults.size() - first);
    placed->fault(faults.subspan(first, size), std::span{homes}.subspan(first, size));
  }
  return homes;
}

class EveryPlacement : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPlacement, takesOneOfTheMachines) {
  const std::vector<Machine> all = machines();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const Machine& machine) { return bool{Placed{GetParam(), machine}}; }));
}

TEST_P(EveryPlacement, givesEachFaultANodeOfTheMachine) {
  for (const Machine& machine : machines()) {
    for (const std::size_t batch : {1, 2, 17, 300}) {
      const Placed placed{GetParam(), machine};
      if (!placed) continue;
      for (const NodeId home : homes(placed, random_faults(machine, 600, 1), batch)) ASSERT_LT(home.index(), machine.nodes.size());
    }
  }
}

// One that draws by chance draws alike.
TEST_P(EveryPlacement, givesEqualCallsEqualHomesInBatchesOfAnySize) {
  for (const Machine& machine : machines()) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const std::vector<PageFault> faults = random_faults(machine, 400, seed);
      const Placed whole{GetParam(), machine};
      if (!whole) continue;
      const std::vector<NodeId> expected = homes(whole, faults, faults.size());
      for (const std::size_t batch : {1, 7, 64, 400}) ASSERT_EQ(homes(Placed{GetParam(), machine}, faults, batch), expected) << batch;
    }
  }
}

// A placement that says how its homes repeat says the same of each fault.
TEST_P(EveryPlacement, repeatsTheHomesThatItGivesToFaults) {
  for (const Machine& machine : machines()) {
    const Placed placed{GetParam(), machine};
    if (!placed) continue;
    const std::vector<PageFault> faults = random_faults(machine, 400, 4);
    const std::vector<NodeId> expected = homes(placed, faults, 10);
    for (std::size_t i = 0; i < faults.size(); ++i) {
      std::vector<NodeId> repeating;
      placed->repeating_homes(faults[i].place, repeating);
      if (!repeating.empty()) { ASSERT_EQ(repeating[faults[i].number_of_its_size() % repeating.size()], expected[i]) << i; }
    }
  }
}

TEST_P(EveryPlacement, touchesFirstOnlyPagesAndThreadsThatTheSummaryHas) {
  for (const Machine& machine : machines()) {
    const Placed placed{GetParam(), machine};
    if (!placed) continue;
    for (const TouchedPages& touched : placed->touched_first()) {
      ASSERT_LT(touched.object.index(), objects);
      ASSERT_LT(touched.first, touched.last);
      ASSERT_LE(touched.last, pages_of_object);
      if (!touched.thread.is_none()) { ASSERT_LT(touched.thread.index(), machine.cores()); }
    }
  }
}

// The page table of a run under the placement. Thread t runs on core t; each slice writes or reads a range of pages of an object.
struct Memory {
  Memory(const Placed& placed_, Bytes huge = Bytes{}) : placed{placed_} {
    for (std::size_t o = 0; o < objects; ++o) builder.object("array", pages_of_object * page, ObjectKind::mapped);
    workload = builder.build();
    addresses = std::make_unique<AddressSpace>(placed.machine, *workload, *placed.placement, Bytes{page}, huge);
    for (std::size_t o = 0; o < objects; ++o) first_byte[o] = addresses->place_object(ObjectId{o}, ThreadId{0u}).first;
  }

  // As the memory models do it: the placement wakes, pages fault, it hears of what it watches; then its migrations are done.
  std::vector<PageMove> slice(const Place& place, std::size_t object, std::uint64_t first, std::uint64_t pages, bool write) {
    const AddressRange range = AddressRange::of(first_byte[object] + first * page, pages * page);
    PageWatch& watch = addresses->watch();
    watch.begin_slice(place);
    if (watch.watches() == Watch::hinting_faults) {
      watch.touched(addresses->page_of(range.first), addresses->page_of(range.last - 1));
      if (watch.faulted()) watch.tell_faults(place);
    }
    addresses->touch(range, write, place);
    if (watch.watches() == Watch::traffic) {
      watch.exchanged(range, write);
      watch.tell_traffic(place);
    }
    return watch.take_work().moves;
  }

  // Pages by the node that the page table has them on.
  std::vector<std::uint64_t> counted() const {
    std::vector<std::uint64_t> by_node(placed.machine.nodes.size(), 0);
    for (PageNumber number; number < PageNumber{addresses->pages()}; ++number) {
      const NodeId home = addresses->home_of_page(number);
      if (!home.is_none()) ++by_node.at(home.index());
    }
    return by_node;
  }

  const Placed& placed;
  WorkloadBuilder builder;
  std::shared_ptr<Workload> workload;
  std::unique_ptr<AddressSpace> addresses;
  std::array<Address, objects> first_byte{};
};

TEST_P(EveryPlacement, keepsEachWrittenPageOnOneNodeWhileItWatches) {
  for (const Machine& machine : machines()) {
    const Placed placed{GetParam(), machine};
    if (!placed) continue;
    Memory memory{placed};
    std::mt19937_64 random{3};
    std::set<std::pair<std::size_t, std::uint64_t>> written;
    std::uint64_t moved = 0;
    // 3000 slices in 3 s, so that modifiers with the defaults of their systems wake, too.
    for (int i = 0; i < 3000; ++i) {
      const std::size_t object = random() % objects;
      const std::uint64_t pages = 1 + random() % 12, first = random() % (256 - pages);
      const bool write = random() % 2 == 0;
      const Place place = place_of(machine, random() % machine.cores(), Time::nanoseconds(1e6 * i));
      for (const PageMove& move : memory.slice(place, object, first, pages, write)) {
        ASSERT_LT(move.to.index(), machine.nodes.size());
        ASSERT_NE(move.from, move.to);
        ++moved;
      }
      for (std::uint64_t at = first; write && at < first + pages; ++at) written.insert({object, at});
    }
    const std::vector<std::uint64_t>& by_node = memory.addresses->pages_by_node();
    EXPECT_EQ(by_node, memory.counted());
    EXPECT_EQ(std::accumulate(by_node.begin(), by_node.end(), std::uint64_t{0}), written.size());
    EXPECT_EQ(memory.addresses->page_faults(), written.size());
    EXPECT_EQ(memory.addresses->migrated_pages(), moved);
    if (placed->watches() == Watch::nothing && !placed->wakeup()) { EXPECT_EQ(moved, 0u); }
  }
}

TEST_P(EveryPlacement, putsAHugePageOnOneNode) {
  for (const Machine& machine : machines()) {
    const Placed placed{GetParam(), machine};
    if (!placed) continue;
    Memory memory{placed, Bytes{huge_page}};
    for (std::size_t i = 0; i < 40; ++i)
      memory.slice(place_of(machine, i % machine.cores()), i % objects, i * 101 % pages_of_object, 1, true);
    std::uint64_t huge = 0;
    for (PageNumber number; number < PageNumber{memory.addresses->pages()}; ++number) {
      if (!memory.addresses->in_huge_page(number)) continue;
      ++huge;
      ASSERT_EQ(memory.addresses->home_of_page(number), memory.addresses->home_of_page(PageNumber{number.value() / 512 * 512}));
    }
    EXPECT_GT(huge, 0u);
    EXPECT_EQ(huge, 512 * memory.addresses->huge_pages());
    EXPECT_EQ(memory.addresses->pages_by_node(), memory.counted());
  }
}

// `text` is a modifier on the registry's first placement. On each other placement it changes no home of a fault, nothing of what is
// touched first, and, where every thread uses pages of its own node alone, it moves none.
TEST_P(EveryPlacement, asAModifierChangesNothingWhereItIsNotAskedTo) {
  const std::size_t plus = GetParam().find('+');
  if (plus == std::string::npos) return;
  const std::string modifier = GetParam().substr(plus);
  bool same = true;
  for (const auto& entry : page_placements().entries()) {
    if (entry.modify) continue;
    for (const std::string& text : texts(entry, page_placements())) {
      if (page_placements().make(text)->watches() != Watch::nothing) continue;  // it migrates pages itself: no modifier takes it
      for (const Machine& machine : machines()) {
        const Placed modified{text + modifier, machine}, plain{text, machine};
        ASSERT_EQ(bool{modified}, bool{plain}) << text;
        if (!plain) continue;
        EXPECT_EQ(modified->wants_summary(), plain->wants_summary());
        EXPECT_EQ(modified->touched_first().size(), plain->touched_first().size());
        const std::vector<PageFault> faults = random_faults(machine, 100, 5);
        same &= homes(modified, faults, 10) == homes(plain, faults, 10);
      }
    }
  }
  EXPECT_EQ(!same, deviates(page_placements(), GetParam(), leaves_faults));
}

TEST_P(EveryPlacement, movesNoPageThatOnlyItsOwnNodeUses) {
  for (const Machine& machine : machines()) {
    const Placed placed{GetParam(), machine};
    if (!placed) continue;
    Memory memory{placed};
    const auto core_on = [&](NodeId node) {  // none where the node has no cores
      std::size_t core = 0;
      while (core < machine.cores() && machine.node_of(CoreId{core}) != node) ++core;
      return core;
    };
    for (std::size_t o = 0; o < objects; ++o) memory.slice(place_of(machine, o % machine.cores()), o, 0, 64, true);
    for (int i = 1; i < 3000; ++i) {
      const std::size_t object = static_cast<std::size_t>(i) % objects;
      const std::uint64_t at = static_cast<std::uint64_t>(i) / objects % 64;
      const std::size_t core = core_on(memory.addresses->home_of(memory.first_byte[object] + at * page));
      if (core == machine.cores()) continue;
      ASSERT_TRUE(memory.slice(place_of(machine, core, Time::nanoseconds(1e6 * i)), object, at, 1, false).empty()) << i;
    }
  }
}

RunReport replay(const Workload& workload, const Machine& machine, const std::string& placement) {
  RunSpec options;
  options.threads = static_cast<unsigned>(machine.cores());
  options.placement = placement;
  return run(workload, machine, options);
}

TEST_P(EveryPlacement, makesEqualWholeRunsEqual) {
  WorkloadBuilder builder;
  const ObjectId grid = builder.object("grid", 256 * page, ObjectKind::mapped);
  const RegionId init = builder.serial("init"), sweep = builder.loop("sweep", 64);
  builder.nest(init, {128 * 512}, {write(grid, 0, {8})});
  builder.repeat(init);
  builder.nest(sweep, {4 * 512}, {read(grid, 0, {8}, 4 * page), write(grid, 0, {8}, 4 * page)});
  builder.repeat(sweep, 3);
  const auto workload = builder.build();
  for (const Machine& machine : machines()) {
    if (!Placed{GetParam(), machine}) continue;
    const RunReport one = replay(*workload, machine, GetParam()), other = replay(*workload, machine, GetParam());
    EXPECT_EQ(one.time, other.time);
    EXPECT_EQ(one.pages_by_node, other.pages_by_node);
    EXPECT_EQ(std::accumulate(one.pages_by_node.begin(), one.pages_by_node.end(), std::uint64_t{0}), 256u);
    EXPECT_EQ(one.page_faults, 256u);
  }
}

INSTANTIATE_TEST_SUITE_P(registry, EveryPlacement, ::testing::ValuesIn(every_text(page_placements())), test_name);

TEST(PlacementContract, entriesAreSound) { expect_sound_entries(page_placements(), {leaves_faults}); }

}  // namespace
}  // namespace homenode::test
