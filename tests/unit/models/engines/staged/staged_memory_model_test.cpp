// One slice at a time on idle machines with round numbers (tests/support/machines.hpp); what the caches answer is scripted, so that
// each duration stands as an equation. Unless a test says so, faults, core time and page walks cost nothing.
#include "models/engines/staged/staged_memory_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "models/engines/engines.hpp"
#include "models/engines/parts/controller_load.hpp"
#include "models/engines/staged/flow_sharing.hpp"
#include "models/machines/machine_file.hpp"
#include "models/placement/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/source_folder.hpp"

namespace homenode::test {
namespace {

using Script = std::function<void(const LineRange& touched, CacheOutcome&)>;

class ScriptedCaches final : public CacheModel {
public:
  explicit ScriptedCaches(Script script) : script_{std::move(script)} {}
  void access(CoreId, std::span<const LineTouch> group, CacheOutcome& outcome) override {
    for (const LineTouch& touch : group) script_(touch.lines, outcome);
  }
  void drop(LineRange, bool, CacheOutcome&) override {}
  void flush(CacheOutcome&) override {}
  std::unique_ptr<CacheModel> clone() const override { return std::make_unique<ScriptedCaches>(*this); }

private:
  Script script_;
};

constexpr std::uint64_t lines = 64 * 10;  // whole pages, and less than a group of touches

Script reads(float parallelism) {
  return [parallelism](const LineRange& touched, CacheOutcome& outcome) { outcome.reads.push_back({touched, parallelism}); };
}
Script transfers(CoreId owner) {
  return [owner](const LineRange& touched, CacheOutcome& outcome) { outcome.transfers.push_back({touched, owner, 1}); };
}
const Script hits_only = [](const LineRange&, CacheOutcome&) {};

// Threads that each write their own `lines` lines once; the pages lie where the placement says.
struct Bench {
  explicit Bench(Machine described, std::string_view placement = "bind:0", unsigned threads = 1, WorkCounts counts = {})
      : machine{std::move(described)}, topology{machine}, policy{page_placements().make(placement)} {
    WorkloadBuilder builder;
    const ObjectId array = builder.object("array", threads * lines * 64, ObjectKind::mapped);
    const RegionId region = builder.loop("loop", threads);
    builder.nest(region, {lines * 8}, {write(array, 0, {8}, lines * 64)});
    builder.work(region, counts);
    builder.repeat(region);
    workload = builder.build();
    policy->prepare(nullptr, machine);
    addresses = std::make_unique<AddressSpace>(machine, *workload, *policy, Bytes{4096});
    options.system.fault.parallel = Time{};
    options.threads = threads;
  }

  void caches_answer(Script script) {
    model = std::make_unique<StagedMemoryModel>(*workload, machine, topology, std::make_unique<ScriptedCaches>(std::move(script)),
                                                std::make_unique<FlowSharing>(shared_resources(machine, topology)), options);
  }
  void start(unsigned thread, unsigned core, Time overhead = {}) {
    const CoreId on{core};
    model->start({{ThreadId{thread}, on, machine.node_of(on), Time{}}, {ExecutionId{0}, thread, thread + 1}, overhead}, *addresses);
  }
  Time last_end() {
    Time last;
    std::vector<Completion> done;
    while (const auto next = model->next_event()) {
      done.clear();
      model->advance(*next, done);
      for (const Completion& completion : done) last = std::max(last, completion.time);
    }
    return last;
  }
  // Thread 0's only iteration up to access number `last` at most; returns what it takes and where it ends.
  std::pair<Time, std::uint64_t> stretch(std::uint64_t first, std::uint64_t last, Bytes quantum) {
    const Time begin = now;
    const Work work{{ThreadId{0}, CoreId{0}, NodeId{0}, now}, {ExecutionId{0}, 0, 1}, Time{}, Stretch{first, last, quantum}};
    const std::uint64_t reached = model->start(work, *addresses).reached;
    now = last_end();
    return {now - begin, reached};
  }
  // One slice by thread 0 on `core`.
  Time time(const Script& script, unsigned core = 0, Time overhead = {}) {
    caches_answer(script);
    start(0, core, overhead);
    return last_end();
  }
  std::string bound_by() const { return model->bottlenecks().at(0).front().resource; }

  Machine machine;
  Topology topology;
  std::unique_ptr<PagePlacement> policy;
  std::shared_ptr<Workload> workload;
  std::unique_ptr<AddressSpace> addresses;
  EngineOptions options;
  std::unique_ptr<StagedMemoryModel> model;
  Time now;
};

testing::Matcher<Time> about(double seconds) {  // one picosecond of rounding at each end
  return testing::AllOf(testing::Ge(Time::from_seconds(seconds) - Time::picoseconds(2)),
                        testing::Le(Time::from_seconds(seconds) + Time::picoseconds(2)));
}
constexpr double n = lines;

TEST(OneMiss, fromLocalMemoryTakesTheLocalLatency) {
  Bench bench{two_sockets()};
  EXPECT_THAT(bench.time(reads(1)), about(n * 100e-9));
  EXPECT_EQ(bench.bound_by(), "latency");
}

TEST(OneMiss, fromAHopAwayTakesAHopMore) {
  Bench bench{two_sockets(), "bind:1"};
  EXPECT_THAT(bench.time(reads(1)), about(n * (100e-9 + 50e-9)));
}

TEST(OneMiss, acrossTheDiagonalTakesTwoHopsMore) {
  Bench bench{four_socket_square(), "bind:3"};
  EXPECT_THAT(bench.time(reads(1)), about(n * (100e-9 + 2 * 50e-9)));
}

TEST(OneMiss, inFlightWithOthersCostsItsPart) {
  // Little's law: lines / parallelism x latency. 64 B / 24 GB/s a line = 27 % use: no extra latency below half use.
  Bench bench{one_node()};
  EXPECT_THAT(bench.time(reads(10)), about(n / 10 * 100e-9));
}

TEST(OneMiss, ofALineThatAnotherCoreWroteTakesTheCoreToCoreLatency) {
  Bench bench{two_sockets()};
  EXPECT_THAT(bench.time(transfers(CoreId{1})), about(n * 40e-9));   // same socket
  EXPECT_THAT(bench.time(transfers(CoreId{4})), about(n * 100e-9));  // the other
  const EventCounts counts = bench.model->counts();
  EXPECT_EQ(counts.transfer_lines, lines);
  EXPECT_EQ(counts.memory_lines, 0u);
  // Home and reader are socket 0, the owner is socket 1: a forward out, the data back.
  EXPECT_THAT(counts.link_bytes, testing::ElementsAre(lines * 8, lines * 72));
}

TEST(OneMiss, ofALineThatACoreAcrossTheDiagonalWroteTakesTwoHops) {
  Bench bench{four_socket_square()};
  EXPECT_THAT(bench.time(transfers(CoreId{12})), about(n * 2 * 100e-9));
}

TEST(OneMiss, servedByTheThirdLevelTakesItsLatency) {
  Bench bench{one_node()};
  const Time end = bench.time([](const LineRange& touched, CacheOutcome& outcome) {
    outcome.hit_lines[2] += touched.size();
    outcome.hit_weight[2] += static_cast<double>(touched.size());
  });
  EXPECT_THAT(end, about(n * 20e-9));
  EXPECT_EQ(bench.bound_by(), "cache");
}

TEST(OneMiss, servedByACacheIsBoundByWhatTheCacheDeliversToOneCore) {
  // 16 in flight at 20 ns would be 1.25 ns a line; at 16 GB/s a line takes 4 ns.
  Machine machine = one_node();
  machine.caches[2].bandwidth_per_core = Bandwidth::bytes_per_second(16e9);
  Bench bench{machine};
  const Time end = bench.time([](const LineRange& touched, CacheOutcome& outcome) {
    outcome.hit_lines[2] += touched.size();
    outcome.hit_weight[2] += static_cast<double>(touched.size()) / 16;
  });
  EXPECT_THAT(end, about(n * 4e-9));
}

TEST(Bandwidth, readsTakeBytesOverReadBandwidth) {
  Bench bench{one_node()};
  EXPECT_THAT(bench.time(reads(100)), about(n * 64 / 24e9));
  EXPECT_EQ(bench.bound_by(), "controller 0");
}

TEST(Bandwidth, writesAloneTakeTheTimeThatMakesTheMixTrue) {
  // 1/B_11 = (1/B_r + 1/B_w)/2: 1/16 = (1/24 + 1/12)/2, so B_w = 12 GB/s.
  Bench bench{one_node()};
  EXPECT_THAT(bench.time([](const LineRange& touched, CacheOutcome& outcome) { outcome.writebacks.push_back(touched); }),
              about(n * 64 / 12e9));
  EXPECT_THAT(bench.time([](const LineRange& touched, CacheOutcome& outcome) { outcome.non_temporal_writes.push_back(touched); }),
              about(n * 64 / 12e9));
}

TEST(Bandwidth, halfReadsHalfWritesGiveTheOneToOneBandwidth) {
  Bench bench{one_node()};
  const Time end = bench.time([](const LineRange& touched, CacheOutcome& outcome) {
    outcome.reads.push_back({touched, 100});
    outcome.writebacks.push_back(touched);
  });
  EXPECT_THAT(end, about(2 * n * 64 / 16e9));
}

TEST(Bandwidth, remoteReadsAreBoundByTheDataMessagesOfTheLink) {
  Bench bench{two_sockets(), "bind:1"};
  EXPECT_THAT(bench.time(reads(100)), about(n * 72 / 12e9));
  EXPECT_EQ(bench.bound_by(), "link 1->0");
  EXPECT_THAT(bench.model->counts().link_bytes, testing::ElementsAre(lines * 8, lines * 72));
}

TEST(Bandwidth, aControllerIsSharedByAllItsReaders) {
  // Four threads read n lines each from node 0: 4 n x 64 / 24 GB/s, and no one is named but the controller.
  Bench bench{one_node(), "bind:0", 4};
  bench.caches_answer(reads(100));
  for (unsigned t = 0; t < 4; ++t) bench.start(t, t);
  EXPECT_THAT(bench.last_end(), about(4 * n * 64 / 24e9));
  EXPECT_EQ(bench.model->bottlenecks().at(0).size(), 1u);
  EXPECT_EQ(bench.bound_by(), "controller 0");
}

TEST(Bandwidth, interleavedReadsWithSourceSnoopsAreBoundByMessages) {
  // Two sockets, each reads n lines, half of them from the other. Each direction of the link carries
  //   data of the reads that cross:  72 n/2      requests of those the other way:  8 n/2
  //   snoops of every read the other way: 8 n    answers to every read's snoop:    8 n
  // = 56 n bytes at 12 GB/s = 4.67 ns a line, against 64 / 24 GB/s = 2.67 ns of the controllers: use 1.75, a loss of 43 %.
  // Pages alternate: a slice asks its own controller for 32 n / 24 = 1.33 n, then the link for (36 + 4) n / 12 = 3.33 n. Of 44 n / 12
  // on the link in all, that is 14/11: two threads share it as 1 + (14/11 - 1) / 4.
  Machine machine = two_sockets(1);
  machine.snoop = SnoopMode::source;
  Bench bench{machine, "interleave", 2};
  bench.caches_answer(reads(100));
  bench.start(0, 0);
  bench.start(1, 1);
  EXPECT_THAT(bench.last_end(), about((1 + 3.0 / 44) * n * 56 / 12e9));
  EXPECT_THAT(bench.model->counts().link_bytes, testing::ElementsAre(lines * 56, lines * 56));
  EXPECT_THAT(bench.bound_by(), testing::StartsWith("link"));
  // Single lines at random: each of a thread's 100 misses in flight is on a page of its own.
  machine.miss_buffers = 100;
  Bench scattered{machine, "interleave", 2};
  scattered.caches_answer(reads(100));
  scattered.start(0, 0);
  scattered.start(1, 1);
  EXPECT_THAT(scattered.last_end(), about((1 + 3.0 / 11 / 400) * n * 56 / 12e9));
}

TEST(Bandwidth, interleavingOnTheX5550IsBoundByTheLinkAsComputedByHand) {
  // Eight threads copy with non-temporal stores: n lines read and n written each, N = 4 n a socket. Each direction of the link carries
  //   reads:  72 N/2 data, 8 N/2 requests, 8 N snoops, 8 N answers           = 56 N bytes
  //   writes: 72 N/2 data, 8 N/2 completions, 8 N snoops, 8 N answers        = 56 N bytes
  // at 12.8 GB/s, against 2 x 64 N bytes at the 1:1 bandwidth of a controller, 18.3 GB/s: 8.75 against 6.99 ns a line, use 1.25.
  // A use of about 1.2, a loss of about 17 %, is the likely cause of C61 (S4); raw payload alone (64 B) would be 0.71 and bind nowhere.
  const Machine machine = load_machine(test::source_folder() / "models/machines/xeon-x5550-2s.toml");
  const Script copy = [](const LineRange& touched, CacheOutcome& outcome) {
    outcome.reads.push_back({touched, 1000});
    outcome.non_temporal_writes.push_back(touched);
  };
  const double link = 4 * n * 112 / machine.links[0].bandwidth.bytes_per_second();
  const double controller = 4 * n * 128 / machine.controllers[0].one_to_one.bytes_per_second();
  const auto time = [&](const char* placement) {
    Bench bench{machine, placement, 8};
    bench.caches_answer(copy);
    for (unsigned t = 0; t < 8; ++t) bench.start(t, t);
    return bench.last_end().seconds();
  };
  // A slice is on its own node for half of its share of a controller's time, and on the link for 48 of the 56 bytes a line that a direction
  // carries for it; eight threads. A quarter of the threads' bytes: those of one of four.
  const double visits = (controller / 4 / 2 + link / 4 / 2 * 48 / 56) / (link / 4 / 2);
  EXPECT_NEAR(time("interleave"), link * (1 + (visits - 1) / 16), 1e-3 * link);
  EXPECT_NEAR(time("first-touch"), controller, 1e-3 * controller);
  const double loss = 1 - controller / link;
  EXPECT_GT(loss, 0.15);
  EXPECT_LT(loss, 0.22);
}

TEST(Bandwidth, oneThreadMeetsHalfOfTheOtherNodesTimeWherePagesAlternate) {
  // U = 72 n/2 / 12 GB/s = 3 n on the link, D = 64 n/2 / 24 + 3 n: with one customer 1 + (D / U - 1) / 2 times U, whatever else the team
  // could do: the loop has one iteration.
  Bench bench{two_sockets(), "interleave"};
  bench.options.threads = 8;
  EXPECT_THAT(bench.time(reads(100)), about(n * 3e-9 * (1 + (64. / 2 / 24 / 3) / 2)));
  Bench local{two_sockets()};
  EXPECT_THAT(local.time(reads(100)), about(n * 64 / 24e9));
}

TEST(LatencyUnderLoad, isTheEquilibriumOfTheCurve) {
  // 30 lines in flight at 100 ns would use r0 = 30 x 64 B / 100 ns / 24 GB/s = 0.8. From half use on, extra(r) = 200 (r - 0.5) ns:
  // r (100 + 200 (r - 0.5)) = 100 r0, so r = sqrt(r0 / 2) = 0.6325 and extra = 26.49 ns.
  Bench bench{one_node()};
  const double r = std::sqrt(0.8 / 2), extra = 200e-9 * (r - 0.5);
  EXPECT_NEAR(bench.time(reads(30)).seconds(), n / 30 * (100e-9 + extra), n / 30 * 1e-12);
}

TEST(LatencyUnderLoad, isTheSameForThreadsThatMakeTheSameLoadTogether) {
  // Three threads with 10 lines in flight each: the third meets the load of all, as one thread with 30 does above.
  Bench bench{one_node(), "bind:0", 3};
  bench.caches_answer(reads(10));
  for (unsigned t = 0; t < 3; ++t) bench.start(t, t);
  const double r = std::sqrt(0.8 / 2), extra = 200e-9 * (r - 0.5);
  EXPECT_NEAR(bench.last_end().seconds(), n / 10 * (100e-9 + extra), n / 10 * 2e-12);
}

TEST(LatencyUnderLoad, isNeverBelowTheUnloadedOne) {
  for (const float parallelism : {1.0f, 5.0f, 20.0f, 40.0f, 80.0f}) {
    Bench bench{two_sockets(), "interleave"};
    bench.time(reads(parallelism));
    for (const auto& [source, latencies] : bench.model->counts().latency_ns)
      for (const auto& [nanoseconds, count] : latencies) EXPECT_GE(nanoseconds, source == "local" ? 100 : 150) << source;
  }
}

TEST(CoreTime, andMemoryTimeOverlapWhenTheMachineSaysSo) {
  // 100 us of integer instructions at 3 a cycle of 2 GHz beside 64 us of misses: the greater of both, or their sum.
  WorkCounts counts;
  counts.integer = 3 * 2e9 * 100e-6;  // 100 us
  const double memory = n * 100e-9;   // 64 us
  Bench full{one_node(), "bind:0", 1, counts};
  EXPECT_THAT(full.time(reads(1)), about(100e-6));
  EXPECT_EQ(full.bound_by(), "core");
  Machine blocking = one_node();
  blocking.overlap = Overlap::none;
  Bench none{blocking, "bind:0", 1, counts};
  EXPECT_THAT(none.time(reads(1)), about(100e-6 + memory));
}

TEST(Stretches, shareTheIterationsCoreTimeByTheirAccesses) {
  // 8 accesses a line, 100 us of core time an iteration: access 0 to 512 of n * 8 takes its part, the end the rest.
  WorkCounts counts;
  counts.integer = 3 * 2e9 * 100e-6;
  Bench bench{one_node(), "bind:0", 1, counts};
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
  Bench bench{machine};
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
  Bench bench{one_node()};
  bench.workload = builder.build();
  bench.addresses = std::make_unique<AddressSpace>(bench.machine, *bench.workload, *bench.policy, Bytes{4096});
  bench.caches_answer(hits_only);
  EXPECT_EQ(bench.stretch(0, Stretch::to_the_end, Bytes{65 * 64}).second, 17u * 512);
}

TEST(Stretches, followEachOther) {
  Bench bench{one_node()};
  bench.caches_answer(hits_only);
  bench.stretch(0, 512, Bytes{1 << 20});
  EXPECT_THROW(bench.stretch(1024, Stretch::to_the_end, Bytes{1 << 20}), std::logic_error);
}

TEST(Overhead, ofRuntimeFaultsAndPageWalksAddsUp) {
  // 10 pages fault at 500 ns; the slice touches 40 KiB where 8 entries cover 32 KiB: 10 walks of 30 ns at the stores' 16 in flight.
  Machine machine = one_node();
  machine.tlb = {8, 0, Bytes{4096}, Time::nanoseconds(30)};
  Bench bench{machine};
  bench.options.system.fault.parallel = Time::nanoseconds(500);
  EXPECT_THAT(bench.time(hits_only, 0, Time::nanoseconds(1000)), about(1000e-9 + 10 * 500e-9 + 10.0 / machine.prefetched_lines * 30e-9));
  EXPECT_EQ(bench.bound_by(), "overhead");
  EXPECT_EQ(bench.model->counts().tlb_misses, 10u);
}

TEST(PageFaults, ofOneThreadTakeBothPartsAndTheZeroing) {
  // 10 pages x (500 ns + 200 ns) + 640 lines / 16 in flight x 100 ns = 7 us + 4 us; the controller writes 10 pages in 3.4 us meanwhile.
  Bench bench{one_node()};
  bench.options.system.fault = {Time::nanoseconds(500), Time::nanoseconds(200), 0, 1};
  EXPECT_THAT(bench.time(hits_only), about(10 * (500e-9 + 200e-9) + n / 16 * 100e-9));
  EXPECT_EQ(bench.bound_by(), "overhead");
  const EventCounts counts = bench.model->counts();
  EXPECT_EQ(counts.zeroed_bytes, 10u * 4096);
  EXPECT_THAT(counts.write_bytes, testing::ElementsAre(10u * 4096));
  EXPECT_EQ(counts.memory_lines, lines);
}

// What one core can exchange with memory at the most, per line of 64 B: reads / B_r, a written-back line with the read of it / B_w.
TEST(ExchangeOfOneCore, boundsManyLinesInFlight) {
  Machine machine = one_node();
  machine.prefetched_lines = 1000;  // 640 x 100 ns / 1000 by latency, the controller 640 x 64 B / 20 GB/s and less
  machine.controllers[0].read_only = machine.controllers[0].one_to_one = Bandwidth::bytes_per_second(1e12);
  machine.read_bandwidth = Bandwidth::bytes_per_second(10e9);
  machine.write_bandwidth = Bandwidth::bytes_per_second(16e9);
  machine.nontemporal_bandwidth = Bandwidth::bytes_per_second(8e9);
  EXPECT_THAT(Bench{machine}.time(reads(1000)), about(n * 64 / 10e9));
  // stores: each line is read for ownership and written back
  const Script stores = [](const LineRange& touched, CacheOutcome& outcome) {
    outcome.reads.push_back({touched, 1000});
    outcome.writebacks.push_back(touched);
  };
  EXPECT_THAT(Bench{machine}.time(stores), about(n * 2 * 64 / 16e9));
  const Script past_the_caches = [](const LineRange& touched, CacheOutcome& outcome) { outcome.non_temporal_writes.push_back(touched); };
  EXPECT_THAT(Bench{machine}.time(past_the_caches), about(n * 64 / 8e9));
}

TEST(ExchangeOfOneCore, boundsNothingThatLatencyBinds) {
  Machine machine = one_node();
  machine.read_bandwidth = Bandwidth::bytes_per_second(10e9);
  EXPECT_THAT(Bench{machine}.time(reads(1)), about(n * 100e-9));
}

TEST(PageFaults, elsewhereZeroOverTheLinksAtTheControllersOfTheirHomes) {
  Bench bench{two_sockets(), "bind:1"};
  bench.options.system.fault = {Time{}, Time{}, 0, 1};
  EXPECT_THAT(bench.time(hits_only), about(n / 16 * 150e-9));
  const EventCounts counts = bench.model->counts();
  EXPECT_THAT(counts.write_bytes, testing::ElementsAre(0u, 10u * 4096));
  EXPECT_GE(counts.link_bytes[0], 10u * 4096);
}

TEST(PageFaults, ofManyThreadsQueueForTheLock) {
  // Each thread alone: 10 x (100 ns + 1 us) = 11 us. All four hold the lock for 4 x 10 x 1 us = 40 us, one after another.
  Bench bench{one_node(), "bind:0", 4};
  bench.options.system.fault = {Time::nanoseconds(100), Time::nanoseconds(1000), 0, 0};
  bench.caches_answer(hits_only);
  for (unsigned t = 0; t < 4; ++t) bench.start(t, t);
  EXPECT_THAT(bench.last_end(), about(4 * 10 * 1e-6));
  EXPECT_EQ(bench.bound_by(), "page faults");
}

TEST(PageFaults, waitForTheLockToTravelFromItsLastHolder) {
  // Threads 0 and 1 share a socket, 40 ns apart; thread 2 is a hop, 100 ns, from both. Each finds the lock with any of the three:
  // a fault of each takes 3 x 1 us and 10 x (40 + 100)/3 + 10 x (40 + 100)/3 + 10 x (100 + 100)/3 = 1600 ns, ten of each 46 us.
  Bench bench{two_sockets(), "bind:0", 3};
  bench.options.system.fault = {Time{}, Time::nanoseconds(1000), 10, 0};
  bench.caches_answer(hits_only);
  bench.start(0, 0);
  bench.start(1, 1);
  bench.start(2, 4);
  EXPECT_THAT(bench.last_end(), about(10 * (3 * 1e-6 + 1600e-9)));
}

TEST(PageFaults, ofOneThreadFindTheLockWhereItLeftIt) {
  // After the others have ended, the lock is handed to nobody: 10 x 1 us.
  Bench bench{two_sockets(), "bind:0", 3};
  bench.options.system.fault = {Time{}, Time::nanoseconds(1000), 10, 0};
  bench.caches_answer(hits_only);
  bench.start(0, 0);
  bench.start(1, 4);
  const Time others = bench.last_end();
  bench.start(2, 1);
  EXPECT_THAT(bench.last_end() - others, about(10e-6));
}

TEST(PageFaults, doNotHoldUpThreadsThatFindTheirPages) {
  Bench bench{one_node(), "bind:0", 2};
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
  Bench bench{machine};
  bench.addresses = std::make_unique<AddressSpace>(bench.machine, *bench.workload, *bench.policy, Bytes{2 << 20});
  bench.options.page = Bytes{2 << 20};
  bench.time(hits_only);
  EXPECT_EQ(bench.model->counts().tlb_misses, 1u);
  EXPECT_EQ(bench.addresses->page_faults(), 1u);
}

TEST(Counts, areConserved) {
  // Bytes by (initiator, home) = read + written bytes by home = local + remote bytes by thread = 64 B a memory line;
  // lines in the latency histogram = lines served by memory, other caches and levels beyond the first.
  Bench bench{four_socket_square(1), "interleave", 4};
  bench.caches_answer([](const LineRange& touched, CacheOutcome& outcome) {
    const std::uint64_t quarter = touched.size() / 4;
    outcome.reads.push_back({{touched.first, touched.first + quarter}, 4});
    outcome.writebacks.push_back({touched.first + quarter, touched.first + 2 * quarter});
    outcome.non_temporal_writes.push_back({touched.first + 2 * quarter, touched.first + 3 * quarter});
    outcome.transfers.push_back({{touched.first + 3 * quarter, touched.last}, CoreId{3}, 1});
    outcome.hit_lines[1] += 7;
    outcome.accesses += touched.size() * 8;
  });
  for (unsigned t = 0; t < 4; ++t) bench.start(t, t);
  bench.last_end();
  const EventCounts counts = bench.model->counts();
  const auto sum = [](const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); };
  EXPECT_EQ(counts.memory_lines, 4 * lines / 4 * 3);
  EXPECT_EQ(sum(counts.traffic_bytes), 64 * counts.memory_lines);
  EXPECT_EQ(sum(counts.read_bytes) + sum(counts.write_bytes), 64 * counts.memory_lines);
  EXPECT_EQ(sum(counts.local_bytes) + sum(counts.remote_bytes), 64 * counts.memory_lines);
  EXPECT_EQ(sum(counts.read_bytes), 64 * 4 * lines / 4);
  std::uint64_t histogram = 0;
  for (const auto& [source, latencies] : counts.latency_ns)
    for (const auto& [nanoseconds, served] : latencies) histogram += served;
  EXPECT_EQ(histogram, 4 * lines / 4 + counts.transfer_lines + sum(counts.hit_lines));
  EXPECT_EQ(counts.accesses, 4 * lines * 8);
}

TEST(StagedMemoryModel, refusesAControllerWhoseMixIsImpossiblyFast) {
  // 1/B_w = 2/B_11 - 1/B_r must be positive: B_11 < 2 B_r.
  Machine machine = one_node();
  machine.controllers[0].one_to_one = Bandwidth::bytes_per_second(48e9);
  Bench bench{machine};
  EXPECT_THROW(bench.caches_answer(hits_only), InputError);
}

TEST(Engines, areKnownByName) {
  Bench bench{one_node()};
  for (const std::string& name : engine_names())
    EXPECT_NE(make_engine(name, *bench.workload, bench.machine, bench.topology, 1, bench.options), nullptr);
  try {
    make_engine("fast", *bench.workload, bench.machine, bench.topology, 1, bench.options);
    FAIL() << "an unknown engine was accepted";
  } catch (const UsageError& error) { EXPECT_STREQ(error.what(), "unknown engine 'fast'; allowed: flow, simgrid, line"); }
}

}  // namespace
}  // namespace homenode::test
