// From figures to a description: made-up figures of a made-up host of two cores. Nothing is measured.
#include "models/machines/native/describe_host.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "models/machines/machine_fields.hpp"
#include "models/machines/machine_writer.hpp"
#include "models/machines/native/detect.hpp"
#include "sim/machine/random_sweep.hpp"

namespace homenode {
namespace {

using native::Kernel;
using native::Kind;
using testing::HasSubstr;

constexpr double hit = 14, memory = 120;  // ns, of the last level and behind it

// 4 GHz; L3 32 MiB by what hwloc tells; a write fault 1200 ns; everything settled unless a test adds passes.
struct Host {
  MachineFile detected =
      detect_synthetic("pack:1 [numa(memory=8589934592)] l3:1(size=33554432) l2:2(size=1048576) l1d:1(size=49152) core:1 pu:1");
  CalibrationOptions options{.largest_working_set = Bytes{512 << 20}, .array = Bytes{256 << 20}};
  CalibrationPlan plan = calibration_plan(detected.machine, options, 24e9, 2);
  native::Figures figures;
  std::map<std::string, double> values;

  explicit Host(double served = 32 << 20) {
    values[figure::clock] = 4e9;
    values[figure::throughput("issue")] = 24e9;
    for (const std::size_t set : plan.working_sets) {
      const double share = std::min(1.0, served / static_cast<double>(set));
      values[figure::latency(set)] = set <= (32 << 10) ? 1 : set <= (1 << 20) ? 4 : hit * share + memory * (1 - share);
    }
    values[figure::misses_in_flight] = 16;
    for (const std::size_t level : {1, 2}) values[figure::delivery(level)] = 100e9;
    values[figure::same_set(1)] = 1.8;
    values[figure::same_set(2)] = 5;
    for (const Kernel kernel : {Kernel::read, Kernel::copy_regular, Kernel::copy_nontemporal, Kernel::triad}) {
      values[figure::bandwidth(kernel, 1)] = 20e9;
      values[figure::bandwidth(kernel, 2)] = 36e9;
    }
    for (const Kernel kernel : {Kernel::write_regular, Kernel::write_nontemporal, Kernel::update})
      values[figure::bandwidth(kernel, 1)] = 18e9;
    for (const unsigned streams : plan.streams) values[figure::streams(streams)] = streams == 4 ? 25e9 : 20e9;
    for (std::size_t level = 0; level <= 3; ++level)
      for (const unsigned cycles : plan.composed_cycles)
        values[figure::composed(level, cycles)] =
            std::max(0.25 * std::max(cycles, 1u), level == 0 ? 0.25 : 1.0 * static_cast<double>(level));
    values[figure::loads(0)] = 0.7;
    values[figure::loads(1)] = 0.71;
    values[figure::core_to_core_near] = values[figure::core_to_core_far] = 40;
    values[figure::barrier(2)] = 100;
    values[figure::fault] = 1200;
    values[figure::contended_fault] = 2200;
    values[figure::cold_fault] = 2000;
    values[figure::read_fault] = 600;
    values[figure::rewrite_fault] = 1190;
    values[figure::fresh_line] = 4;
    values[figure::huge_fault] = 70e3;
    values[figure::context_switch] = 1500;
    values[figure::map] = 3600;
    values[figure::unmap_page] = 200;
    values[figure::task_call] = 12;
    values[figure::task_create] = 38;
    values[figure::task_take] = 22;
    for (const double idle : plan.idle_microseconds) values[figure::wakeup(idle)] = idle < 500 ? 12e3 : 28e3;
  }
  MachineFile describe(const std::string& disturbed = {}) {
    for (const auto& [name, value] : values)
      for (unsigned pass = 0; pass < 5; ++pass) figures.add(name, value, Kind::other, name == disturbed ? "others were busy" : "");
    MachineFile file = describe_host(detected, {figures, plan, options.settling});
    const MachineFile again = parse_machine(write_machine_toml(file.machine, file.parameters), "again.toml");
    EXPECT_EQ(again.machine.hash, file.machine.hash);
    return file;
  }
};

MachineParameter parameter(const MachineFile& file, const std::string& path) {
  const auto found = std::find_if(file.parameters.begin(), file.parameters.end(), [&](const auto& p) { return p.path == path; });
  if (found == file.parameters.end()) throw std::logic_error("no parameter " + path);
  return *found;
}

TEST(DescribeHost, PutsFiguresInThePlaceOfGuesses) {
  const MachineFile file = Host{}.describe();
  const Machine& machine = file.machine;
  EXPECT_EQ(machine.clock, Frequency::hertz(4e9));
  EXPECT_EQ(machine.core.issue, 6);                                 // 24 / 4
  EXPECT_EQ(machine.nodes[0].latency, Time::picoseconds(113'375));  // 512 MiB, of which 32 are served: 14 / 16 + 120 x 15 / 16
  EXPECT_EQ(machine.caches[1].same_set, Time::picoseconds(1800));
  EXPECT_EQ(machine.caches[2].same_set, Time::picoseconds(5000));
  EXPECT_EQ(parameter(file, "clock").confidence, "A");
}

// A core that runs at 4 GHz, and at 4.2 for a moment: what is counted within that moment is of 4.2.
TEST(DescribeHost, InstructionsAreCountedByTheClockBesideThem) {
  Host host;
  host.values[figure::short_clock] = 4.2e9;
  host.values[figure::throughput("issue")] = 25.2e9;
  host.values[figure::misprediction] = 5;
  const MachineFile file = host.describe();
  EXPECT_EQ(file.machine.clock, Frequency::hertz(4e9));
  EXPECT_NEAR(file.machine.core.issue, 6, 1e-6);
  EXPECT_NEAR(file.machine.core.misprediction, 21, 1e-6);
  EXPECT_THAT(parameter(file, "clock").note, HasSubstr("4.200 GHz"));
}

// Of three kinds of work the mean is 1.5, 2 and 1 times the least. Without figures, as on other cores than x86-64, nobody is there, and the
// description has the hash of one that does not know of this.
TEST(DescribeHost, WhatOthersLeaveOfACoreIsTheMeanOverTheLeast) {
  Host host;
  for (const auto& [kind, mean] : std::map<std::string, double>{{"integer", 1.5}, {"load", 2}, {"dispatch", 1}}) {
    host.values[figure::unit_mean(kind)] = 3000 * mean;
    host.values[figure::unit_least(kind)] = 3000;
  }
  const MachineFile file = host.describe(), without = Host{}.describe();
  EXPECT_DOUBLE_EQ(file.machine.core.smt_slowdown, 1.5);
  EXPECT_EQ(file.machine.core.smt_fetch_slowdown, 1);
  EXPECT_NE(file.machine.hash, without.machine.hash);
  EXPECT_EQ(without.machine.core.smt_slowdown, 1);
  Machine copy = file.machine;
  copy.core.smt_slowdown = 1;
  EXPECT_EQ(machine_hash(copy), without.machine.hash);
}

// A line takes 0.64 ns from the second level (100 GB/s), and eight loads 0.7 ns in the first.
TEST(DescribeHost, LinesThatKeepLoadsWaitingShow) {
  const auto share = [](double from_second) {
    Host host;
    host.values[figure::loads(1)] = from_second;
    return host.describe().machine.fill_serial;
  };
  EXPECT_EQ(share(0.7), 0);
  EXPECT_EQ(share(0.73), 0);  // within 5 %
  EXPECT_NEAR(share(1.02), 0.5, 1e-6);
  EXPECT_NEAR(share(1.34), 1, 1e-6);
  EXPECT_EQ(share(2), 1);
}

TEST(DescribeHost, ALevelDeliversWhatOneLoadALineShows) {
  Host host;
  host.values[figure::composed(1, 0)] = 0.5;
  EXPECT_EQ(host.describe().machine.caches[1].bandwidth_per_core, Bandwidth::bytes_per_second(128e9));
  EXPECT_EQ(Host{}.describe().machine.caches[1].bandwidth_per_core, Bandwidth::bytes_per_second(100e9));
}

// 48 KiB in 12 ways: 64 sets. Eight times the first level is 96 lines of one set, half of the last level 4096; the second level holds 256.
TEST(CalibrationPlan, LinesOfOneSetLieInTheLevelThatIsMeasured) {
  Host host;
  host.detected.machine.caches[0].ways = 12;
  const CalibrationPlan plan = calibration_plan(host.detected.machine, host.options, 24e9, 2);
  EXPECT_EQ(plan.set_period, 4096u);
  EXPECT_EQ(plan.same_set_lines, (std::vector<std::size_t>{96, 2048}));
}

TEST(CalibrationPlan, WarmPagesLieInNoLevelInsideTheLast) {
  Host host;
  std::vector<CacheDescription>& caches = host.detected.machine.caches;
  EXPECT_EQ(warm_memory(host.detected.machine).many, std::size_t{8} << 20);  // eight times the second level
  caches[2].size = Bytes{6 << 20};                                           // what neighbours leave of the last level plays no part
  EXPECT_EQ(warm_memory(host.detected.machine).many, std::size_t{8} << 20);
  caches.resize(1);
  EXPECT_EQ(warm_memory(host.detected.machine).many, std::size_t{1} << 20);
  caches.clear();
  EXPECT_EQ(warm_memory(host.detected.machine).few, std::size_t{64} << 10);  // a page at least, of any size in use
}

TEST(DescribeHost, AMachineKnowsItsOwnSystem) {
  const MachineFile file = Host{}.describe();
  ASSERT_TRUE(file.machine.system.has_value());
  const OperatingSystem& system = *file.machine.system;
  // two threads at once take 2200 ns each: the lock holds each fault for 1100 of its 1200
  EXPECT_EQ(system.fault.serial, Time::nanoseconds(1100));
  EXPECT_EQ(system.fault.parallel, Time::nanoseconds(100));
  EXPECT_EQ(system.fault.huge, Time::nanoseconds(70'000));
  EXPECT_EQ(system.fault.cold, Time::nanoseconds(900));  // 2000 less the lock
  // each figure is open by 3 %: a fault alone takes 1164 to 1236, whichever part is drawn
  EXPECT_EQ(parameter(file, "system.faults.parallel").low, "64 ns");
  EXPECT_EQ(parameter(file, "system.faults.parallel").high, "136 ns");
  EXPECT_EQ(parameter(file, "system.faults.serial").low, "1.067 us");
  EXPECT_EQ(system.scheduler.context_switch, Time::nanoseconds(1500));
  EXPECT_EQ(system.scheduler.wakeup, Time::nanoseconds(12'000));
  EXPECT_EQ(system.scheduler.deep_wakeup, Time::nanoseconds(28'000));
  EXPECT_EQ(system.mapping.call, Time::nanoseconds(1800));
  EXPECT_EQ(system.mapping.page, Time::nanoseconds(200));
  EXPECT_EQ(system.tasks.call, Time::nanoseconds(12));
  EXPECT_EQ(system.tasks.create, Time::nanoseconds(38));
  EXPECT_EQ(system.tasks.take, Time::nanoseconds(22));
  EXPECT_EQ(system.migration.fixed, OperatingSystem{}.migration.fixed);
  EXPECT_EQ(parameter(file, "system.faults.parallel").confidence, "A");
  EXPECT_THAT(parameter(file, "system.faults.parallel").note, HasSubstr("1200 ns with its zeroing"));
  EXPECT_THAT(parameter(file, "system.faults.parallel").note, HasSubstr("one of its lines right after, 4 ns"));
}

TEST(DescribeHost, OneCoresOwnLimitsAreItsBestStreamsAndStores) {
  const MachineFile file = Host{}.describe();
  EXPECT_EQ(file.machine.read_bandwidth, Bandwidth::bytes_per_second(25e9));  // four streams
  EXPECT_EQ(file.machine.write_bandwidth, Bandwidth::bytes_per_second(18e9));
  EXPECT_EQ(file.machine.nontemporal_bandwidth, Bandwidth::bytes_per_second(18e9));
}

TEST(DescribeHost, StreamsAndStoresUnderWayAreToldByTheirTimes) {
  const MachineFile all = Host{}.describe();
  EXPECT_EQ(all.machine.prefetch_streams, 0u);
  EXPECT_THAT(parameter(all, "core.prefetch_streams").note, HasSubstr("all are followed"));
  // 18 GB/s x (113.375 - 27) ns / 64 B
  EXPECT_EQ(all.machine.write_combining_buffers, 24u);
  // 16 of n are followed: a line takes 2.56 ns, as at 25 GB/s, or 120 ns / 16 buffers less what the last level serves, 7.09 ns.
  Host host;
  for (const unsigned streams : host.plan.streams) {
    const double share = std::min(1.0, 16.0 / streams), followed = 64 / 25e9 * 1e9, demand = 113.375 / 16;
    host.values[figure::streams(streams)] = 64 / (share * followed + (1 - share) * demand) * 1e9;
  }
  const MachineFile some = host.describe();
  EXPECT_EQ(some.machine.prefetch_streams, 16u);
  EXPECT_EQ(parameter(some, "core.prefetch_streams").confidence, "A");
}

TEST(DescribeHost, TheLargestStrideThatIsFollowedIsToldByTimesOfLoads) {
  // A line of four streams takes 64 B / 25 GB/s = 2.56 ns, one that the core asks for 113.375 ns / 16 = 7.09 ns: half way is 4.82 ns.
  Host host;
  for (const std::size_t stride : host.plan.strides) host.values[figure::strided(stride)] = stride <= 256 ? 3 : 7;
  const MachineFile file = host.describe();
  EXPECT_EQ(file.machine.prefetch_stride_limit, Bytes{256});
  EXPECT_EQ(parameter(file, "core.prefetch_stride_limit").confidence, "A");
  EXPECT_THAT(parameter(file, "core.prefetch_stride_limit").note, HasSubstr("256 B: 3 ns, 512 B: 7 ns"));
  // Not measured, or a core that is as fast by itself: what the detected machine assumes stays.
  EXPECT_TRUE(parameter(Host{}.describe(), "core.prefetch_stride_limit").assumed);
  host.values[figure::misses_in_flight] = 64;  // at most 162 ns / 64 = 2.53 ns a line
  EXPECT_TRUE(parameter(host.describe(), "core.prefetch_stride_limit").assumed);
}

TEST(DescribeHost, LinesThatTheCoreAsksForItselfAreToldByAPageReadAlone) {
  // Lines of 2.56 and 7.09 ns as above: 24 of 64 by the core are (24 x 7.0859 + 40 x 2.56) / 64 = 4.2572 ns a line.
  Host host;
  host.values[figure::run] = 4.2572;
  const MachineFile file = host.describe();
  EXPECT_EQ(file.machine.prefetch_trigger, 24u);
  EXPECT_THAT(parameter(file, "core.prefetch_trigger").note, HasSubstr("a line of 64 in a row at random places"));
  EXPECT_TRUE(parameter(Host{}.describe(), "core.prefetch_trigger").assumed);
}

TEST(DescribeHost, NodesAndLinksAreWhatWasMeasuredBetweenThem) {
  Host host;
  host.detected = detect_synthetic("pack:2 [numa(memory=8589934592)] l3:1(size=33554432) l2:2(size=1048576) l1d:1(size=49152) core:1 pu:1");
  host.values[figure::node_latency(0, 0)] = 80;
  host.values[figure::node_latency(1, 1)] = 90;
  host.values[figure::node_latency(0, 1)] = 150;
  host.values[figure::node_latency(1, 0)] = 160;
  host.values[figure::socket_bandwidth(0, 1)] = 16e9;
  host.values[figure::socket_bandwidth(1, 0)] = 15e9;
  const MachineFile file = host.describe();
  EXPECT_EQ(file.machine.nodes[0].latency, Time::nanoseconds(80));
  EXPECT_EQ(file.machine.nodes[1].latency, Time::nanoseconds(90));
  ASSERT_EQ(file.machine.links.size(), 1u);
  EXPECT_EQ(file.machine.links[0].latency, Time::nanoseconds(70));  // mean of 150 - 90 and 160 - 80
  // 16 GB/s of lines of 64 B, each a message of 72 B
  EXPECT_EQ(file.machine.links[0].bandwidth, Bandwidth::bytes_per_second(18e9));
  EXPECT_EQ(parameter(file, "links.0.latency").confidence, "A");
  EXPECT_FALSE(parameter(file, "links.0.latency").assumed);
}

TEST(DescribeHost, NoiseMakesNoLinkThatTakesNoTime) {
  Host host;
  host.detected = detect_synthetic("pack:2 [numa(memory=8589934592)] l3:1(size=33554432) l2:2(size=1048576) l1d:1(size=49152) core:1 pu:1");
  for (const std::size_t from : {0, 1})
    for (const std::size_t to : {0, 1}) host.values[figure::node_latency(from, to)] = from == to ? 90 : 85;  // as an emulator has it
  EXPECT_EQ(host.describe().machine.links[0].latency, Time::picoseconds(1));
}

TEST(DescribeHost, NodesOfASocketAreAsFarApartAsWasMeasured) {
  Host host;
  host.detected =
      detect_synthetic("pack:1 group:2 [numa(memory=8589934592)] l3:1(size=33554432) l2:1(size=1048576) l1d:1(size=49152) core:1 pu:1");
  for (const std::size_t node : {0, 1}) host.values[figure::node_latency(node, node)] = 85;
  host.values[figure::node_latency(0, 1)] = 95;
  host.values[figure::node_latency(1, 0)] = 99;
  const MachineFile file = host.describe();
  EXPECT_EQ(file.machine.between_nodes_of_socket, Time::nanoseconds(12));  // mean of 95 - 85 and 99 - 85
}

TEST(DescribeHost, DisturbedFiguresAreNeverOfConfidenceA) {
  const MachineFile file = Host{}.describe(figure::fault);
  EXPECT_EQ(parameter(file, "system.faults.parallel").confidence, "C");
  EXPECT_THAT(parameter(file, "system.faults.parallel").source, HasSubstr("while others were busy"));
  EXPECT_EQ(parameter(file, "core.read_bandwidth").confidence, "A");
}

TEST(DescribeHost, ManyThreadsNeverMoveLessThanOne) {
  Host host;
  host.values[figure::bandwidth(Kernel::read, 2)] = 11.4e9;  // as two disturbed calibrations had it
  host.values[figure::bandwidth(Kernel::copy_nontemporal, 2)] = 14.2e9;
  const MachineFile file = host.describe();
  EXPECT_EQ(file.machine.controllers[0].read_only, Bandwidth::bytes_per_second(25e9));  // not below one core's
  EXPECT_EQ(file.machine.controllers[0].one_to_one, Bandwidth::bytes_per_second(20e9));
  EXPECT_EQ(parameter(file, "controllers.0.one_to_one").confidence, "C");
  EXPECT_THAT(parameter(file, "controllers.0.one_to_one").source, HasSubstr("2 threads moved less together than 1 alone"));
}

TEST(DescribeHost, TheCacheThatIsThereStandsBesideTheOneThatIsTold) {
  const MachineFile whole = Host{}.describe();
  EXPECT_EQ(whole.machine.caches[2].size, Bytes{32 << 20});
  EXPECT_THAT(parameter(whole, "caches.3.size").note, HasSubstr("the size that hwloc tells is used; loads are served as by"));
  const MachineFile share = Host{8 << 20}.describe();
  EXPECT_NEAR(static_cast<double>(share.machine.caches[2].size.count()), 8 << 20, 1 << 19);
  EXPECT_THAT(parameter(share, "caches.3.size").note, HasSubstr("what is really there is used; hwloc tells 32 MiB"));
  EXPECT_EQ(parameter(share, "caches.3.size").confidence, "A");
}

// A buffer of 16 ways and 128 sets that counting found to reach 1024 pages; misses that overlap two at a time.
TEST(DescribeHost, ATranslationBufferHasWhatItsSetsHold) {
  const auto described = [](double ways, double sets, double folded) {
    Host host;
    host.values["tlb/page"] = 4096;
    host.values[figure::tlb_entries] = 1024;
    host.values[figure::tlb_miss] = 20;
    host.values[figure::tlb_independent] = 10;
    host.values[figure::tlb_ways] = ways;
    host.values[figure::tlb_sets] = sets;
    host.values[figure::tlb_folded] = folded;
    return host.describe().machine.tlb;
  };
  const TlbDescription folded = described(16, 128, 1);
  EXPECT_EQ(folded.entries, 2048u);
  EXPECT_EQ(folded.ways, 16u);
  EXPECT_EQ(folded.index, TlbIndex::folded);
  EXPECT_EQ(folded.walks, 2);
  EXPECT_EQ(described(17, 128, 1).ways, 16u);  // no such number
  EXPECT_EQ(described(5, 256, 0).ways, 5u);
  EXPECT_EQ(described(4, 256, 0).index, TlbIndex::low);
  for (const TlbDescription& unknown : {described(0, 0, 0), described(16, 512, 1), described(16, 192, 1), described(16, 128, 0.5)}) {
    EXPECT_EQ(unknown.entries, 1024u);
    EXPECT_EQ(unknown.ways, 0u);
    EXPECT_EQ(unknown.index, TlbIndex::low);
  }
}

TEST(DescribeHost, ATranslationBufferHasWhatOthersLeaveOfIt) {
  const auto described = [](double ways, double left) {
    Host host;
    host.values.insert({{"tlb/page", 4096}, {figure::tlb_entries, 1024}, {figure::tlb_miss, 20}, {figure::tlb_ways, ways}});
    host.values.insert({{figure::tlb_sets, 128}, {figure::tlb_folded, 0}, {figure::tlb_reach, left}, {figure::tlb_first, 64}});
    host.values.insert({{figure::tlb_first_miss, 2.3}, {figure::tlb_first_independent, 0.5}});
    return host.describe();
  };
  const MachineFile file = described(16, 1450);
  EXPECT_EQ(file.machine.tlb.entries, 11u * 128);
  EXPECT_EQ(file.machine.tlb.ways, 11u);
  EXPECT_THAT(parameter(file, "tlb.ways").note, HasSubstr("in a few sets 16"));
  EXPECT_EQ(file.machine.tlb.first_entries, 64u);
  EXPECT_EQ(file.machine.tlb.first_miss_penalty, Time::picoseconds(2300));
  EXPECT_NEAR(file.machine.tlb.first_misses, 4.6, 1e-6);
  EXPECT_EQ(described(16, 2048).machine.tlb.entries, 2048u);
  EXPECT_EQ(described(0, 1408).machine.tlb.entries, 1408u);  // no sets are known
}

// Latencies beyond the size that the level is said to have, as of sets whose translations are at hand, tell nothing of it.
TEST(DescribeHost, ALastLevelThatDoesNotAlwaysServeItsSetIsToldByHalfOfIt) {
  Host host;
  const std::string of_set = figure::latency(4 << 20), of_half = figure::latency(2 << 20);
  host.values.erase(of_set);
  for (const double nanoseconds : {15., 30., 36., 90., 150.}) host.figures.add(of_set, nanoseconds, Kind::other, "");
  host.values[of_half] = 13;
  const MachineFile file = host.describe();
  EXPECT_EQ(file.machine.caches[2].latency, Time::nanoseconds(13));
  EXPECT_THAT(parameter(file, "caches.3.latency").note, HasSubstr("2 MiB"));
}

TEST(DescribeHost, SetsBeyondTheWholeLevelSayNothingOfIt) {
  Host host{8 << 20};
  host.values[figure::latency(64 << 20)] = (hit + memory) / 2;  // as by 32 MiB
  EXPECT_NEAR(static_cast<double>(host.describe().machine.caches[2].size.count()), 8 << 20, 1 << 19);
}

// A virtual machine's translations take longer and longer in large sets, and hwloc tells it of a last level that is as large as those.
TEST(DescribeHost, TranslationsOfLargeSetsAreTakenForNoHits) {
  Host host{8 << 20};
  host.detected =
      detect_synthetic("pack:1 [numa(memory=8589934592)] l3:1(size=134217728) l2:2(size=1048576) l1d:1(size=49152) core:1 pu:1");
  host.plan = calibration_plan(host.detected.machine, host.options, 24e9, 2);
  constexpr double at_hand = 100, walked = 40;  // ns behind the last level; what walks add in the end
  for (const std::size_t set : host.plan.working_sets) {
    if (set <= 1 << 20) continue;
    const double bytes = static_cast<double>(set), share = std::min(1.0, (8 << 20) / bytes);
    const double walks = walked * std::clamp(std::log2(bytes / (192 << 20)), 0.0, 1.0);
    host.values[figure::latency(set)] = hit * share + at_hand * (1 - share) + walks;
  }
  const MachineFile file = host.describe();
  EXPECT_NEAR(static_cast<double>(file.machine.caches[2].size.count()), 8 << 20, 3 << 20);  // 45 MiB against the latency over 512
  EXPECT_NEAR(file.machine.nodes[0].latency.nanoseconds(), at_hand, 10);                    // over 512 MiB it is 139
}

// Loads that do not wait for each other come back to a line before neighbours have pushed it out.
TEST(DescribeHost, TheLastLevelIsAsLargeAsIndependentLoadsFindIt) {
  Host host{8 << 20};
  EXPECT_EQ(host.plan.independent_sets.front(), 2u << 20);
  EXPECT_EQ(host.plan.independent_sets.back(), 32u << 20);
  for (const std::size_t set : host.plan.independent_sets) {
    const double share = std::min(1.0, static_cast<double>(12 << 20) / static_cast<double>(set));
    host.values[figure::independent(set)] = 2 * share + 20 * (1 - share);
  }
  host.values[figure::independent(host.plan.gathered_set)] = 20;
  const MachineFile file = host.describe();
  EXPECT_NEAR(static_cast<double>(file.machine.caches[2].size.count()), 12 << 20, 1 << 19);
  const MachineParameter size = parameter(file, "caches.3.size");
  EXPECT_THAT(size.note, HasSubstr("dependent ones as by"));
  ASSERT_TRUE(size.low.has_value());
  EXPECT_THAT(*size.low, HasSubstr("KiB"));
  EXPECT_LT(std::stoi(*size.low), 9 << 10);  // as dependent loads find it
}

// Sweeps over a last level that is filled by evictions and has 1 MiB inside it.
void keep_by(Host& host, double bytes, const std::function<double(double)>& hits) {
  for (const std::size_t set : host.plan.working_sets) {
    if (set < host.plan.level_sets.back()) continue;
    const double share = hits((static_cast<double>(set) - (1 << 20)) / bytes);
    host.values[figure::latency(set)] = hit * share + memory * (1 - share);
  }
}

TEST(DescribeHost, RandomVictimsAreFoundWithTheSizeThatGoesWithThem) {
  Host share;
  keep_by(share, 10 << 20, random_sweep_hits);
  const MachineFile file = share.describe();
  EXPECT_EQ(file.machine.caches[2].victim, Victim::random);
  EXPECT_NEAR(static_cast<double>(file.machine.caches[2].size.count()), 10 << 20, 0.03 * (10 << 20));
  EXPECT_EQ(parameter(file, "caches.3.victim").confidence, "A");
  EXPECT_THAT(parameter(file, "caches.3.victim").note, HasSubstr("random 0.0"));
  EXPECT_THAT(parameter(file, "caches.3.size").note, HasSubstr("with random victims"));
  // Of a whole cache with random victims no share is taken off, though 24 of 32 MiB fit already no more than in part by sets.
  Host whole;
  keep_by(whole, 31 << 20, random_sweep_hits);
  const MachineFile told = whole.describe();
  EXPECT_EQ(told.machine.caches[2].victim, Victim::random);
  EXPECT_EQ(told.machine.caches[2].size, Bytes{32 << 20});
}

TEST(DescribeHost, AnLruCacheStaysOne) {
  Host host;
  keep_by(host, 10 << 20, [](double ratio) { return ratio <= 1 ? 1.0 : 0.0; });
  const MachineFile file = host.describe();
  EXPECT_EQ(file.machine.caches[2].victim, Victim::oldest);
  EXPECT_EQ(parameter(file, "caches.3.victim").confidence, "A");
}

TEST(DescribeHost, WhereNoLawFitsItSaysSo) {
  const MachineFile file = Host{10 << 20}.describe();  // keeps as much as can be kept
  EXPECT_EQ(file.machine.caches[2].victim, Victim::oldest);
  EXPECT_EQ(parameter(file, "caches.3.victim").confidence, "C");
  EXPECT_THAT(parameter(file, "caches.3.victim").source, HasSubstr("unsettled: neither law fits"));
}

TEST(DescribeHost, ACacheThatHalvesBetweenPassesIsNotOfConfidenceA) {
  Host host{8 << 20};
  Host other{4 << 20};
  for (const std::size_t set : host.plan.working_sets)
    for (unsigned pass = 0; pass < 3; ++pass) host.figures.add(figure::latency(set), other.values[figure::latency(set)], Kind::other);
  const MachineParameter size = parameter(host.describe(), "caches.3.size");
  EXPECT_EQ(size.confidence, "C");
  EXPECT_THAT(size.source, HasSubstr("unsettled"));
}

TEST(DescribeHost, SaysHowComputingAndTransfersCompose) {
  const MachineFile file = Host{}.describe();
  EXPECT_EQ(file.machine.overlap, Overlap::full);
  EXPECT_THAT(parameter(file, "core.overlap").note, HasSubstr("memory 0.00; mean error as full 0.0 %"));
}

// A description's assumed DIMMs would take 27 ns of 120, and more than all of 24.
TEST(DescribeHost, AssumedDimmsTakeAtMostHalfOfTheMeasuredLatency) {
  const Machine far = Host{}.describe().machine;
  EXPECT_EQ(far.dram.activate, DramDescription{}.activate);
  Host near;
  for (const std::size_t set : near.plan.working_sets)
    near.values[figure::latency(set)] = std::min(near.values[figure::latency(set)], 24.0);
  const MachineFile file = near.describe();
  EXPECT_EQ(file.machine.dram.activate + file.machine.dram.column, Time::nanoseconds(12));
  const MachineParameter activate = parameter(file, "dram.activate");
  EXPECT_TRUE(activate.assumed);
  EXPECT_EQ(activate.value, "6 ns");
  EXPECT_THAT(activate.note, HasSubstr("at most half the latency that was measured, 24 ns"));
}

TEST(CalibrationPlan, DependsOnNothingThatIsMeasured) {
  const Host host;
  EXPECT_EQ(host.plan.working_sets.front(), 8u << 10);
  EXPECT_EQ(host.plan.working_sets.back(), 512u << 20);
  EXPECT_THAT(host.plan.level_sets, testing::ElementsAre(16u << 10, 512u << 10, 4u << 20));  // half; the last 4 x the one inside
  EXPECT_EQ(host.plan.memory_set, 512u << 20);                                               // 16 x the last level
  EXPECT_THAT(host.plan.threads, testing::ElementsAre(1u, 2u));
}

}  // namespace
}  // namespace homenode
