// S2's allocator against its comparison, on the card itself: which blocks a core gets, and how soon it reaches them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "models/machines/machine_file.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/physical_memory.hpp"
#include "sim/machine/ring_geometry.hpp"
#include "tests/support/heaps.hpp"
#include "tests/support/source_folder.hpp"

namespace homenode {
namespace {

constexpr std::uint64_t seed = 3;
constexpr std::int64_t page = 2 << 20;

// Blocks of one line that `threads` threads, thread t on core t, get in turn.
struct OnCard {
  OnCard(const std::string& heap, std::size_t threads, std::size_t each)
      : machine{load_machine(test::source_folder() / "models/machines/knc-5110p.toml")},
        placement{page_placements().make("first-touch")},
        manager{heap_managers().make(heap)},
        ring{machine},
        memory{machine, Bytes{page}, seed} {
    workload.objects.assign(1, {ObjectKind::heap, false, 64, 16, SiteId{}, "block", ObjectId::none(), -1});
    placement->prepare(nullptr, machine);
    addresses = std::make_unique<AddressSpace>(machine, workload, *placement, Bytes{page});
    std::vector<CoreId> cores;
    for (std::size_t thread = 0; thread < threads; ++thread) cores.emplace_back(thread);
    manager->prepare({workload, machine, *addresses, cores, seed});
    blocks.resize(threads);
    for (std::size_t i = 0; i < each; ++i)
      for (std::size_t thread = 0; thread < threads; ++thread)
        blocks[thread].push_back(manager->allocate({ObjectId{0}, 64, 16, SiteId{}, -1}, on(thread)).range.first);
  }
  Place on(std::size_t thread) const { return {ThreadId{thread}, CoreId{thread}, NodeId{0}, Time{}}; }
  double latency(std::size_t core, Address block) const {
    return ring.memory_latency(CoreId{core}, memory.line(line_of(block, 64))).nanoseconds();
  }
  double mean_latency() const {
    double sum = 0, count = 0;
    for (std::size_t core = 0; core < blocks.size(); ++core)
      for (const Address block : blocks[core]) {
        sum += latency(core, block);
        ++count;
      }
    return sum / count;
  }

  Machine machine;
  test::HeapObjects workload;
  std::unique_ptr<PagePlacement> placement;
  std::unique_ptr<HeapManager> manager;
  RingGeometry ring;
  PhysicalMemory memory;
  std::unique_ptr<AddressSpace> addresses;
  std::vector<std::vector<Address>> blocks;  // by core
};

TEST(LatencyAware, blocksAreWholeLinesOfOneCoreEachAndNoOtherUserIsNearer) {
  const OnCard heap{"latency-aware", 20, 300};
  std::set<Address> seen;
  for (std::size_t core = 0; core < 20; ++core)
    for (const Address block : heap.blocks[core]) {
      ASSERT_EQ(block.value() % 64, 0U);
      ASSERT_TRUE(seen.insert(block).second);
      for (std::size_t other = 0; other < 20; ++other) ASSERT_LE(heap.latency(core, block), heap.latency(other, block));
    }
}

TEST(LatencyAware, takesTheNearestShareOfWhatEachCoreSees) {
  // Of three points on a ring of N stops the way round is at most s with probability 3 (s / 2N)^2 (s < N), so the nearest share q has ways
  // up to 2N sqrt(q / 3), two thirds of it on average. One core alone: of several, each keeps what no other is nearer to.
  for (const int percent : {5, 10, 20}) {
    const OnCard heap{"latency-aware:near=" + std::to_string(percent), 1, 4000};
    const double stops = static_cast<double>(heap.ring.stops());
    const double mean_way = 2.0 / 3 * 2 * stops * std::sqrt(percent / 300.0);
    const double expected = heap.ring.fixed_memory_latency().nanoseconds() + heap.ring.hop().nanoseconds() * mean_way;
    EXPECT_NEAR(heap.mean_latency(), expected, 0.03 * expected) << percent;
  }
}

TEST(Regular, dividesAChunkInOrderAndSeesTheMachinesMeanLatency) {
  const OnCard heap{"regular", 12, 300};
  for (std::size_t core = 0; core < 12; ++core)
    for (std::size_t i = 1; i < 300; ++i) ASSERT_EQ(heap.blocks[core][i], heap.blocks[core][i - 1] + 64);
  const double part = static_cast<double>(heap.blocks[1][0] - heap.blocks[0][0]);
  EXPECT_NEAR(part, (64 << 20) / 12.0, 64);
  EXPECT_NEAR(heap.mean_latency(), 290, 3);
}

TEST(Regular, givesPartsByTheNumbersOfTheCoresNotOfTheThreads) {
  // Threads on cores 5, 2 and 5: two parts of 64 MiB, that of core 2 first.
  OnCard heap{"regular", 1, 1};
  const auto manager = heap_managers().make("regular");
  manager->prepare({heap.workload, heap.machine, *heap.addresses, {CoreId{5}, CoreId{2}, CoreId{5}}, seed});
  const auto first_of = [&](std::size_t core) {
    return manager->allocate({ObjectId{0}, 64, 16, SiteId{}, -1}, {ThreadId{0}, CoreId{core}, NodeId{0}, Time{}}).range.first;
  };
  EXPECT_EQ(first_of(5), first_of(2) + (32 << 20));
}

TEST(LineHeaps, largerRequestsGoToGlibcAndFreedLinesComeBack) {
  for (const char* name : {"regular", "latency-aware"}) {
    OnCard heap{name, 4, 1};
    const Address line = heap.manager->allocate({ObjectId{0}, 40, 8, SiteId{}, -1}, heap.on(2)).range.first;
    const AddressRange larger = heap.manager->allocate({ObjectId{0}, 65, 16, SiteId{}, -1}, heap.on(2)).range;
    EXPECT_EQ(larger.last - larger.first, 65U);
    EXPECT_EQ(larger.first.value() % 64, 16U) << "glibc's header lies in front";
    heap.manager->release(ObjectId{0}, line, heap.on(1));
    EXPECT_EQ(heap.manager->allocate({ObjectId{0}, 64, 16, SiteId{}, -1}, heap.on(2)).range.first, line) << "of core 2, whoever freed it";
  }
}

TEST(LatencyAware, aCoreWithoutLinesOfItsOwnGetsThoseOfNobody) {
  // The only thread was to run on core 0, which has the nearest tenth; now it runs on core 30: farther from core 0 than all of that.
  OnCard heap{"latency-aware", 1, 300};
  const Place moved{ThreadId{0}, CoreId{30}, NodeId{0}, Time{}};
  const auto allocate = [&] { return heap.manager->allocate({ObjectId{0}, 64, 16, SiteId{}, -1}, moved).range.first; };
  const Address line = allocate();
  for (const Address own : heap.blocks[0]) EXPECT_LT(heap.latency(0, own), heap.latency(0, line));
  heap.manager->release(ObjectId{0}, line, moved);
  const std::uint64_t reserved = heap.manager->reserved_bytes();
  EXPECT_EQ(allocate(), line);
  EXPECT_NE(allocate(), line);
  EXPECT_EQ(heap.manager->reserved_bytes(), reserved);  // no chunk for each
}

TEST(LatencyAware, refusesMachinesWithoutARing) {
  OnCard heap{"regular", 1, 1};
  heap.machine.ring.reset();
  const auto manager = heap_managers().make("latency-aware");
  EXPECT_THROW(manager->prepare({heap.workload, heap.machine, *heap.addresses, {CoreId{0}}, seed}), UsageError);
}

}  // namespace
}  // namespace homenode
