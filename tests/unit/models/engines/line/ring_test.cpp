// The ring of the Xeon Phi: where devices sit, which line belongs where, what one line takes by its distances, and what many take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "models/engines/line/ring_routes.hpp"
#include "models/machines/machine_changes.hpp"
#include "models/machines/machine_file.hpp"
#include "models/microbenchmarks/latency_map.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/source_folder.hpp"

namespace homenode::test {
namespace {

Machine knc(const std::map<std::string, std::string>& changes = {}) {
  return with_changes(load_machine(test::source_folder() / "models/machines/knc-5110p.toml"), changes);
}

// Six stops, everything at a place of its own: hops can be counted by hand.
Machine six_stops() {
  Machine machine = two_sockets();
  machine.sockets = 1;
  machine.links.clear();
  machine.nodes.resize(1);
  machine.controllers.resize(1);
  machine.core_node.assign(2, NodeId{0});
  machine.caches.resize(2);
  for (CacheDescription& cache : machine.caches) cache.cores_per_cache = 1;
  machine.nodes.front().latency = Time::nanoseconds(100);
  machine.core_to_core_local = machine.core_to_core_remote = Time::nanoseconds(80);
  machine.overlap = Overlap::none;
  machine.ring.emplace();
  machine.ring->directories = 2;
  machine.ring->order.text = "c0 d0 c1 m0 o d1";
  machine.ring->directory_hash = AddressHash::modulo;
  machine.ring->hop = Time::nanoseconds(2);
  validate(machine);
  return machine;
}

TEST(RingGeometry, wayRoundIsTheShorterOfEachMessage) {
  const RingGeometry ring{six_stops()};
  ASSERT_EQ(ring.stops(), 6U);
  // Core 0, directory 0, controller, core 0: 1 + 2 + 3. Directory 1: 1 + 2 (5 -> 3) + 3.
  EXPECT_EQ(ring.tour(0, 1, 3), 6U);
  EXPECT_EQ(ring.tour(0, 5, 3), 6U);
  // Core 1: 1 + 2 + 1 and 3 + 2 + 1.
  EXPECT_EQ(ring.tour(2, 1, 3), 4U);
  EXPECT_EQ(ring.tour(2, 5, 3), 6U);
  // Mean of memory 5.5 hops = 11 ns of 100; of cores (1 + 1 + 2 and 1 + 3 + 2, both ways round alike) 5 hops = 10 ns of 80.
  EXPECT_DOUBLE_EQ(ring.mean_memory_tour(), 5.5);
  EXPECT_EQ(ring.fixed_memory_latency(), Time::nanoseconds(89));
  EXPECT_DOUBLE_EQ(ring.mean_core_tour(), 5.0);
  EXPECT_EQ(ring.fixed_transfer_latency(), Time::nanoseconds(70));
}

TEST(LatencyMap, everyBlockTakesTheFixedPartAndItsWayRound) {
  // latency(core, line) = fixed + hop x tour(core, directory(line), controller).
  const std::vector<BlockLatencies> map = latency_map(six_stops(), 0, 4);
  ASSERT_EQ(map.size(), 4U);
  for (std::size_t block = 0; block < 4; ++block) {
    EXPECT_EQ(map[block].directory, block % 2);
    EXPECT_EQ(map[block].latency[0], Time::nanoseconds(89 + 12));
    EXPECT_EQ(map[block].latency[1], Time::nanoseconds(block % 2 == 0 ? 89 + 8 : 89 + 12));
  }
}

TEST(LatencyMap, measuredIsWhatTheDatabaseComputes) {
  const Machine machine = knc();
  const RingGeometry ring{machine};
  const std::vector<BlockLatencies> map = latency_map(machine, 0x125000, 48);
  std::set<std::size_t> tours;
  for (const BlockLatencies& block : map) {
    for (std::size_t core = 0; core < machine.cores(); ++core) {
      ASSERT_EQ(block.latency[core], ring.memory_latency(CoreId{core}, LineNumber{block.address / 64}))
          << block.address << " from core " << core;
      tours.insert(
          ring.tour(ring.stop_of_core(CoreId{core}), ring.stop_of_directory(block.directory), ring.stop_of_controller(block.controller)));
    }
  }
  EXPECT_GT(tours.size(), 30U);  // of at most 36: tours are even, or all the way round
}

TEST(LatencyMap, refusesBlocksBeyondMemoryAndMachinesWithoutARing) {
  EXPECT_THROW(latency_map(six_stops(), 0, 0), UsageError);
  EXPECT_THROW(latency_map(knc(), std::uint64_t{8'000'000'000}, 1), UsageError);
  EXPECT_THROW(latency_map(two_sockets(), 0, 1), UsageError);
}

TEST(Knc, meanLatencyIsTheMachinesAndTheLargestRatioS2s) {
  // C40, fitted by the hop: the largest over blocks of slowest over fastest core is 1.6.
  const Machine machine = knc();
  const RingGeometry ring{machine};
  double largest = 0, sum = 0;
  constexpr std::uint64_t blocks = 1 << 14;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    Time least = Time::nanoseconds(1e9), most;
    for (std::size_t core = 0; core < machine.cores(); ++core) {
      const Time latency = ring.memory_latency(CoreId{core}, LineNumber{block});
      least = std::min(least, latency);
      most = std::max(most, latency);
      sum += latency.nanoseconds();
    }
    largest = std::max(largest, most.seconds() / least.seconds());
  }
  EXPECT_GE(largest, 1.5);
  EXPECT_LE(largest, 1.65);
  EXPECT_NEAR(sum / static_cast<double>(blocks * machine.cores()), 290, 1);
}

class Hash : public ::testing::TestWithParam<const char*> {};

TEST_P(Hash, spreadsLinesEvenlyOverAllPairsOfDirectoryAndController) {
  const RingGeometry ring{knc({{"ring.directory_hash", GetParam()}, {"ring.controller_hash", GetParam()}})};
  std::vector<double> pairs(ring.directories() * ring.controllers());
  constexpr std::uint64_t lines = 1 << 18;
  for (std::uint64_t line = 0; line < lines; ++line)
    ++pairs[ring.directory_of(LineNumber{line}) * ring.controllers() + ring.controller_of(LineNumber{line})];
  const double expected = static_cast<double>(lines) / static_cast<double>(pairs.size());
  for (const double count : pairs) EXPECT_NEAR(count, expected, 5 * std::sqrt(expected));
}

INSTANTIATE_TEST_SUITE_P(All, Hash, ::testing::Values("modulo", "parity", "scattered"));

class Order : public ::testing::TestWithParam<const char*> {};

TEST_P(Order, hasEveryDeviceOnceAndTheSameMeanLatency) {
  const Machine machine = knc({{"ring.order", GetParam()}});
  const RingGeometry ring{machine};
  std::set<std::size_t> stops;
  for (std::size_t core = 0; core < machine.cores(); ++core) stops.insert(ring.stop_of_core(CoreId{core}));
  for (std::size_t controller = 0; controller < ring.controllers(); ++controller) stops.insert(ring.stop_of_controller(controller));
  EXPECT_EQ(stops.size(), 68U);
  EXPECT_EQ(ring.stops(), 70U);
  const double mean = ring.fixed_memory_latency().nanoseconds() + ring.mean_memory_tour() * ring.hop().nanoseconds();
  EXPECT_NEAR(mean, 290, 0.001);
}

INSTANTIATE_TEST_SUITE_P(All, Order, ::testing::Values("interleaved", "paired", "grouped", "shuffled"));

TEST(RingGeometry, orderSaysHowManyControllersSitSideBySide) {
  // Of 8 controllers, those whose next one is their neighbour: none, the first of each pair, all but the last.
  for (const auto& [order, expected] : {std::pair{"interleaved", 0}, std::pair{"paired", 4}, std::pair{"grouped", 7}}) {
    const RingGeometry ring{knc({{"ring.order", order}})};
    ASSERT_EQ(ring.controllers(), 8U);
    int neighbours = 0;
    for (std::size_t next = 1; next < 8; ++next) neighbours += ring.stop_of_controller(next) == ring.stop_of_controller(next - 1) + 1;
    EXPECT_EQ(neighbours, expected) << order;
  }
}

TEST(RingGeometry, refusesWhatIsNoOrder) {
  Machine machine = six_stops();
  for (const char* order : {"c0 d0 c1 m0", "c0 d0 c1 m0 d1 d1", "c0 d0 c1 m0 d1 x3", "c0 d0 c1 m0 d1 c2", "c0 d0 c1 m0 d1 c", "no order"}) {
    machine.ring->order.text = order;
    EXPECT_THROW(validate(machine), InputError) << order;
  }
  machine = six_stops();
  machine.ring->hop = Time::nanoseconds(40);  // the mean way round alone would take 220 ns
  EXPECT_THROW(validate(machine), InputError);
  machine.ring->hop = Time{};
  EXPECT_THAT([&] { validate(machine); }, ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("allowed: more than 0 ns")));
  machine = six_stops();
  machine.ring->data_rings = 0;
  EXPECT_THAT([&] { validate(machine); },
              ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("data_rings is 0; allowed: at least 1")));
  machine = six_stops();
  machine.ring->directories = 3;
  machine.ring->order.text = "interleaved";
  machine.ring->directory_hash = AddressHash::parity;
  EXPECT_THROW(validate(machine), InputError);
}

TEST(PhysicalMemory, framesAreAPermutationOfPagesByTheSeed) {
  Machine machine = knc({{"nodes.memory", "3000 KiB"}});  // 750 frames of 4 KiB: no power of two
  std::map<std::uint64_t, std::set<LineNumber>> frames;
  for (const std::uint64_t seed : {0U, 1U, 7U}) {
    const PhysicalMemory memory{machine, Bytes{4096}, seed};
    for (std::uint64_t page = 0; page < 750; ++page) {
      const LineNumber first = memory.line(LineNumber{page * 64});
      EXPECT_EQ(first.value() % 64, 0U);
      EXPECT_LT(first.value() / 64, 750U);
      EXPECT_EQ(memory.line(LineNumber{page * 64 + 63}), first + 63);
      frames[seed].insert(first);
    }
    EXPECT_EQ(frames[seed].size(), 750U);
  }
  EXPECT_NE(PhysicalMemory(machine, Bytes{4096}, 1).line(LineNumber{0}), PhysicalMemory(machine, Bytes{4096}, 7).line(LineNumber{0}));
}

TEST(RingSlots, aPlaceTakesOneRiderUntilItLeaves) {
  RingSlots slots{6, 10};
  EXPECT_EQ(slots.boards(0, 3), 3);
  slots.ride(0, 2, 3);                // its place is at stop 0, then 1, then empty at 2
  EXPECT_EQ(slots.boards(0, 5), 10);  // the next place
  EXPECT_EQ(slots.boards(1, 12), 20);
  EXPECT_EQ(slots.boards(2, 22), 22);
}

TEST(RingSlots, noSegmentCarriesMoreThanOneMessageAHop) {
  // All stops send 3 hops whenever they can: over T hops at most stops x T / 3 messages board, and that many do.
  constexpr std::int64_t hop = 7;
  constexpr std::size_t stops = 12, hops = 3;
  RingSlots slots{stops, hop};
  std::vector<std::int64_t> next(stops, 0);
  std::size_t sent = 0;
  constexpr std::int64_t until = 3000 * hop;
  while (true) {
    const std::size_t stop = static_cast<std::size_t>(std::min_element(next.begin(), next.end()) - next.begin());
    const std::int64_t at = slots.boards(stop, next[stop]);
    if (at >= until) break;
    slots.ride(stop, hops, at);
    next[stop] = at + 1;
    ++sent;
  }
  constexpr std::size_t most = stops * 3000 / hops;
  EXPECT_LE(sent, most + stops);
  EXPECT_GE(sent, most * 9 / 10);
}

TEST(RingRoutes, countsMessagesAndHops) {
  // A read: two addresses, a line, two acknowledgements (CHR), each over the hops of its part of the way.
  const Machine machine = six_stops();
  RingRoutes routes{machine, PhysicalMemory::shifted(0), Time::nanoseconds(20).count()};
  const Asker asker{CoreId{1}, NodeId{0}, SocketId{0}};
  const LinePath& path = routes.read(asker, LineNumber{0}, NodeId{0});
  std::int64_t idle = path.after;
  for (const PathStage& stage : path.stages) {
    idle += stage.before;
    if (stage.link == PathStage::on_ring) idle += machine.ring->hop.count() * stage.ring.hops;
  }
  EXPECT_EQ(idle, Time::nanoseconds(89 + 8 - 20).count());
  for (const PathStage& stage : path.stages)
    if (stage.link == PathStage::on_ring) routes.ride(stage.ring, 0);
  for (const RingRide& ride : path.rides_beside) routes.ride(ride, 0);
  std::map<std::string, std::uint64_t> messages, hops;
  for (const RingUse& use : routes.rings()) {
    messages[use.name.substr(0, use.name.find(' '))] += use.messages;
    hops[use.name.substr(0, use.name.find(' '))] += use.hops;
  }
  EXPECT_EQ(messages, (std::map<std::string, std::uint64_t>{{"data", 1}, {"address", 2}, {"acknowledge", 2}}));
  EXPECT_EQ(hops, (std::map<std::string, std::uint64_t>{{"data", 1}, {"address", 3}, {"acknowledge", 2}}));
}

}  // namespace
}  // namespace homenode::test
