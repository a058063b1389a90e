// What waiting for a heap's lock costs, with a heap whose calls hold one lock for a round time.
#include "sim/loop/heap_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/heaps.hpp"
#include "tests/unit/sim/loop/fixed_time_memory.hpp"

namespace homenode::test {
namespace {

constexpr Time held = Time::nanoseconds(100), rest = Time::nanoseconds(30);

class OneLock final : public HeapManager {
public:
  explicit OneLock(bool locks) : locks_{locks} {}
  void prepare(const HeapSetting& setting) override { addresses_ = &setting.addresses; }
  HeapLock lock_to_allocate(const AllocationRequest&, const Place&) override { return locks_ ? HeapLock{LockId{7}} : HeapLock{}; }
  HeapEffect allocate(const AllocationRequest& request, const Place&) override {
    reserved_ += 4096;
    return {AddressRange::of(addresses_->reserve(4096).first, request.bytes), held, rest, {}};
  }
  HeapEffect release(ObjectId, Address, const Place&) override {
    reserved_ -= 4096;
    return {};
  }
  std::uint64_t reserved_bytes() const override { return reserved_; }

private:
  std::uint64_t reserved_ = 0;
  bool locks_;
  AddressSpace* addresses_ = nullptr;
};

// `threads` threads come to allocate, each `apart` after the one before; when each goes on.
struct Calls {
  Calls(bool locks, std::size_t threads, Time apart, std::uint64_t bytes = 4096)
      : bench{"plain", 2, 4096, threads, bytes}, heap{locks}, calls{&heap, bench.workload, *bench.addresses, memory, 1} {
    std::vector<CoreId> cores;
    for (std::size_t t = 0; t < threads; ++t) cores.emplace_back(t);
    calls.prepare(bench.machine, cores);
    gone_on.resize(threads);
    std::vector<HeapCalls::Wake> due;
    for (std::size_t t = 0; t < threads; ++t) due.push_back({ThreadId{t}, apart * static_cast<std::int64_t>(t)});
    std::vector<bool> begun(threads, false);
    while (!due.empty()) {
      const auto next = std::min_element(due.begin(), due.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
      const HeapCalls::Wake wake = *next;
      due.erase(next);
      Place place = bench.on(wake.thread.index());
      place.now = wake.time;
      const bool first = !begun[wake.thread.index()];
      begun[wake.thread.index()] = true;
      const bool done = first ? calls.begin(place, HeapOperation::allocate, ObjectId{wake.thread.index()}, due) : calls.resume(place, due);
      if (done) gone_on[wake.thread.index()] = wake.time;
    }
  }
  HeapBench bench;
  FixedTimeMemory memory{Time{}};
  OneLock heap;
  HeapCalls calls;
  std::vector<Time> gone_on;
};

TEST(HeapCalls, thatComeTogetherWaitForThoseBefore) {
  // 0 + 100 + 200 ns of waiting; each goes on after its place in the queue x 100 ns held, and 30 ns without the lock.
  const Calls three{true, 3, Time{}};
  EXPECT_EQ(three.calls.report().lock_wait, Time::nanoseconds(300));
  EXPECT_THAT(three.gone_on, ::testing::ElementsAre(held + rest, held * 2 + rest, held * 3 + rest));
}

TEST(HeapCalls, thatOverlapInPartWaitForTheRest) {
  // The second comes 60 ns after the first and waits 40 ns; the third comes at 120 ns and waits until 200 ns.
  const Calls three{true, 3, Time::nanoseconds(60)};
  EXPECT_EQ(three.calls.report().lock_wait, Time::nanoseconds(40 + 80));
}

TEST(HeapCalls, thatFindTheLockFreeDoNotWait) {
  // It is given up at 100 ns, 30 ns before the call's end; the second comes just then.
  const Calls two{true, 2, held};
  EXPECT_EQ(two.calls.report().lock_wait, Time{});
  EXPECT_EQ(two.gone_on[1], held * 2 + rest);
}

TEST(HeapCalls, keepTheMostThatWasReservedAndAskedFor) {
  // Three blocks of 1000 bytes in a page each; two are given back.
  Calls three{false, 3, Time{}, 1000};
  std::vector<HeapCalls::Wake> due;
  for (const std::size_t block : {0u, 1u}) three.calls.begin(three.bench.on(0), HeapOperation::release, ObjectId{block}, due);
  EXPECT_EQ(three.heap.reserved_bytes(), 4096u);
  EXPECT_EQ(three.calls.report().reserved_bytes, 3u * 4096);
  EXPECT_EQ(three.calls.report().requested_peak_bytes, 3u * 1000);
}

TEST(HeapCalls, withoutALockDoNotWait) {
  const Calls three{false, 3, Time{}};
  EXPECT_EQ(three.calls.report().lock_wait, Time{});
  EXPECT_THAT(three.gone_on, ::testing::Each(held + rest));
}

// Each call does the same to the memory map.
class ChangesMap final : public HeapManager {
public:
  explicit ChangesMap(PageOperation::Kind kind) : kind_{kind} {}
  void prepare(const HeapSetting& setting) override { addresses_ = &setting.addresses; }
  HeapEffect allocate(const AllocationRequest& request, const Place& place) override {
    const AddressRange pages = addresses_->reserve(3 * 4096);
    addresses_->touch({pages.first, pages.first + 2 * 4096}, true, place);  // two of three have frames
    HeapEffect effect;
    effect.range = AddressRange::of(pages.first, request.bytes);
    effect.held = held;
    effect.cost = rest;
    effect.operations = {{kind_, pages}};
    effect.written = {AddressRange::of(pages.first + 2 * 4096, 8)};
    return effect;
  }
  HeapEffect release(ObjectId, Address, const Place&) override { return {}; }
  std::uint64_t reserved_bytes() const override { return 0; }

private:
  PageOperation::Kind kind_;
  AddressSpace* addresses_ = nullptr;
};

struct MapChange {
  MapChange(PageOperation::Kind kind, const MappingCost& cost, std::size_t threads, std::size_t cores)
      : bench{"plain", 2, 4096, threads}, heap{kind}, calls{&heap, bench.workload, *bench.addresses, memory, 1, {cost, Time{}}} {
    memory.fault = Time::nanoseconds(500);
    memory.writers_wait = Time::nanoseconds(200);
    std::vector<CoreId> on;
    for (std::size_t t = 0; t < threads; ++t) on.emplace_back(t);
    calls.prepare(bench.machine, on);
    for (std::size_t core = 0; core < cores; ++core) bench.addresses->runs_on(CoreId{core});
    std::vector<HeapCalls::Wake> due;
    gone_on.resize(threads);
    for (std::size_t t = 0; t < threads; ++t) calls.begin(bench.on(t), HeapOperation::allocate, ObjectId{t}, due);
    while (!due.empty()) {
      const auto next = std::min_element(due.begin(), due.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
      const HeapCalls::Wake wake = *next;
      due.erase(next);
      Place place = bench.on(wake.thread.index());
      place.now = wake.time;
      if (calls.resume(place, due)) gone_on[wake.thread.index()] = wake.time;
    }
  }
  HeapBench bench;
  FixedTimeMemory memory{Time{}};
  ChangesMap heap;
  HeapCalls calls;
  std::vector<Time> gone_on;
};

constexpr Time operator""_ns(unsigned long long ns) { return Time::nanoseconds(static_cast<double>(ns)); }

MappingCost mapping_costs() {
  MappingCost cost;
  cost.call = 1000_ns;
  cost.page = 100_ns;
  cost.shootdown = 2000_ns;
  cost.shootdown_core = 500_ns;
  cost.excludes_faults = 1;
  return cost;
}

TEST(MapChanges, holdTheLockForTheCallThePagesThatWereThereAndTheShootdown) {
  // Three cores ran the address space: 1000 + 2 x 100 + 2000 + 2 x 500 = 4200 ns, after 100 ns of the call and one page fault of 500 ns for
  // the header, and 200 ns of waiting for faults under way.
  const MapChange one{PageOperation::Kind::shrink, mapping_costs(), 1, 3};
  EXPECT_THAT(one.memory.held_back, ::testing::ElementsAre(std::pair{600_ns, 4200_ns}));
  EXPECT_EQ(one.gone_on[0], held + 500_ns + 200_ns + 4200_ns + rest);
  EXPECT_EQ(one.calls.report().lock_wait, 200_ns);
}

TEST(MapChanges, growWithTheCoresThatRanTheAddressSpace) {
  const MapChange alone{PageOperation::Kind::unmap, mapping_costs(), 1, 1}, four{PageOperation::Kind::unmap, mapping_costs(), 1, 4};
  EXPECT_EQ(alone.memory.held_back[0].second, 1200_ns);  // no other core to tell
  EXPECT_EQ(four.memory.held_back[0].second, 1200_ns + 2000_ns + 500_ns * 3);
}

TEST(MapChanges, comeOneAfterTheOther) {
  // Both ask at 600 ns; the second has the lock when the first has waited 200 ns and held it for 1200 + 2000 + 500 ns.
  const MapChange two{PageOperation::Kind::shrink, mapping_costs(), 2, 2};
  EXPECT_THAT(two.memory.held_back, ::testing::ElementsAre(std::pair{600_ns, 3700_ns}, std::pair{4500_ns, 3700_ns}));
  EXPECT_EQ(two.gone_on[1], 4500_ns + 200_ns + 3700_ns + rest);
}

TEST(MapChanges, ofMadviseKeepNoFaultOut) {
  const MapChange one{PageOperation::Kind::discard, mapping_costs(), 1, 3};
  EXPECT_TRUE(one.memory.held_back.empty());
  EXPECT_EQ(one.gone_on[0], held + 4200_ns + 500_ns + rest);
}

TEST(MapChanges, sinceLinux420ReleaseFramesWithoutKeepingFaultsOut) {
  MappingCost cost = mapping_costs();
  cost.releases_exclusively = 0;
  const MapChange one{PageOperation::Kind::shrink, cost, 1, 3};
  ASSERT_EQ(one.memory.held_back.size(), 1u);
  EXPECT_EQ(one.memory.held_back[0].second, 1000_ns);
  EXPECT_EQ(one.gone_on[0], held + 4200_ns + 500_ns + 200_ns + rest);  // what it takes in all is the same
}

TEST(MapChanges, keepNoFaultOutWhereTheSystemHasNoLockOfFaults) {
  MappingCost cost = mapping_costs();
  cost.excludes_faults = 0;
  const MapChange one{PageOperation::Kind::shrink, cost, 1, 3};
  EXPECT_TRUE(one.memory.held_back.empty());
  EXPECT_EQ(one.gone_on[0], held + 500_ns + 4200_ns + rest);
}

TEST(HeapCalls, writeHeadersFromTheCallersNode) {
  const MapChange two{PageOperation::Kind::forget, MappingCost{}, 4, 4};
  // Thread 2 is on node 1. Its third page holds the header only.
  const Address block = two.bench.addresses->base_of(ObjectId{2});
  EXPECT_EQ(two.bench.addresses->home_of(block + 2 * 4096), NodeId{1});
  EXPECT_EQ(two.bench.addresses->home_of(two.bench.addresses->base_of(ObjectId{0}) + 2 * 4096), NodeId{0});
}

TEST(HeapCalls, forABlockThatThePlacementTouchedBeforeLeaveItWhereItIs) {
  HeapBench bench{"plain"};
  FixedTimeMemory memory{Time{}};
  OneLock heap{false};
  HeapCalls calls{&heap, bench.workload, *bench.addresses, memory, 1};
  const Address before = bench.addresses->place_object(ObjectId{0}, ThreadId{0}).first;
  calls.prepare(bench.machine, {CoreId{0}});
  std::vector<HeapCalls::Wake> due;
  EXPECT_FALSE(calls.begin(bench.on(0), HeapOperation::allocate, ObjectId{0}, due));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].time, held + rest);
  EXPECT_EQ(bench.addresses->address(ObjectId{0}, ThreadId{0}), before);
  EXPECT_TRUE(calls.resume(bench.on(0), due));
  EXPECT_TRUE(calls.begin(bench.on(0), HeapOperation::release, ObjectId{0}, due));
  EXPECT_FALSE(bench.addresses->placed(ObjectId{0}));
}

// Gives all of a block back when it is freed.
class Unmaps final : public HeapManager {
public:
  void prepare(const HeapSetting& setting) override { addresses_ = &setting.addresses; }
  HeapEffect allocate(const AllocationRequest& request, const Place&) override {
    return {AddressRange::of(addresses_->reserve(request.bytes).first, request.bytes), {}, {}, {}};
  }
  HeapEffect release(ObjectId, Address address, const Place&) override {
    HeapEffect effect;
    effect.operations = {{PageOperation::Kind::unmap, AddressRange::of(address, bytes)}};
    return effect;
  }
  std::uint64_t reserved_bytes() const override { return 0; }

  static constexpr std::uint64_t bytes = 64 * 4096;

private:
  AddressSpace* addresses_ = nullptr;
};

TEST(HeapCalls, giveFramesBackWhereverThePlacementTouchedThem) {
  // 64 pages and the one of their header: 1000 + 65 x 100 ns, as if the program itself had touched them.
  HeapBench bench{"plain", 1, 4096, 1, Unmaps::bytes};
  FixedTimeMemory memory{Time{}};
  Unmaps heap;
  HeapCalls calls{&heap, bench.workload, *bench.addresses, memory, 1, {mapping_costs(), Time{}}};
  const AddressRange before = bench.addresses->place_object(ObjectId{0}, ThreadId{0});
  bench.addresses->touch(before, true, bench.on(0));
  calls.prepare(bench.machine, {CoreId{0}});
  auto call = [&, place = bench.on(0)](HeapOperation operation) mutable {
    std::vector<HeapCalls::Wake> due;
    for (bool done = calls.begin(place, operation, ObjectId{0}, due); !done; done = calls.resume(place, due)) {
      place.now = due.at(0).time;
      due.clear();
    }
  };
  call(HeapOperation::allocate);
  call(HeapOperation::release);
  ASSERT_EQ(memory.held_back.size(), 1u);
  EXPECT_EQ(memory.held_back[0].second, 1000_ns + 65 * 100_ns);
}

}  // namespace
}  // namespace homenode::test
