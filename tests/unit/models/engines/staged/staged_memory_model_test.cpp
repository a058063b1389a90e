// What slices take: misses, bandwidth, latency under load, core time (slice_bench.hpp).
#include "models/engines/staged/staged_memory_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "models/engines/engines.hpp"
#include "models/machines/machine_file.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/unit/models/engines/staged/slice_bench.hpp"

namespace homenode::test {
namespace {

TEST(OneMiss, fromLocalMemoryTakesTheLocalLatency) {
  SliceBench bench{two_sockets()};
  EXPECT_THAT(bench.time(reads(1)), about(n * 100e-9));
  EXPECT_EQ(bench.bound_by(), "latency");
}

TEST(OneMiss, fromAHopAwayTakesAHopMore) {
  SliceBench bench{two_sockets(), "bind:1"};
  EXPECT_THAT(bench.time(reads(1)), about(n * (100e-9 + 50e-9)));
}

TEST(OneMiss, acrossTheDiagonalTakesTwoHopsMore) {
  SliceBench bench{four_socket_square(), "bind:3"};
  EXPECT_THAT(bench.time(reads(1)), about(n * (100e-9 + 2 * 50e-9)));
}

TEST(OneMiss, inFlightWithOthersCostsItsPart) {
  // Little's law: lines / parallelism x latency. 64 B / 24 GB/s a line = 27 % use: no extra latency below half use.
  SliceBench bench{one_node()};
  EXPECT_THAT(bench.time(reads(10)), about(n / 10 * 100e-9));
}

TEST(OneMiss, ofALineThatAnotherCoreWroteTakesTheCoreToCoreLatency) {
  SliceBench bench{two_sockets()};
  EXPECT_THAT(bench.time(transfers(CoreId{1})), about(n * 40e-9));   // same socket
  EXPECT_THAT(bench.time(transfers(CoreId{4})), about(n * 100e-9));  // the other
  const EventCounts counts = bench.model->counts();
  EXPECT_EQ(counts.transfer_lines, lines);
  EXPECT_EQ(counts.memory_lines, 0u);
  // Home and reader are socket 0, the owner is socket 1: a forward out, the data back.
  EXPECT_THAT(counts.link_bytes, testing::ElementsAre(lines * 8, lines * 72));
}

TEST(OneMiss, ofALineThatACoreOfTheSameLastLevelWroteTakesLessThanOfAnother) {
  SliceBench bench{chiplets()};
  EXPECT_THAT(bench.time(transfers(CoreId{1})), about(n * 15e-9));
  EXPECT_THAT(bench.time(transfers(CoreId{2})), about(n * 40e-9));
}

TEST(OneMiss, ofMemoryBehindALinkOfItsOwnTakesItsLatency) {
  SliceBench bench{chiplets_and_far_memory(), "bind:1"};
  EXPECT_THAT(bench.time(reads(1)), about(n * 250e-9));
  EXPECT_EQ(bench.bound_by(), "latency");
}

TEST(OneMiss, ofALineThatACoreAcrossTheDiagonalWroteTakesTwoHops) {
  SliceBench bench{four_socket_square()};
  EXPECT_THAT(bench.time(transfers(CoreId{12})), about(n * 2 * 100e-9));
}

// Upgrades of all lines, found at `level`, one at a time.
Script upgrades(unsigned level, std::uint64_t domains, float parallelism = 1) {
  return [=](const LineRange& touched, CacheOutcome& outcome) {
    outcome.hit_lines[level] += touched.size();
    outcome.hit_weight[level] += static_cast<double>(touched.size()) / static_cast<double>(parallelism);
    outcome.upgraded.push_back({touched, domains, level, parallelism});
  };
}

TEST(OneUpgrade, takesTheWayToTheFarthestCopy) {
  constexpr std::uint64_t own = 1, next = 2, diagonal = 8;  // sockets 0, 1 and 3, each with one last level
  SliceBench bench{four_socket_square()};
  EXPECT_THAT(bench.time(upgrades(0, own)), about(n * 40e-9));
  EXPECT_THAT(bench.time(upgrades(0, own | next)), about(n * 100e-9));
  EXPECT_THAT(bench.time(upgrades(0, own | diagonal)), about(n * 2 * 100e-9));
  const EventCounts counts = bench.model->counts();
  EXPECT_EQ(counts.latency_ns.at("upgrade").at(200), lines);
}

TEST(OneUpgrade, withinALastLevelTakesLessThanBetweenTwo) {
  constexpr std::uint64_t own = 1, next = 2;
  SliceBench bench{chiplets()};
  EXPECT_THAT(bench.time(upgrades(0, own)), about(n * 15e-9));
  EXPECT_THAT(bench.time(upgrades(0, own | next)), about(n * 40e-9));
}

TEST(OneUpgrade, ofALineInTheThirdLevelTakesNoMoreThanOfOneInTheFirst) {
  // The wait for the line, 20 ns, is a part of the wait for its copies: 20 + (100 - 20).
  SliceBench bench{two_sockets()};
  EXPECT_THAT(bench.time(upgrades(2, 2)), about(n * 100e-9));
  const EventCounts counts = bench.model->counts();
  EXPECT_EQ(counts.hit_lines[2], lines);
  EXPECT_FALSE(counts.latency_ns.contains("L3"));
}

TEST(OneUpgrade, waitsBesideOthersInTheMissBuffers) {
  SliceBench bench{two_sockets()};
  EXPECT_THAT(bench.time(upgrades(0, 2, 10)), about(n / 10 * 100e-9));
}

TEST(OneMiss, servedByTheThirdLevelTakesItsLatency) {
  SliceBench bench{one_node()};
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
  SliceBench bench{machine};
  const Time end = bench.time([](const LineRange& touched, CacheOutcome& outcome) {
    outcome.hit_lines[2] += touched.size();
    outcome.hit_weight[2] += static_cast<double>(touched.size()) / 16;
  });
  EXPECT_THAT(end, about(n * 4e-9));
}

TEST(Bandwidth, readsTakeBytesOverReadBandwidth) {
  SliceBench bench{one_node()};
  EXPECT_THAT(bench.time(reads(100)), about(n * 64 / 24e9));
  EXPECT_EQ(bench.bound_by(), "controller 0");
}

TEST(Bandwidth, writesAloneTakeTheTimeThatMakesTheMixTrue) {
  // 1/B_11 = (1/B_r + 1/B_w)/2: 1/16 = (1/24 + 1/12)/2, so B_w = 12 GB/s.
  SliceBench bench{one_node()};
  EXPECT_THAT(bench.time([](const LineRange& touched, CacheOutcome& outcome) { outcome.writebacks.push_back(touched); }),
              about(n * 64 / 12e9));
  bench.machine.write_combining_buffers = 100;
  EXPECT_THAT(bench.time([](const LineRange& touched, CacheOutcome& outcome) { outcome.non_temporal_writes.push_back(touched); }),
              about(n * 64 / 12e9));
}

TEST(Bandwidth, halfReadsHalfWritesGiveTheOneToOneBandwidth) {
  SliceBench bench{one_node()};
  const Time end = bench.time([](const LineRange& touched, CacheOutcome& outcome) {
    outcome.reads.push_back({touched, 100});
    outcome.writebacks.push_back(touched);
  });
  EXPECT_THAT(end, about(2 * n * 64 / 16e9));
}

TEST(Bandwidth, aNodesOwnLinkHasOneForReadsAndOneForWrites) {
  // 64 B of a line at 24 and 12 GB/s take the controller 2.7 and 5.3 ns, its message of 72 B the link 9 and 18 ns.
  SliceBench bench{chiplets_and_far_memory(), "bind:1"};
  EXPECT_THAT(bench.time(reads(1000)), about(n * 72 / 8e9));
  EXPECT_EQ(bench.bound_by(), "link node 1->0");
  EXPECT_THAT(bench.time([](const LineRange& touched, CacheOutcome& outcome) { outcome.writebacks.push_back(touched); }),
              about(n * 72 / 4e9));
  EXPECT_EQ(bench.bound_by(), "link 0->node 1");
  // Both directions at once: a write's message of 72 B and a read's request of 8 B.
  EXPECT_THAT(bench.time([](const LineRange& touched, CacheOutcome& outcome) {
    outcome.reads.push_back({touched, 1000});
    outcome.writebacks.push_back(touched);
  }),
              about(n * (72 + 8) / 4e9));
}

TEST(Bandwidth, remoteReadsAreBoundByTheDataMessagesOfTheLink) {
  SliceBench bench{two_sockets(), "bind:1"};
  EXPECT_THAT(bench.time(reads(100)), about(n * 72 / 12e9));
  EXPECT_EQ(bench.bound_by(), "link 1->0");
  EXPECT_THAT(bench.model->counts().link_bytes, testing::ElementsAre(lines * 8, lines * 72));
}

TEST(Bandwidth, aControllerIsSharedByAllItsReaders) {
  // Four threads read n lines each from node 0: 4 n x 64 / 24 GB/s, and no one is named but the controller.
  SliceBench bench{one_node(), "bind:0", 4};
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
  SliceBench bench{machine, "interleave", 2};
  bench.caches_answer(reads(100));
  bench.start(0, 0);
  bench.start(1, 1);
  EXPECT_THAT(bench.last_end(), about((1 + 3.0 / 44) * n * 56 / 12e9));
  EXPECT_THAT(bench.model->counts().link_bytes, testing::ElementsAre(lines * 56, lines * 56));
  EXPECT_THAT(bench.bound_by(), testing::StartsWith("link"));
  // Single lines at random: each of a thread's 100 misses in flight is on a page of its own.
  machine.miss_buffers = 100;
  SliceBench scattered{machine, "interleave", 2};
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
    SliceBench bench{machine, placement, 8};
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
  SliceBench bench{two_sockets(), "interleave"};
  bench.options.threads = 8;
  EXPECT_THAT(bench.time(reads(100)), about(n * 3e-9 * (1 + (64. / 2 / 24 / 3) / 2)));
  SliceBench local{two_sockets()};
  EXPECT_THAT(local.time(reads(100)), about(n * 64 / 24e9));
}

TEST(LatencyUnderLoad, isTheEquilibriumOfTheCurve) {
  // 30 lines in flight at 100 ns would use r0 = 30 x 64 B / 100 ns / 24 GB/s = 0.8. From half use on, extra(r) = 200 (r - 0.5) ns:
  // r (100 + 200 (r - 0.5)) = 100 r0, so r = sqrt(r0 / 2) = 0.6325 and extra = 26.49 ns.
  SliceBench bench{one_node()};
  const double r = std::sqrt(0.8 / 2), extra = 200e-9 * (r - 0.5);
  EXPECT_NEAR(bench.time(reads(30)).seconds(), n / 30 * (100e-9 + extra), n / 30 * 1e-12);
}

TEST(LatencyUnderLoad, isTheSameForThreadsThatMakeTheSameLoadTogether) {
  // Three threads with 10 lines in flight each: the third meets the load of all, as one thread with 30 does above.
  SliceBench bench{one_node(), "bind:0", 3};
  bench.caches_answer(reads(10));
  for (unsigned t = 0; t < 3; ++t) bench.start(t, t);
  const double r = std::sqrt(0.8 / 2), extra = 200e-9 * (r - 0.5);
  EXPECT_NEAR(bench.last_end().seconds(), n / 10 * (100e-9 + extra), n / 10 * 2e-12);
}

TEST(LatencyUnderLoad, isNeverBelowTheUnloadedOne) {
  for (const float parallelism : {1.0f, 5.0f, 20.0f, 40.0f, 80.0f}) {
    SliceBench bench{two_sockets(), "interleave"};
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
  SliceBench full{one_node(), "bind:0", 1, counts};
  EXPECT_THAT(full.time(reads(1)), about(100e-6));
  EXPECT_EQ(full.bound_by(), "core");
  Machine blocking = one_node();
  blocking.overlap = Overlap::none;
  SliceBench none{blocking, "bind:0", 1, counts};
  EXPECT_THAT(none.time(reads(1)), about(100e-6 + memory));
}

TEST(ExchangeOfOneCore, boundsManyLinesInFlight) {
  Machine machine = one_node();
  machine.prefetched_lines = 1000;  // 640 x 100 ns / 1000 by latency, the controller 640 x 64 B / 20 GB/s and less
  machine.controllers[0].read_only = machine.controllers[0].one_to_one = Bandwidth::bytes_per_second(1e12);
  machine.read_bandwidth = Bandwidth::bytes_per_second(10e9);
  machine.write_bandwidth = Bandwidth::bytes_per_second(16e9);
  machine.nontemporal_bandwidth = Bandwidth::bytes_per_second(8e9);
  machine.write_combining_buffers = 1000;
  EXPECT_THAT(SliceBench{machine}.time(reads(1000)), about(n * 64 / 10e9));
  // stores: each line is read for ownership and written back
  const Script stores = [](const LineRange& touched, CacheOutcome& outcome) {
    outcome.reads.push_back({touched, 1000});
    outcome.writebacks.push_back(touched);
  };
  EXPECT_THAT(SliceBench{machine}.time(stores), about(n * 2 * 64 / 16e9));
  const Script past_the_caches = [](const LineRange& touched, CacheOutcome& outcome) { outcome.non_temporal_writes.push_back(touched); };
  EXPECT_THAT(SliceBench{machine}.time(past_the_caches), about(n * 64 / 8e9));
}

TEST(NonTemporalStores, waitForMemoryInPlacesOfTheirOwn) {
  // Little's law with the way to memory and back, without the DRAM's 27 ns: local 73 ns, a hop away 123 ns. As many at a time as miss
  // buffers, unless the machine says how many.
  const Script stores = [](const LineRange& touched, CacheOutcome& outcome) { outcome.non_temporal_writes.push_back(touched); };
  Machine machine = two_sockets();
  machine.controllers[0].read_only = machine.controllers[0].one_to_one = Bandwidth::bytes_per_second(1e12);
  machine.links[0].bandwidth = Bandwidth::bytes_per_second(1e12);
  EXPECT_THAT(SliceBench{machine}.time(stores), about(n * 73e-9 / 10));
  EXPECT_THAT((SliceBench{machine, "bind:0"}.time(stores, 4)), about(n * 123e-9 / 10));
  machine.write_combining_buffers = 4;
  EXPECT_THAT(SliceBench{machine}.time(stores), about(n * 73e-9 / 4));
  // Beside reads that wait longer they take nothing.
  EXPECT_THAT(SliceBench{machine}.time([](const LineRange& touched, CacheOutcome& outcome) {
    outcome.reads.push_back({touched, 2});
    outcome.non_temporal_writes.push_back(touched);
  }),
              about(n * 100e-9 / 2));
  // Nor beside hits of a cache.
  EXPECT_THAT(SliceBench{machine}.time([](const LineRange& touched, CacheOutcome& outcome) {
    outcome.hit_lines[2] += touched.size();
    outcome.hit_weight[2] += static_cast<double>(touched.size()) / 2;
    outcome.non_temporal_writes.push_back(touched);
  }),
              about(n * 73e-9 / 4));
}

TEST(ExchangeOfOneCore, boundsNothingThatLatencyBinds) {
  Machine machine = one_node();
  machine.read_bandwidth = Bandwidth::bytes_per_second(10e9);
  EXPECT_THAT(SliceBench{machine}.time(reads(1)), about(n * 100e-9));
}

TEST(Counts, areConserved) {
  // Bytes by (initiator, home) = read + written bytes by home = local + remote bytes by thread = 64 B a memory line;
  // lines in the latency histogram = lines served by memory, other caches and levels beyond the first.
  SliceBench bench{four_socket_square(1), "interleave", 4};
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
  SliceBench bench{machine};
  EXPECT_THROW(bench.caches_answer(hits_only), InputError);
}

TEST(Engines, areKnownByName) {
  SliceBench bench{one_node()};
  for (const std::string& name : engine_names())
    EXPECT_NE(make_engine(name, *bench.workload, bench.machine, bench.topology, 1, bench.options), nullptr);
  try {
    make_engine("fast", *bench.workload, bench.machine, bench.topology, 1, bench.options);
    FAIL() << "an unknown engine was accepted";
  } catch (const UsageError& error) { EXPECT_STREQ(error.what(), "unknown engine 'fast'; allowed: flow, simgrid, line"); }
}

}  // namespace
}  // namespace homenode::test
