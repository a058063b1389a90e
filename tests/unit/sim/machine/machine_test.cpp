#include "sim/machine/machine.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "sim/base/errors.hpp"
#include "sim/machine/team_costs.hpp"
#include "tests/unit/sim/machine/test_machine.hpp"

namespace homenode {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Damage {
  std::string name;
  std::function<void(Machine&)> inflict;
  std::string found, allowed;
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class MachineRefuses : public testing::TestWithParam<Damage> {};

TEST_P(MachineRefuses, NamingTheMachineThePartWhatWasFoundAndWhatIsAllowed) {
  Machine machine = small_machine(2, 2, {{0, 1}});
  ASSERT_NO_THROW(validate(machine));
  GetParam().inflict(machine);
  EXPECT_THAT([&] { validate(machine); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("machine 'small'"), HasSubstr(GetParam().found), HasSubstr(GetParam().allowed))));
}

const Damage damages[] = {
    {"NoSockets", [](Machine& m) { m.sockets = 0; }, "the number of sockets is 0", "at least 1"},
    {"NoNodes", [](Machine& m) { m.nodes.clear(); }, "the number of nodes is 0", "1 to 254"},
    {"NodeOnNoSocket", [](Machine& m) { m.nodes[1].socket = SocketId{7}; }, "the socket of node 1 is 7", "allowed: 0 to 1"},
    {"NodeWithoutMemory", [](Machine& m) { m.nodes[0].memory = Bytes{}; }, "the memory of node 0 is 0 B", "at least 1 B"},
    {"NegativeMemory", [](Machine& m) { m.nodes[0].memory = Bytes{-4096}; }, "the memory of node 0 is -4 KiB", "at least 1 B"},
    {"NodeWithoutLatency", [](Machine& m) { m.nodes[0].latency = Time{}; }, "the latency of node 0 is 0 ps", "more than 0 ns"},
    {"EmptyMemorySideCache", [](Machine& m) { m.nodes[0].memory_side_cache = Bytes{}; }, "memory-side cache of node 0", "at least 1 B"},
    {"MemorySideCacheInPart",
     [](Machine& m) {
       m.nodes[0].memory_side_cache = Bytes{1 << 20};
       m.nodes[0].memory_side_latency = Time::nanoseconds(50);
     },
     "the memory-side cache of node 0 is described in part", "memory_side_read_only"},
    {"MemorySideCacheWithoutASize",
     [](Machine& m) {
       m.nodes[0].memory_side_latency = Time::nanoseconds(50);
       m.nodes[0].memory_side_read_only = m.nodes[0].memory_side_one_to_one = Bandwidth::bytes_per_second(1e9);
     },
     "the memory-side cache of node 0 is described in part", "beside memory_side_cache"},
    {"MemorySideCacheWhoseWritesAreFree",
     [](Machine& m) {
       m.nodes[0].memory_side_cache = Bytes{1 << 20};
       m.nodes[0].memory_side_latency = Time::nanoseconds(50);
       m.nodes[0].memory_side_read_only = Bandwidth::bytes_per_second(1e9);
       m.nodes[0].memory_side_one_to_one = Bandwidth::bytes_per_second(2e9);
     },
     "the one-to-one bandwidth of the memory-side cache of node 0", "less than twice"},
    {"MemorySideCacheOfHalfAPage",
     [](Machine& m) {
       m.nodes[0].memory_side_cache = Bytes{6144};
       m.nodes[0].memory_side_latency = Time::nanoseconds(50);
       m.nodes[0].memory_side_read_only = m.nodes[0].memory_side_one_to_one = Bandwidth::bytes_per_second(1e9);
     },
     "the size of the memory-side cache of node 0 is 6 KiB", "a multiple of 4 KiB"},
    {"MemorySideCacheSlowerThanMemory",
     [](Machine& m) {
       m.nodes[0].memory_side_cache = Bytes{1 << 20};
       m.nodes[0].memory_side_latency = Time::nanoseconds(5000);
       m.nodes[0].memory_side_read_only = m.nodes[0].memory_side_one_to_one = Bandwidth::bytes_per_second(1e9);
     },
     "the latency of the memory-side cache of node 0 is 5 us", "a line takes which it does not have"},
    {"CurveWithoutAMemorySideCache",
     [](Machine& m) {
       m.nodes[0].memory_side_loaded_latency = {{1.0, Time::nanoseconds(5)}};
     },
     "the memory-side cache of node 0 is described in part", "none of the three"},
    {"DirectoryInMemoryBesideSnoops",
     [](Machine& m) {
       m.snoop = SnoopMode::source;
       m.directory_in = DirectoryPlace::memory;
     },
     "coherence.directory_in is memory", "coherence.snoop = directory"},
    {"PortOfAnInnerCache", [](Machine& m) { m.caches[0].port_read = m.caches[0].port_write = Bandwidth::bytes_per_second(1e9); },
     "the port of cache level 1 is described", "outermost level only"},
    {"PortOfOneDirection", [](Machine& m) { m.caches.back().port_read = Bandwidth::bytes_per_second(1e9); }, "without port_write",
     "both port_read and port_write"},
    {"SnoopFilterOfAnInclusiveLevel",
     [](Machine& m) {
       m.caches.back().inclusion = Inclusion::inclusive;
       m.caches.back().snoop_filter = Bytes{1 << 20};
       m.caches.back().snoop_filter_ways = 8;
     },
     "the snoop filter of cache level 2 is described", "not inclusive"},
    {"SnoopFilterWithoutWays",
     [](Machine& m) {
       m.caches.back().inclusion = Inclusion::non_inclusive;
       m.caches.back().snoop_filter = Bytes{1 << 20};
     },
     "the snoop filter of cache level 2 is described in part", "both snoop_filter and snoop_filter_ways"},
    {"SnoopFilterSmallerThanWhatItCovers",
     [](Machine& m) {
       m.caches.back().inclusion = Inclusion::non_inclusive;
       m.caches.back().snoop_filter = Bytes{64 * 8};
       m.caches.back().snoop_filter_ways = 8;
     },
     "the size of the snoop filter of cache level 2 is 512 B", "of the caches inside"},
    {"OwnLinkOfOneDirection",
     [](Machine& m) {
       m.core_node.resize(2);
       m.nodes[1].link_read = Bandwidth::bytes_per_second(1e9);
     },
     "the link of node 1 is without link_write", "both link_read and link_write"},
    {"OwnLinkOfANodeWithCores", [](Machine& m) { m.nodes[1].link_read = m.nodes[1].link_write = Bandwidth::bytes_per_second(1e9); },
     "the number of cores of node 1, which has a link of its own, is 2", "allowed: 0"},
    {"OwnLinkWithoutBandwidth",
     [](Machine& m) {
       m.core_node.resize(2);
       m.nodes[1].link_read = Bandwidth::bytes_per_second(1e9);
       m.nodes[1].link_write = Bandwidth{};
     },
     "the link_write of node 1 is 0 B/s", "more than 0"},
    {"SharedCacheFartherThanTheSocket", [](Machine& m) { m.core_to_core_shared_cache = Time::nanoseconds(31); },
     "core-to-core in a shared cache is 31 ns", "at most the 30 ns"},
    {"NoCores", [](Machine& m) { m.core_node.clear(); }, "the number of cores is 0", "at least 1"},
    {"CoreOnNoNode", [](Machine& m) { m.core_node[3] = NodeId{9}; }, "the node of core 3 is 9", "0 to 1"},
    {"CoresOutOfOrder", [](Machine& m) { std::swap(m.core_node[0], m.core_node[3]); }, "the socket of core 1", "socket by socket"},
    {"NoCaches", [](Machine& m) { m.caches.clear(); }, "the number of cache levels is 0", "at least 1"},
    {"LevelsOutOfOrder", [](Machine& m) { m.caches[1].level = 3; }, "in place 2 is 3", "2: levels are listed from 1 outwards"},
    {"SizeNotInWholeSets", [](Machine& m) { m.caches[0].size = Bytes{1000}; }, "the size of cache level 1 is 1 kB",
     "a multiple of line x ways x slices = 512 B"},
    {"SharingAcrossSockets", [](Machine& m) { m.caches[1].cores_per_cache = 4; }, "the cores per cache of cache level 2 is 4",
     "a divisor of the 2 cores"},
    {"OuterSmaller", [](Machine& m) { m.caches[1].size = Bytes{16 * 1024}; }, "the size of cache level 2 is 16 KiB",
     "more than the 32 KiB"},
    {"OuterFaster", [](Machine& m) { m.caches[1].latency = Time::nanoseconds(1); }, "the latency of cache level 2 is 1 ns",
     "more than the 2 ns"},
    {"LinesDiffer", [](Machine& m) { m.caches[1].line = Bytes{128}; }, "the line of cache level 2 is 128 B", "64 B"},
    {"ControllerOnNoNode", [](Machine& m) { m.controllers[0].node = NodeId{2}; }, "the node of controller 0 is 2", "0 to 1"},
    {"NodeWithoutController", [](Machine& m) { m.controllers.pop_back(); }, "controllers of node 1 is 0", "at least 1"},
    {"NoBandwidth", [](Machine& m) { m.controllers[0].read_only = Bandwidth{}; }, "read-only bandwidth of controller 0 is 0 B/s",
     "more than 0"},
    {"FreeWrites", [](Machine& m) { m.controllers[0].one_to_one = Bandwidth::bytes_per_second(40e9); },
     "one-to-one bandwidth of controller 0 is 40 GB/s", "less than twice the read-only 20 GB/s"},
    {"LoadBeyondFull",
     [](Machine& m) {
       m.controllers[0].loaded_latency = {{1.5, Time::nanoseconds(1)}};
     },
     "utilisation in the loaded latency of controller 0 is 1.5", "at most 1"},
    {"LatencyFallsWithLoad",
     [](Machine& m) {
       m.controllers[0].loaded_latency = {{0.5, Time::nanoseconds(9)}, {0.9, Time::nanoseconds(5)}};
     },
     "is 5 ns", "9 ns or more"},
    {"LinkToNoSocket", [](Machine& m) { m.links[0].to = SocketId{5}; }, "the second end of link 0 is 5", "0 to 1"},
    {"LinkToItself", [](Machine& m) { m.links[0].to = SocketId{0}; }, "the second end of link 0 is 0", "another than the first"},
    {"UnreachableSocket", [](Machine& m) { m.links.clear(); }, "socket 1 cannot be reached from socket 0", "links that join all sockets"},
    {"NoClock", [](Machine& m) { m.clock = Frequency{}; }, "the clock", "more than 0"},
    {"NoDivision", [](Machine& m) { m.core.divide = 0; }, "core.divide is 0", "more than 0"},
    {"NoMissBuffers", [](Machine& m) { m.miss_buffers = 0; }, "the miss buffers is 0", "at least 1"},
    {"MessageSmallerThanItsLine", [](Machine& m) { m.data_message = Bytes{32}; }, "the data message is 32 B",
     "at least the line it carries, 64 B"},
    {"RemoteCopyNearer", [](Machine& m) { m.core_to_core_remote = Time::nanoseconds(1); }, "core-to-core remote is 1 ns",
     "at least the local 30 ns"},
    {"ClockOfNanohertz", [](Machine& m) { m.clock = Frequency::hertz(1e-9); }, "the clock is 0.000000001 Hz", "from 1 MHz to 1000 GHz"},
    {"ClockOfNoCores",
     [](Machine& m) {
       m.clock_by_cores = {{0, m.clock}};
     },
     "a number of cores in clock_by_cores is 0", "above 0, ascending, at most the 2 cores of a socket"},
    {"ClockOfMoreCoresThanASocketHas",
     [](Machine& m) {
       m.clock_by_cores = {{3, m.clock}};
     },
     "a number of cores in clock_by_cores is 3", "at most the 2 cores"},
    {"CoresOfClocksDescend",
     [](Machine& m) {
       m.clock_by_cores = {{2, Frequency::hertz(3e9)}, {1, Frequency::hertz(3e9)}};
     },
     "a number of cores in clock_by_cores is 1", "above 2, ascending"},
    {"ClockRisesWithCores",
     [](Machine& m) {
       m.clock_by_cores = {{1, Frequency::hertz(3e9)}, {2, Frequency::hertz(3.5e9)}};
     },
     "the clock with up to 2 cores at work is 3.5 GHz", "from 2 GHz, the base clock, to 3 GHz: it never rises"},
    {"ClockBelowTheBaseClock",
     [](Machine& m) {
       m.clock_by_cores = {{2, Frequency::hertz(1e9)}};
     },
     "the clock with up to 2 cores at work is 1 GHz", "from 2 GHz, the base clock,"},
    {"WideClockOfNoCores",
     [](Machine& m) {
       m.clock_by_cores_512 = {{0, m.clock}};
     },
     "a number of cores in clock_by_cores_512 is 0", "above 0, ascending, at most the 2 cores of a socket"},
    {"WideClockOfMoreCoresThanASocketHas",
     [](Machine& m) {
       m.clock_by_cores_256 = {{3, m.clock}};
     },
     "a number of cores in clock_by_cores_256 is 3", "at most the 2 cores"},
    {"WideClockRisesWithCores",
     [](Machine& m) {
       m.clock_by_cores_256 = {{1, Frequency::hertz(1.5e9)}, {2, Frequency::hertz(1.8e9)}};
     },
     "the clock of clock_by_cores_256 with up to 2 cores at work is 1.8 GHz", "from 1 MHz to 1.5 GHz: it never rises"},
    {"WideClockAboveTheBaseClockOfNarrowCode",
     [](Machine& m) {
       m.clock_by_cores_512 = {{1, Frequency::hertz(2.5e9)}};
     },
     "the clock of clock_by_cores_512 with up to 1 cores at work is 2.5 GHz", "to 2 GHz: it never rises"},
    {"WideClockAboveNarrowCodesFurtherOn",
     [](Machine& m) {
       m.clock_by_cores = {{1, Frequency::hertz(3e9)}, {2, Frequency::hertz(2.5e9)}};
       m.clock_by_cores_256 = {{2, Frequency::hertz(2.8e9)}};
     },
     "the clock of clock_by_cores_256 with up to 2 cores at work is 2.8 GHz", "to 2.5 GHz"},
    {"WiderClockAboveTheLessWide",
     [](Machine& m) {
       m.clock_by_cores_256 = {{2, Frequency::hertz(1.8e9)}};
       m.clock_by_cores_512 = {{2, Frequency::hertz(1.9e9)}};
     },
     "the clock of clock_by_cores_512 with up to 2 cores at work is 1.9 GHz", "to 1.8 GHz"},
    {"WideClockOfNothing",
     [](Machine& m) {
       m.clock_by_cores_512 = {{2, Frequency{}}};
     },
     "the clock of clock_by_cores_512 with up to 2 cores at work is 0 Hz", "from 1 MHz"},
    {"OuterCacheAloneHasTheCoresClock", [](Machine& m) { m.caches[1].clock = CacheClock::core; },
     "the clock of cache level 2 is the cores'", "own: that of the level inside"},
    {"HugeThroughput", [](Machine& m) { m.core.issue = 1e308; }, "core.issue is 1e+308", "from 0.000001 to 1000000 a cycle"},
    {"TinyThroughput", [](Machine& m) { m.core.issue = 1e-308; }, "core.issue is 1e-308", "from 0.000001 to 1000000 a cycle"},
    {"LatencyOfDays", [](Machine& m) { m.nodes[0].latency = Time::max(); }, "the latency of node 0 is 9223372", "at most 1 s"},
    {"LineOfNoPowerOfTwo", [](Machine& m) { m.caches[0].line = Bytes{96}; }, "the line of cache level 1 is 96 B",
     "a power of two from 8 B"},
    {"LineThatOverflows", [](Machine& m) { m.caches[0].line = Bytes{INT64_MAX}; }, "the line of cache level 1 is", "to 4096 B"},
    {"LinkAgain",
     [](Machine& m) {
       m.links.push_back({m.links[0].to, m.links[0].from, m.links[0].bandwidth, m.links[0].latency});
     },
     "link 1 is another between 1 and 0", "parallel links are one with their bandwidth together"},
    {"TooManyCores", [](Machine& m) { m.core_node.resize(5000, m.core_node.back()); }, "the number of cores is 5000", "at most 4096"},
    {"NegativeBarrier", [](Machine& m) { m.barrier_base = Time::picoseconds(-1); }, "the barrier base is -1 ps", "0 ns or more"},
};

INSTANTIATE_TEST_SUITE_P(All, MachineRefuses, testing::ValuesIn(damages), [](const auto& info) { return info.param.name; });

TEST(Machine, FindsTheNodeSocketAndCachesOfACore) {
  const Machine machine = small_machine(2, 4, {{0, 1}});
  EXPECT_EQ(machine.cores(), 8u);
  EXPECT_EQ(machine.node_of(CoreId{5}), NodeId{1});
  EXPECT_EQ(machine.socket_of(CoreId{5}), SocketId{1});
  EXPECT_EQ(machine.cache_of(CoreId{5}, 0), CacheId{5});  // private: 5 / 1
  EXPECT_EQ(machine.cache_of(CoreId{5}, 1), CacheId{1});  // shared by four: 5 / 4
}

TEST(Machine, RunsAtTheClockOfItsActiveCores) {
  Machine machine = small_machine(2, 4, {{0, 1}});
  EXPECT_EQ(machine.clock_of(1), machine.clock);
  machine.clock_by_cores = {{1, Frequency::hertz(3.5e9)}, {3, Frequency::hertz(3e9)}};
  EXPECT_NO_THROW(validate(machine));
  EXPECT_EQ(machine.clock_of(1), Frequency::hertz(3.5e9));
  EXPECT_EQ(machine.clock_of(2), Frequency::hertz(3e9));
  EXPECT_EQ(machine.clock_of(3), Frequency::hertz(3e9));
  EXPECT_EQ(machine.clock_of(4), machine.clock);  // beyond the table
}

TEST(Machine, RunsCodeOfWideVectorsAtItsOwnClock) {
  Machine machine = small_machine(2, 4, {{0, 1}});  // 2 GHz
  const auto giga = [&](unsigned active, VectorWidth width) { return machine.clock_of(active, width).hertz() / 1e9; };
  EXPECT_TRUE(machine.has_one_clock());
  EXPECT_DOUBLE_EQ(giga(1, VectorWidth::bits_512), 2);
  machine.clock_by_cores = {{1, Frequency::hertz(3.5e9)}, {3, Frequency::hertz(3e9)}};
  EXPECT_DOUBLE_EQ(giga(1, VectorWidth::bits_512), 3.5);  // no table: as narrow code
  machine.clock_by_cores_256 = {{2, Frequency::hertz(2.5e9)}};
  EXPECT_NO_THROW(validate(machine));
  EXPECT_DOUBLE_EQ(giga(1, VectorWidth::narrow), 3.5);
  EXPECT_DOUBLE_EQ(giga(1, VectorWidth::bits_256), 2.5);
  EXPECT_DOUBLE_EQ(giga(1, VectorWidth::bits_512), 2.5);  // no table: as the width below
  EXPECT_DOUBLE_EQ(giga(3, VectorWidth::bits_256), 2.5);  // beyond the table: narrow code's 3 GHz, but no rise
  EXPECT_DOUBLE_EQ(giga(4, VectorWidth::bits_256), 2);    // the base clock
  machine.clock_by_cores_512 = {{1, Frequency::hertz(2.2e9)}, {2, Frequency::hertz(1.5e9)}};
  EXPECT_NO_THROW(validate(machine));
  EXPECT_DOUBLE_EQ(giga(1, VectorWidth::bits_512), 2.2);
  EXPECT_DOUBLE_EQ(giga(2, VectorWidth::bits_512), 1.5);  // below the base clock
  EXPECT_DOUBLE_EQ(giga(4, VectorWidth::bits_512), 1.5);
  EXPECT_FALSE(machine.has_one_clock());
}

// Five threads meet in 3 steps, the first power of two that holds them: 30 ns a step within a socket, 70 ns between two. Of a team whose
// fifth thread is on another socket, only the step in which thread 0 tells thread 4 leaves the socket.
TEST(TeamCosts, AreTheSlowestSignalOfEachLevelOfATree) {
  Machine machine = small_machine(2, 8, {{0, 1}});
  machine.fork_log_factor = 2;
  machine.barrier_log_factor = 3;
  machine.reduction_log_factor = 4;
  const std::vector<CoreId> socket{CoreId{8u}, CoreId{9u}, CoreId{10u}, CoreId{11u}, CoreId{12u}};
  std::vector<CoreId> both = socket;
  both.back() = CoreId{0u};
  for (const auto& [team, steps] : {std::pair{socket, 3 * 30}, std::pair{both, 30 + 30 + 70}}) {
    const TeamCosts costs = team_costs(machine, team);
    EXPECT_EQ(costs.fork, Time::nanoseconds(500 + 2 * steps));
    EXPECT_EQ(costs.barrier, Time::nanoseconds(500 + 3 * steps));
    EXPECT_EQ(costs.reduction, Time::nanoseconds(4 * steps));
  }
  // Eight threads on two sockets in turn leave the socket in the first of three steps, packed ones in the last.
  std::vector<CoreId> turns, packed;
  for (unsigned thread = 0; thread < 8; ++thread) {
    turns.emplace_back(thread % 2 * 8 + thread / 2);
    packed.emplace_back(thread / 4 * 8 + thread % 4);
  }
  for (const auto& team : {turns, packed}) EXPECT_EQ(team_costs(machine, team).reduction, Time::nanoseconds(4 * (70 + 30 + 30)));
  EXPECT_EQ(team_costs(machine, std::vector<CoreId>{CoreId{0u}}).barrier, Time{});  // nobody to wait for
}

// Sockets of two last levels with four cores each: a signal takes 10 ns within one, 30 ns between two, 70 ns between sockets. Eight threads
// on a socket leave the last level in the last of three steps, sixteen on both leave the socket in the last of four.
TEST(TeamCosts, KnowLastLevelsWithinASocket) {
  Machine machine = small_machine(2, 8, {{0, 1}});
  machine.caches[1].cores_per_cache = 4;
  machine.core_to_core_shared_cache = Time::nanoseconds(10);
  ASSERT_NO_THROW(validate(machine));
  EXPECT_EQ(machine.core_to_core(CoreId{0u}, CoreId{3u}), Time::nanoseconds(10));
  EXPECT_EQ(machine.core_to_core(CoreId{0u}, CoreId{4u}), Time::nanoseconds(30));
  EXPECT_EQ(machine.core_to_core(CoreId{0u}, CoreId{8u}), Time::nanoseconds(70));
  std::vector<CoreId> team;
  for (unsigned core = 0; core < 8; ++core) team.emplace_back(core);
  EXPECT_EQ(team_costs(machine, team).reduction, Time::nanoseconds(10 + 10 + 30));
  for (unsigned core = 8; core < 16; ++core) team.emplace_back(core);
  EXPECT_EQ(team_costs(machine, team).reduction, Time::nanoseconds(10 + 10 + 30 + 70));
}

}  // namespace
}  // namespace homenode
