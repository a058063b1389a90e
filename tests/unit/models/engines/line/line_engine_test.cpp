// One miss of each kind on idle machines with round numbers (tests/support/machines.hpp), then many at once: each duration stands as an
// equation. Faults and core time cost nothing unless a test says so; rows close at once, so that every read takes the idle latency, but
// where whole streams go through a controller.
#include "models/engines/line/line_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>

#include "models/placement/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"
#include "tests/unit/models/engines/line/line_bench.hpp"

namespace homenode::test {
namespace {

Time ns(double value) { return Time::nanoseconds(value); }

TEST(OneLine, fromLocalMemoryTakesTheLocalLatency) {
  LineBench bench{two_sockets()};
  const auto loop = bench.loop(AccessKind::write, {0});
  bench.build();
  EXPECT_EQ(bench.time(loop), ns(100));
  EXPECT_EQ(bench.engine->counts().latency_ns.at("local").at(100), 1U);
}

TEST(OneLine, fromAHopAwayTakesAHopMore) {
  LineBench bench{two_sockets(), "bind:1"};
  const auto loop = bench.loop(AccessKind::write, {0});
  bench.build();
  EXPECT_EQ(bench.time(loop), ns(100 + 50));
  EXPECT_EQ(bench.engine->counts().latency_ns.at("1 hop").at(150), 1U);
}

TEST(OneLine, acrossTheDiagonalTakesTwoHopsMore) {
  LineBench bench{four_socket_square(), "bind:3"};
  const auto loop = bench.loop(AccessKind::write, {0});
  bench.build();
  EXPECT_EQ(bench.time(loop), ns(100 + 2 * 50));
}

TEST(OneLine, heldByTheFirstLevelTakesNoTimeOfItsOwn) {
  LineBench bench{one_node()};
  const auto loop = bench.loop(AccessKind::write, {0});
  bench.build();
  bench.time(loop);
  EXPECT_EQ(bench.time(loop), Time{});
}

TEST(OneLine, heldByTheSecondOrThirdLevelTakesItsLatency) {
  LineBench bench{one_node()};
  const auto first = bench.loop(AccessKind::read, {0}, 0, 0, 1);
  std::vector<std::int64_t> many(1024), more(8192);  // 64 KiB: beyond the first level; 512 KiB: beyond the second
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = page + static_cast<std::int64_t>(i) * line;
  for (std::size_t i = 0; i < more.size(); ++i) more[i] = page + static_cast<std::int64_t>(i) * line;
  const auto fill_first = bench.loop(AccessKind::read, many, 0, 0, 1), fill_second = bench.loop(AccessKind::read, more, 0, 0, 1);
  bench.build();
  bench.time(first);
  bench.time(fill_first);
  EXPECT_EQ(bench.time(first), ns(5));
  bench.time(fill_second);
  EXPECT_EQ(bench.time(first), ns(20));
}

TEST(OneLine, thatAnotherCoreWroteTakesTheCoreToCoreLatency) {
  LineBench bench{two_sockets()};
  const auto write = bench.loop(AccessKind::write, {0}), read = bench.loop(AccessKind::read, {0});
  bench.build();
  bench.time(write, 0, 0);
  EXPECT_EQ(bench.time(read, 1, 1), ns(40));  // same socket
  bench.time(write, 0, 0);
  EXPECT_EQ(bench.time(read, 4, 4), ns(100));  // a hop away
  EXPECT_EQ(bench.engine->counts().transfer_lines, 2U);
}

TEST(OneLine, thatACoreOfTheSameLastLevelWroteTakesLessThanOfAnother) {
  LineBench bench{chiplets()};
  const auto write = bench.loop(AccessKind::write, {0}), read = bench.loop(AccessKind::read, {0});
  bench.build();
  bench.time(write, 0, 0);
  EXPECT_EQ(bench.time(read, 1, 1), ns(15));
  bench.time(write, 0, 0);
  EXPECT_EQ(bench.time(read, 2, 2), ns(40));
  EXPECT_EQ(bench.time(write, 0, 0), ns(40));  // the other last level gives it up
}

TEST(OneLine, behindALinkOfItsOwnTakesItsLatencyAndTheLink) {
  Machine machine = chiplets_and_far_memory();
  machine.nodes[1].link_read = Bandwidth::bytes_per_second(1e9);
  LineBench bench{machine, "bind:1"};
  std::vector<std::int64_t> many(100);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i) * page;  // no stream
  const auto one = bench.loop(AccessKind::write, {200 * page}), all = bench.loop(AccessKind::write, many);
  bench.build();
  EXPECT_EQ(bench.time(one), ns(250));
  // Ten in flight ask for a line each 25 ns; the link hands over one each 72 B / 1 GB/s = 72 ns.
  EXPECT_EQ(bench.time(all), ns(250 + 99 * 72));
  EXPECT_EQ(bench.engine->counts().link_bytes, (std::vector<std::uint64_t>{101 * 72, 101 * 8}));
}

TEST(OneLine, thatOthersShareTakesARoundOfOwnership) {
  LineBench bench{two_sockets()};
  const auto write = bench.loop(AccessKind::write, {0}), read = bench.loop(AccessKind::read, {0});
  bench.build();
  bench.time(write, 0, 0);
  bench.time(read, 4, 4);
  EXPECT_EQ(bench.time(write, 0, 0), ns(100));  // the other socket gives it up
  EXPECT_EQ(bench.time(write, 0, 0), Time{});   // now it is its own
  EXPECT_EQ(bench.engine->counts().upgrade_lines, 1U);
}

TEST(OneLine, thatOthersShareTakesTheRoundOfTheFurthest) {
  // Sockets 1 and 3 hold it, one and two hops away: both must give it up.
  LineBench bench{four_socket_square()};
  const auto write = bench.loop(AccessKind::write, {0}, 0, 0, 16), read = bench.loop(AccessKind::read, {0}, 0, 0, 16);
  bench.build();
  bench.time(write, 0, 0);
  bench.time(read, 4, 4);
  bench.time(read, 12, 12);
  EXPECT_EQ(bench.time(write, 0, 0), ns(2 * 100));
}

TEST(OneLine, thatNobodyChangedComesFromMemoryWithADirectoryAndFromTheOtherCacheWithSnoops) {
  for (const SnoopMode mode : {SnoopMode::directory, SnoopMode::source, SnoopMode::home}) {
    Machine machine = two_sockets();
    machine.snoop = mode;
    LineBench bench{machine};
    const auto write = bench.loop(AccessKind::write, {0}), read = bench.loop(AccessKind::read, {0});
    bench.build();
    bench.time(write, 0, 0);
    bench.time(read, 1, 1);  // clean in the socket's last level from here on
    bench.time(read, 4, 4);
    const auto counts = bench.engine->counts();
    // The first read found it dirty in its own socket, and dirty in the socket it stays.
    EXPECT_EQ(counts.latency_ns.at("transfer").at(40), 1U);
    EXPECT_EQ(counts.latency_ns.at("transfer").at(100), 1U);
  }
}

TEST(OneLine, thatIsStoredPastTheCachesIsTakenByTheControllerAtOnce) {
  // A read takes the local latency of 100 ns, of which the idle controller's activate and column are a part; a store leaves them out.
  LineBench bench{one_node()};
  const RegionId touch = bench.builder.serial("touch"), loop = bench.builder.serial("loop");
  bench.builder.nest(touch, {1}, {write(bench.array, 0, {page})});
  const ExecutionId first = bench.builder.repeat(touch);
  bench.builder.nest(loop, {8}, {streamed_write(bench.array, line, {8})});
  const ExecutionId second = bench.builder.repeat(loop);
  bench.build();
  bench.options.stores = StoreTreatment::nontemporal;
  bench.engine = std::make_unique<LineEngine>(*bench.workload, bench.machine, *bench.topology, bench.options);
  bench.time(first);
  const Time of_controller = bench.machine.dram.activate + bench.machine.dram.column;
  ASSERT_GT(of_controller, Time{});
  EXPECT_EQ(bench.time(second), ns(100) - of_controller);
}

// 504 doubles of 63 lines past the caches, on machines whose memory and links take them at once.
Time stored_past_the_caches(unsigned buffers, bool reads) {
  Machine machine = one_node();
  machine.controllers[0].read_only = machine.controllers[0].one_to_one = Bandwidth::bytes_per_second(1e12);
  machine.write_combining_buffers = buffers;
  LineBench bench{machine};
  const RegionId touch = bench.builder.serial("touch"), loop = bench.builder.serial("loop");
  bench.builder.nest(touch, {1}, {write(bench.array, 0, {page})});
  bench.builder.nest(touch, {1}, {write(bench.array, 4 * page, {page})});
  const ExecutionId first = bench.builder.repeat(touch);
  std::vector<Reference> references{streamed_write(bench.array, line, {8})};
  if (reads) references.push_back(read(bench.array, 4 * page + line, {8}));
  bench.builder.nest(loop, {504}, references);
  const ExecutionId second = bench.builder.repeat(loop);
  bench.build();
  bench.options.stores = StoreTreatment::nontemporal;
  bench.engine = std::make_unique<LineEngine>(*bench.workload, bench.machine, *bench.topology, bench.options);
  bench.time(first);
  return bench.time(second);
}

TEST(ManyLines, thatAreStoredPastTheCachesWaitInPlacesOfTheirOwn) {
  // 63 lines of 73 ns each, so many at a time: rounds of that length, and nothing but the last one is cut short.
  EXPECT_EQ(stored_past_the_caches(10, false), 7 * ns(73));
  EXPECT_EQ(stored_past_the_caches(0, false), 7 * ns(73));  // as many as miss buffers
  EXPECT_EQ(stored_past_the_caches(9, false), 7 * ns(73));
  EXPECT_EQ(stored_past_the_caches(3, false), 21 * ns(73));
  // 63 reads, 16 in flight, take 4 x 100 ns; beside them the stores take what they take alone, and the last read comes behind them.
  EXPECT_GE(stored_past_the_caches(10, true), 7 * ns(73));
  EXPECT_LE(stored_past_the_caches(10, true), 7 * ns(73) + ns(100));
}

TEST(ManyLines, eachOfAChaseWaitsForTheOneBefore) {
  LineBench bench{one_node()};
  std::vector<std::int64_t> offsets(1000);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * page;
  const auto chase = bench.loop(AccessKind::write, offsets, 1, 0, 1);
  bench.build();
  EXPECT_EQ(bench.time(chase), 1000 * ns(100));
}

TEST(ManyLines, inFlightTogetherFollowLittlesLaw) {
  // lines x latency / in flight; 10 in flight are 6.4 GB/s of 24.
  LineBench bench{one_node()};
  std::vector<std::int64_t> offsets(4000);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * 3 * line;
  const auto gather = bench.loop(AccessKind::write, offsets, 0, 0, 1);
  bench.build();
  const Time taken = bench.time(gather);
  double lines = 0, latencies = 0;
  const EventCounts counts = bench.engine->counts();
  for (const auto& [latency, count] : counts.latency_ns.at("local")) {
    lines += static_cast<double>(count);
    latencies += static_cast<double>(latency * static_cast<std::int64_t>(count));
  }
  EXPECT_EQ(lines, 4000);
  EXPECT_NEAR(taken.nanoseconds(), latencies / 10, 0.01 * latencies / 10);
}

TEST(ManyLines, haveAFractionalNumberInFlightOnAverage) {
  // Each needs the one three before: of a batch of 32 the deepest is the eleventh of its chain, so 32 / 11 = 2 + 10 / 11 may be in flight:
  // three for ten lines of eleven, two for the other one. So eleven lines take four rounds of 100 ns, 3 + 3 + 3 + 2; 960 are 87 x 11 + 3.
  LineBench bench{one_node()};
  std::vector<std::int64_t> offsets(960);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * page;
  const auto chains = bench.loop(AccessKind::write, offsets, 3, 0, 1);
  bench.build();
  EXPECT_EQ(bench.time(chains), (87 * 4 + 1) * ns(100));
}

TEST(ManyLines, ofACacheComeAsFastAsItDeliversThemToACore) {
  // 64 KiB in the second level, twice the first: each of 1024 lines takes 64 B / 6.4 GB/s = 10 ns, one after the other.
  Machine machine = one_node();
  machine.caches[1].bandwidth_per_core = Bandwidth::bytes_per_second(6.4e9);
  LineBench bench{machine};
  std::vector<std::int64_t> offsets(1024);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * line;
  const auto stream = bench.loop(AccessKind::read, offsets, 0, 0, 1);
  bench.build();
  bench.time(stream);
  EXPECT_EQ(bench.time(stream), 1024 * ns(10));
}

TEST(ManyLines, ofAllCoresSaturateTheController) {
  // 4 x 16 lines in flight could draw 41 GB/s: the controller gives 24 for reads, and 16 for a line read and written back.
  constexpr std::int64_t each = 8 << 20;
  for (const bool writes : {false, true}) {
    LineBench bench{one_node(), "bind:0", 4 * each, false};
    const RegionId touch = bench.builder.loop("touch", 4), again = bench.builder.loop("again", 4);
    bench.builder.nest(touch, {each / page}, {write(bench.array, 0, {page}, each)});
    const ExecutionId first = bench.builder.repeat(touch);
    bench.builder.nest(again, {each / line}, {writes ? write(bench.array, 0, {line}, each) : read(bench.array, 0, {line}, each)});
    const ExecutionId second = bench.builder.repeat(again, 2);
    bench.build();
    bench.options.system.fault = {};
    for (const ExecutionId execution : {first, second}) {
      for (unsigned t = 0; t < 4; ++t) bench.start(execution, t, t);
      bench.finish();
    }
    const auto before = bench.engine->counts();
    for (unsigned t = 0; t < 4; ++t) bench.start(ExecutionId{second.index() + 1}, t, t);
    const double seconds = bench.finish().seconds();
    const auto after = bench.engine->counts();
    const double bytes = static_cast<double>(after.read_bytes[0] + after.write_bytes[0] - before.read_bytes[0] - before.write_bytes[0]);
    const double expected = bytes / (writes ? 16e9 : 24e9);
    EXPECT_NEAR(seconds, expected, 0.01 * expected) << (writes ? "writes" : "reads");
    EXPECT_EQ(bench.engine->bottlenecks().at(1).front().resource, "controller 0");
  }
}

TEST(ManyLines, fromTheOtherSocketSaturateTheLink) {
  // 72 B a line on a link of 12 GB/s: 6 ns a line. 4 x 16 lines in flight could draw a line every 2.3 ns.
  constexpr std::int64_t each = 8 << 20;
  LineBench bench{two_sockets(), "bind:1", 4 * each, false};
  const RegionId touch = bench.builder.loop("touch", 4), again = bench.builder.loop("again", 4);
  bench.builder.nest(touch, {each / page}, {write(bench.array, 0, {page}, each)});
  const ExecutionId first = bench.builder.repeat(touch);
  bench.builder.nest(again, {each / line}, {read(bench.array, 0, {line}, each)});
  const ExecutionId second = bench.builder.repeat(again);
  bench.build();
  for (unsigned t = 0; t < 4; ++t) bench.start(first, t, t);
  bench.finish();
  const auto before = bench.engine->counts();
  for (unsigned t = 0; t < 4; ++t) bench.start(second, t, t);
  const double seconds = bench.finish().seconds();
  const double lines = static_cast<double>(bench.engine->counts().read_bytes[1] - before.read_bytes[1]) / 64;
  EXPECT_NEAR(seconds, lines * 6e-9, 0.01 * lines * 6e-9);
  EXPECT_EQ(bench.engine->bottlenecks().at(1).front().resource, "link 1->0");
}

TEST(ManyLines, thatAreReadAndStoredPastTheCachesSendWhatBothSend) {
  // 504 doubles of a node a hop away: the messages of the reads and those of the non-temporal stores, on each way.
  const auto sent = [](bool reads, bool stores) {
    LineBench bench{two_sockets(), "bind:1"};
    const RegionId touch = bench.builder.serial("touch"), loop = bench.builder.serial("loop");
    bench.builder.nest(touch, {1}, {write(bench.array, 0, {page})});
    const ExecutionId first = bench.builder.repeat(touch);
    std::vector<Reference> references;
    if (reads) references.push_back(read(bench.array, line, {8}));
    if (stores) references.push_back(streamed_write(bench.array, line, {8}));
    bench.builder.nest(loop, {504}, references);
    const ExecutionId second = bench.builder.repeat(loop);
    bench.build();
    bench.options.stores = StoreTreatment::nontemporal;
    bench.engine = std::make_unique<LineEngine>(*bench.workload, bench.machine, *bench.topology, bench.options);
    bench.time(first);
    const std::vector<std::uint64_t> before = bench.engine->counts().link_bytes;
    bench.time(second);
    std::vector<std::uint64_t> bytes = bench.engine->counts().link_bytes;
    for (std::size_t way = 0; way < bytes.size(); ++way) bytes[way] -= before[way];
    return bytes;
  };
  const auto read = sent(true, false), stored = sent(false, true), both = sent(true, true);
  ASSERT_EQ(both.size(), 2U);
  for (const std::size_t way : {0U, 1U}) {
    EXPECT_GT(stored[way], 0U);
    EXPECT_EQ(both[way], read[way] + stored[way]);
  }
}

TEST(ManyLines, areHeldUpByWhatTheyWaitedForLongest) {
  // 200 lines over a link of 1 GB/s, 72 ns each, then 100 from the own controller, 64 ns each; ten in flight wait for nine others: 200 x 9
  // x 72 against 100 x 9 x 64.
  Machine machine = two_sockets();
  machine.links[0].bandwidth = Bandwidth::bytes_per_second(1e9);
  machine.controllers[0].read_only = Bandwidth::bytes_per_second(1e9);
  machine.controllers[0].one_to_one = Bandwidth::bytes_per_second(0.75e9);
  LineBench bench{machine, "interleave"};
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < 300; ++i) offsets.push_back(i < 200 ? (2 * i + 1) * page : 2 * (i - 200) * page);
  const auto lines = bench.loop(AccessKind::write, offsets, 0, 0, 1);
  bench.build();
  bench.time(lines);
  ASSERT_EQ(bench.addresses->home_of(bench.addresses->address(bench.array, ThreadId{0}) + page), NodeId{1});
  EXPECT_EQ(bench.engine->bottlenecks().at(0).front().resource, "link 1->0");
}

TEST(ManyLines, overlapWithComputingUnlessTheCoreBlocks) {
  // 1000 lines of a chase: 100 us of memory, and computing of as long, 2 instructions a nanosecond.
  for (const Overlap overlap : {Overlap::full, Overlap::none}) {
    Machine machine = one_node();
    machine.overlap = overlap;
    machine.core.issue = 1;
    LineBench bench{machine};
    std::vector<std::int64_t> offsets(1000);
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * page;
    const RegionId region = bench.builder.loop("loop", 1);
    bench.builder.stream(region, AccessKind::write, bench.array, offsets, 1);
    WorkCounts counts;
    counts.instructions = 200000;
    bench.builder.work(region, counts);
    const ExecutionId chase = bench.builder.repeat(region);
    bench.build();
    const double expected = overlap == Overlap::full ? 100e-6 : 200e-6;
    EXPECT_NEAR(bench.time(chase).seconds(), expected, 0.002 * expected);
  }
}

TEST(PageFaults, holdTheirOwnThreadUpOneByOne) {
  // A chase over ten new pages, 500 ns of fault each. What is in flight arrives meanwhile: only the last line's 100 ns come on top,
  // whatever the thread's number.
  LineBench bench{two_sockets(), "first-touch"};
  std::vector<std::int64_t> offsets(10);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * page;
  const auto chase = bench.loop(AccessKind::write, offsets, 1, 10 * page);
  bench.build();
  bench.options.system.fault = {ns(500), Time{}, 0, 0};
  bench.engine = std::make_unique<LineEngine>(*bench.workload, bench.machine, *bench.topology, bench.options);
  for (const unsigned thread : {0U, 1U, 4U, 5U}) EXPECT_EQ(bench.time(chase, thread, thread), 10 * ns(500) + ns(100)) << thread;
}

TEST(ExchangeOfOneCore, spacesTheLinesFromMemory) {
  // 64 independent loads of lines 100 ns away, 1 ns of the core's bandwidth a line in place of none: the last is there 64 x 8 ns after the
  // first left at 8 GB/s.
  Machine machine = one_node();
  machine.miss_buffers = 64;
  machine.controllers[0].read_only = machine.controllers[0].one_to_one = Bandwidth::bytes_per_second(1e12);
  machine.read_bandwidth = Bandwidth::bytes_per_second(8e9);
  std::vector<std::int64_t> offsets(64);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * page;
  LineBench bench{machine};
  const auto gather = bench.loop(AccessKind::read, offsets);
  bench.build();
  EXPECT_EQ(bench.time(gather), ns(64 * 8));
}

TEST(PageFaults, fetchTheLockOnlyFromSomebodyWhoHoldsIt) {
  // 100 ns under the lock each, then the line from memory, 100 ns at home and 150 a hop away. Core 4 comes while core 0 has the lock, so
  // that two lines of it travel a hop: 100 + (100 + 2 x 100) + 150. Later the lock is free: whoever comes pays its own 100 ns alone.
  LineBench bench{two_sockets()};
  const auto write = bench.loop(AccessKind::write, {0}, 0, page);
  bench.build();
  bench.options.system.fault = {Time{}, ns(100), 2, 0};
  bench.engine = std::make_unique<LineEngine>(*bench.workload, bench.machine, *bench.topology, bench.options);
  bench.start(write, 0, 0);
  bench.start(write, 4, 4);
  EXPECT_EQ(bench.finish(), ns(100 + 300 + 150));
  EXPECT_EQ(bench.time(write, 1, 1), ns(100 + 100));
}

TEST(LineEngine, refusesMachinesWhoseInnerLevelsAreShared) {
  Machine machine = one_node();
  machine.caches[1].cores_per_cache = 2;
  LineBench bench{machine};
  bench.loop(AccessKind::read, {0});
  EXPECT_THROW(bench.build(), UsageError);
}

// Thread 0 computes for 100 us before it asks the other socket for a line. Thread 1, over there, asks this socket at once; its data take
// the direction of the link that thread 0's request will take, and find it idle.
TEST(ManyThreads, whoComputesLongHoldsUpNobodyMeanwhile) {
  LineBench bench{two_sockets(), "interleave"};
  const RegionId slow = bench.builder.loop("slow", 1), quick = bench.builder.loop("quick", 2);
  bench.builder.stream(slow, AccessKind::write, bench.array, {page}, 0, 0);
  WorkCounts counts;
  counts.integer = 3 * 2e9 * 100e-6;
  bench.builder.work(slow, counts);
  const ExecutionId first = bench.builder.repeat(slow);
  bench.builder.stream(quick, AccessKind::write, bench.array, {page}, 0, page);  // of thread 1: page 2
  const ExecutionId second = bench.builder.repeat(quick);
  bench.build();
  bench.start(first, 0, 0);
  bench.start(second, 1, 4);
  std::map<std::size_t, Time> ends;
  std::vector<Completion> done;
  while (const auto next = bench.engine->next_event()) {
    done.clear();
    bench.engine->advance(*next, done);
    for (const Completion& completion : done) ends[completion.thread.index()] = completion.time;
  }
  EXPECT_EQ(ends[1], Time::nanoseconds(100 + 50));
  EXPECT_EQ(ends[0], Time::nanoseconds(100'000 + 100 + 50));
}

}  // namespace
}  // namespace homenode::test
