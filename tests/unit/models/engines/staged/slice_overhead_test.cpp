// What slices take beside their lines: page faults and their lock, page walks, the runtime's overhead; and where stretches end
// (slice_bench.hpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/models/engines/staged/slice_bench.hpp"

namespace homenode::test {
namespace {

TEST(Stretches, shareTheIterationsCoreTimeByTheirAccesses) {
  // 8 accesses a line, 100 us of core time an iteration: access 0 to 512 of n * 8 takes its part, the end the rest.
  WorkCounts counts;
  counts.integer = 3 * 2e9 * 100e-6;
  SliceBench bench{one_node(), "bind:0", 1, counts};
  bench.caches_answer(hits_only);
  const auto [begin, reached] = bench.stretch(0, 512, Bytes{1 << 20});
  EXPECT_EQ(reached, 512u);
  EXPECT_THAT(begin, about(100e-6 * 512 / (n * 8)));
  const auto [rest, end] = bench.stretch(512, Stretch::to_the_end, Bytes{1 << 20});
  EXPECT_EQ(end, Stretch::to_the_end);
  EXPECT_THAT(begin + rest, about(100e-6));
}

TEST(Stretches, endAfterAQuantumOfTouchedLines) {
  // A group is a quarter of the private caches' lines at most, 128 here. By quanta of 8 KiB = 128 lines that makes n / 128 stretches;
  // their misses take what those of the whole take.
  Machine machine = one_node();
  machine.caches[0].size = Bytes{16 << 10};
  machine.caches[1].size = Bytes{16 << 10};  // groups of 512 / 4 lines
  SliceBench bench{machine};
  bench.caches_answer(reads(1));
  std::uint64_t reached = 0, stretches = 0;
  for (; reached != Stretch::to_the_end; ++stretches) {
    const std::uint64_t from = reached;
    reached = bench.stretch(from, Stretch::to_the_end, Bytes{8 << 10}).second;
    if (reached != Stretch::to_the_end) { EXPECT_EQ(reached, from + 128 * 8); }
  }
  EXPECT_EQ(stretches, lines / 128);
  EXPECT_THAT(bench.now, about(n * 100e-9));
}

TEST(Stretches, endAfterSixteenTimesAQuantumThatStaysInPlace) {
  // 64 lines (4 KiB), 100 times: never more than a quantum of 4 KiB + 1 line is touched, 16 of them are gone over in 17 passes.
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", 4096, ObjectKind::mapped);
  const RegionId region = builder.serial("region");
  builder.nest(region, {512, 100}, {read(array, 0, {8, 0})});
  builder.repeat(region);
  SliceBench bench{one_node()};
  bench.workload = builder.build();
  bench.addresses = std::make_unique<AddressSpace>(bench.machine, *bench.workload, *bench.policy, Bytes{4096});
  bench.caches_answer(hits_only);
  EXPECT_EQ(bench.stretch(0, Stretch::to_the_end, Bytes{65 * 64}).second, 17u * 512);
}

TEST(Stretches, followEachOther) {
  SliceBench bench{one_node()};
  bench.caches_answer(hits_only);
  bench.stretch(0, 512, Bytes{1 << 20});
  EXPECT_THROW(bench.stretch(1024, Stretch::to_the_end, Bytes{1 << 20}), std::logic_error);
}

TEST(Overhead, ofRuntimeFaultsAndPageWalksAddsUp) {
  // 10 pages fault at 500 ns; the slice touches 40 KiB where 8 entries cover 32 KiB: 10 walks of 30 ns at the stores' 16 in flight.
  Machine machine = one_node();
  machine.tlb = {8, 0, Bytes{4096}, Time::nanoseconds(30)};
  SliceBench bench{machine};
  bench.options.system.fault.parallel = Time::nanoseconds(500);
  EXPECT_THAT(bench.time(hits_only, 0, Time::nanoseconds(1000)), about(1000e-9 + 10 * 500e-9 + 10.0 / machine.prefetched_lines * 30e-9));
  EXPECT_EQ(bench.bound_by(), "overhead");
  EXPECT_EQ(bench.model->counts().tlb_misses, 10u);
}

TEST(PageFaults, ofOneThreadTakeBothPartsAndTheZeroing) {
  // 10 pages x (500 ns + 200 ns) + 640 lines / 16 in flight x 100 ns = 7 us + 4 us; the controller writes 10 pages in 3.4 us meanwhile.
  SliceBench bench{one_node()};
  bench.options.system.fault = {Time::nanoseconds(500), Time::nanoseconds(200), 0, 1};
  EXPECT_THAT(bench.time(hits_only), about(10 * (500e-9 + 200e-9) + n / 16 * 100e-9));
  EXPECT_EQ(bench.bound_by(), "overhead");
  const EventCounts counts = bench.model->counts();
  EXPECT_EQ(counts.zeroed_bytes, 10u * 4096);
  EXPECT_THAT(counts.write_bytes, testing::ElementsAre(10u * 4096));
  EXPECT_EQ(counts.memory_lines, lines);
}

TEST(PageFaults, onFramesThatNoCacheHoldsTakeLonger) {
  // The last levels of the node's cores hold 4 of the 10 pages: 4 x 500 ns + 6 x 900 ns.
  Machine machine = one_node();
  machine.caches.back().size = Bytes{4 * 4096 * std::int64_t{machine.caches.back().cores_per_cache} / machine.cores()};
  SliceBench bench{machine};
  bench.options.system.fault.parallel = Time::nanoseconds(500);
  bench.options.system.fault.cold = Time::nanoseconds(900);
  EXPECT_THAT(bench.time(hits_only), about(4 * 500e-9 + 6 * 900e-9));
}

// What one core can exchange with memory at the most, per line of 64 B: reads / B_r, a written-back line with the read of it / B_w.
TEST(PageFaults, elsewhereZeroOverTheLinksAtTheControllersOfTheirHomes) {
  SliceBench bench{two_sockets(), "bind:1"};
  bench.options.system.fault = {Time{}, Time{}, 0, 1};
  EXPECT_THAT(bench.time(hits_only), about(n / 16 * 150e-9));
  const EventCounts counts = bench.model->counts();
  EXPECT_THAT(counts.write_bytes, testing::ElementsAre(0u, 10u * 4096));
  EXPECT_GE(counts.link_bytes[0], 10u * 4096);
}

TEST(PageFaults, ofManyThreadsQueueForTheLock) {
  // Each thread alone: 10 x (100 ns + 1 us) = 11 us. All four hold the lock for 4 x 10 x 1 us = 40 us, one after another.
  SliceBench bench{one_node(), "bind:0", 4};
  bench.options.system.fault = {Time::nanoseconds(100), Time::nanoseconds(1000), 0, 0};
  bench.caches_answer(hits_only);
  for (unsigned t = 0; t < 4; ++t) bench.start(t, t);
  EXPECT_THAT(bench.last_end(), about(4 * 10 * 1e-6));
  EXPECT_EQ(bench.bound_by(), "page faults");
}

// 1 us a fault, under a lock that travels ten times.
void take_a_lock_to_fault(SliceBench& bench) {
  bench.options.system.fault = {Time{}, Time::nanoseconds(1000), 10, 0};
  bench.caches_answer(hits_only);
}

TEST(PageFaults, waitForTheLockToTravelFromItsLastHolder) {
  // Threads 0 and 1 share a socket, 40 ns apart; thread 2 is a hop, 100 ns, from both. Each finds the lock with any of the three:
  // a fault of each takes 3 x 1 us and 10 x (40 + 100)/3 + 10 x (40 + 100)/3 + 10 x (100 + 100)/3 = 1600 ns, ten of each 46 us.
  SliceBench bench{two_sockets(), "bind:0", 3};
  take_a_lock_to_fault(bench);
  bench.start(0, 0);
  bench.start(1, 1);
  bench.start(2, 4);
  EXPECT_THAT(bench.last_end(), about(10 * (3 * 1e-6 + 1600e-9)));
}

TEST(PageFaults, ofOneThreadFindTheLockWhereItLeftIt) {
  // After the others have ended, the lock is handed to nobody: 10 x 1 us.
  SliceBench bench{two_sockets(), "bind:0", 3};
  take_a_lock_to_fault(bench);
  bench.start(0, 0);
  bench.start(1, 4);
  const Time others = bench.last_end();
  bench.start(2, 1);
  EXPECT_THAT(bench.last_end() - others, about(10e-6));
}

TEST(PageFaults, doNotHoldUpThreadsThatFindTheirPages) {
  SliceBench bench{one_node(), "bind:0", 2};
  bench.options.system.fault = {Time{}, Time::nanoseconds(1000), 0, 0};
  bench.caches_answer(hits_only);
  bench.start(1, 1);
  bench.last_end();
  bench.start(1, 1, Time::nanoseconds(50));  // its pages are there
  EXPECT_THAT(bench.last_end() - Time::from_seconds(10e-6), about(50e-9));
}

TEST(Translations, ofHugePagesReachFurther) {
  // 4 KiB: 10 walks, as above. In 2 MiB pages the 40 KiB are one: 1 walk.
  Machine machine = one_node();
  machine.tlb = {8, 4, Bytes{4096}, Time::nanoseconds(30)};
  SliceBench bench{machine};
  bench.addresses = std::make_unique<AddressSpace>(bench.machine, *bench.workload, *bench.policy, Bytes{2 << 20});
  bench.options.page = Bytes{2 << 20};
  bench.time(hits_only);
  EXPECT_EQ(bench.model->counts().tlb_misses, 1u);
  EXPECT_EQ(bench.addresses->page_faults(), 1u);
}

// A slice of 10 faults of 500 ns and nothing else: a fault every 500 ns, from 0 to 5 us.
struct FaultingBench : SliceBench {
  FaultingBench() : SliceBench{one_node()} {
    options.system.fault.parallel = Time::nanoseconds(500);
    options.system.mapping.excludes_faults = 1;
    caches_answer(hits_only);
  }
  void to(Time time) {
    std::vector<Completion> done;
    while (model->next_event() && *model->next_event() <= time) model->advance(*model->next_event(), done);
    model->advance(time, done);
  }
};

TEST(Writers, ofTheLockOfTheAddressSpaceHoldFaultsBack) {
  // At 1 us the writer waits for the fault under way, 250 ns on average, and holds the lock for 4 us: no fault begins for 4.25 us, the next
  // one would have after 0 to 500 ns: 4 us lost. Another writer, 4.25 us on, comes right behind the first: the slice has one fault of 500
  // ns in between, and loses the 2 us that this one holds the lock.
  FaultingBench bench;
  bench.start(0, 0);
  bench.to(Time::nanoseconds(1000));
  EXPECT_THAT(bench.model->hold_back_faults(Time::nanoseconds(1000), Time::nanoseconds(4000)), about(250e-9));
  bench.to(Time::nanoseconds(5250));
  EXPECT_THAT(bench.model->hold_back_faults(Time::nanoseconds(5250), Time::nanoseconds(2000)), about(500e-9));
  EXPECT_THAT(bench.last_end(), about(5e-6 + 4e-6 + 2e-6));
  EXPECT_EQ(bench.bound_by(), "page faults");
}

TEST(Writers, holdFaultsBackThatBeginMeanwhile) {
  // The lock is held from 0 to 2 us when the slice starts at 0: its first fault comes after 0 to 500 ns and waits for the rest.
  FaultingBench bench;
  EXPECT_EQ(bench.model->hold_back_faults(Time{}, Time::nanoseconds(2000)), Time{});
  bench.start(0, 0);
  EXPECT_THAT(bench.last_end(), about(5e-6 + 1.75e-6));
}

TEST(Writers, doNotHoldBackSlicesWithoutFaults) {
  FaultingBench bench;
  bench.addresses->touch(
      {bench.addresses->address(ObjectId{0}, ThreadId{0}), bench.addresses->address(ObjectId{0}, ThreadId{0}) + lines * 64}, true,
      {ThreadId{0}, CoreId{0}, NodeId{0}, Time{}});
  bench.start(0, 0, Time::nanoseconds(1000));
  EXPECT_EQ(bench.model->hold_back_faults(Time{}, Time::nanoseconds(2000)), Time{});
  EXPECT_THAT(bench.last_end(), about(1e-6));
}

}  // namespace
}  // namespace homenode::test
