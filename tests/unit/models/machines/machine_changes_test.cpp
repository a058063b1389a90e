#include "models/machines/machine_changes.hpp"

#include <gmock/gmock.h>

#include "models/machines/machine_file.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/topology.hpp"
#include "tests/unit/models/machines/described_machine.hpp"

namespace homenode {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::ThrowsMessage;

Machine small() { return parse_machine(described_machine, "small.toml").machine; }

TEST(MachineChanges, ChangesAllOfAKindOrOne) {
  const Machine all = with_changes(small(), {{"nodes.latency", "90 ns"}});
  EXPECT_EQ(all.nodes[0].latency, Time::nanoseconds(90));
  EXPECT_EQ(all.nodes[1].latency, Time::nanoseconds(90));
  const Machine one = with_changes(small(), {{"nodes.1.latency", "90 ns"}});
  EXPECT_EQ(one.nodes[0].latency, Time::nanoseconds(60));
  EXPECT_EQ(one.nodes[1].latency, Time::nanoseconds(90));
}

TEST(MachineChanges, TakesShortNamesAndSeveralChanges) {
  const Machine machine =
      with_changes(small(), {{"link_bandwidth", "25 GB/s"}, {"snoop", "directory"}, {"miss_buffers", "12"}, {"caches.2.size", "2 MiB"}});
  EXPECT_EQ(machine.links[0].bandwidth, Bandwidth::bytes_per_second(25e9));
  EXPECT_EQ(machine.snoop, SnoopMode::directory);
  EXPECT_EQ(machine.miss_buffers, 12u);
  EXPECT_EQ(machine.caches[1].size, Bytes{2 << 20});
  // the remote read bandwidth follows: min(20 GB/s, 25 GB/s * 64 / 72, 2 cores * 16 * 64 B / 100 ns) = 20 GB/s
  EXPECT_DOUBLE_EQ((Topology{machine}.read_bandwidth(NodeId{0}, NodeId{1}).bytes_per_second()), 20e9);
}

TEST(MachineChanges, MultipliesByAFactor) {
  const Machine machine = with_changes(
      small(), {{"memory_latency", "x1.5"}, {"link_bandwidth", "x2"}, {"miss_buffers", "x1.25"}, {"controllers.loaded_latency", "x0.5"}});
  EXPECT_EQ(machine.nodes[1].latency, Time::nanoseconds(90));                        // 1.5 x 60 ns
  EXPECT_EQ(machine.links[0].bandwidth, Bandwidth::bytes_per_second(18e9));          // 2 x 9 GB/s
  EXPECT_EQ(machine.miss_buffers, 13u);                                              // 1.25 x 10 = 12.5, rounded
  EXPECT_EQ(machine.controllers[0].loaded_latency[1].extra, Time::nanoseconds(30));  // 0.5 x 60 ns
  EXPECT_EQ(with_changes(small(), {{"miss_buffers", "x0.01"}}).miss_buffers, 1u);
  EXPECT_EQ(with_changes(small(), {{"link_bandwidth", "x1"}}).hash, small().hash);
}

TEST(MachineChanges, NamesAreReplacedAndNeverMultiplied) {
  EXPECT_EQ(with_changes(small(), {{"core.llvm_cpu", " znver3 "}}).core.llvm_cpu, "znver3");
  EXPECT_EQ(with_changes(small(), {{"core.llvm_cpu", ""}}).core.llvm_cpu, "");
  EXPECT_THAT(
      [] {
        with_changes(small(), {{"core.llvm_cpu", "zn ver"}});
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("'zn ver'"), HasSubstr("allowed: "))));
  EXPECT_THAT([] { with_changes(small(), {{"core.llvm_cpu", "x2"}}); }, ThrowsMessage<Error>(HasSubstr("no number")));
}

TEST(MachineChanges, CoreTimeIsTheTimeOfInstructions) {
  const Machine original = small(), machine = with_changes(original, {{"core_time", "x2"}});
  // time = instructions / throughput: twice the time is half of every throughput
  EXPECT_DOUBLE_EQ(machine.core.issue, original.core.issue / 2);
  EXPECT_DOUBLE_EQ(machine.core.divide, 0.025);
  EXPECT_DOUBLE_EQ(machine.core.branch, original.core.branch / 2);
  EXPECT_DOUBLE_EQ(machine.core.block_time, 2 * original.core.block_time);
  EXPECT_EQ(machine.miss_buffers, original.miss_buffers);
  EXPECT_EQ(machine.clock, original.clock);
}

TEST(MachineChanges, AChangedClockTakesTheClocksByCoresAlong) {
  Machine turbo = small();  // 2 GHz
  turbo.clock_by_cores = {{1, Frequency::hertz(3e9)}, {2, Frequency::hertz(2.5e9)}};
  const Machine faster = with_changes(turbo, {{"clock", "2.4 GHz"}});
  EXPECT_DOUBLE_EQ(faster.clock_of(1).hertz(), 3.6e9);  // 2.4 / 2 x 3
  EXPECT_DOUBLE_EQ(faster.clock_of(2).hertz(), 3e9);
  EXPECT_EQ(with_changes(turbo, {{"clock", "x1"}}).hash, with_changes(turbo, {{"clock_by_cores", "x1"}}).hash);
  EXPECT_EQ(with_changes(turbo, {{"clock", "2.4 GHz"}, {"clock_by_cores", ""}}).clock_of(1), Frequency::hertz(2.4e9));
  EXPECT_EQ(with_changes(turbo, {{"clock_by_cores", "2: 2.2 GHz"}}).clock_of(1), Frequency::hertz(2.2e9));
  EXPECT_THAT(
      [&] {
        with_changes(turbo, {{"clock_by_cores", "2 GHz"}});
      },
      ThrowsMessage<UnitError>(AllOf(HasSubstr("'2 GHz' is no point"), HasSubstr("allowed: cores: clock"))));
  EXPECT_THAT(
      [&] {
        with_changes(turbo, {{"clock_by_cores", "x0.1"}});
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("the clock with up to 1 cores at work is 300 MHz"), HasSubstr("from 2 GHz"))));
}

TEST(MachineChanges, ClocksByVectorWidthFollowNarrowerOnes) {
  Machine turbo = small();  // 2 GHz
  turbo.clock_by_cores = {{1, Frequency::hertz(3e9)}, {2, Frequency::hertz(2.5e9)}};
  turbo.clock_by_cores_256 = {{2, Frequency::hertz(2.4e9)}};
  turbo.clock_by_cores_512 = {{1, Frequency::hertz(2.2e9)}, {2, Frequency::hertz(1.5e9)}};
  const auto giga = [](const Machine& machine, unsigned active, VectorWidth width) {
    return machine.clock_of(active, width).hertz() / 1e9;
  };
  const Machine faster = with_changes(turbo, {{"clock", "2.4 GHz"}});
  EXPECT_DOUBLE_EQ(giga(faster, 1, VectorWidth::bits_256), 2.88);  // 2.4 / 2 x 2.4
  EXPECT_DOUBLE_EQ(giga(faster, 2, VectorWidth::bits_512), 1.8);
  // All code at 2.2 GHz, but what is slower already.
  const Machine fixed = with_changes(turbo, {{"clock", "2.2 GHz"}, {"clock_by_cores", ""}});
  EXPECT_DOUBLE_EQ(giga(fixed, 1, VectorWidth::bits_256), 2.2);
  EXPECT_DOUBLE_EQ(giga(fixed, 1, VectorWidth::bits_512), 2.2);   // 2.42, cut
  EXPECT_DOUBLE_EQ(giga(fixed, 2, VectorWidth::bits_512), 1.65);  // 2.2 / 2 x 1.5
  // A factor, as a sampled machine has it, is cut as well; a table that is given in full is held to the rule.
  EXPECT_DOUBLE_EQ(giga(with_changes(turbo, {{"clock_by_cores_256", "x1.2"}}), 2, VectorWidth::bits_256), 2.5);
  EXPECT_DOUBLE_EQ(giga(with_changes(turbo, {{"clock_by_cores_512", ""}}), 2, VectorWidth::bits_512), 2.4);
  EXPECT_THAT(
      [&] {
        with_changes(turbo, {{"clock_by_cores_512", "2: 2.45 GHz"}});
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("clock_by_cores_512"), HasSubstr("to 2.4 GHz"))));
}

TEST(MachineChanges, MemoryTimeIsTheTimeOfCachesMemoryAndLinks) {
  const Machine original = small(), machine = with_changes(original, {{"memory_time", "x2"}});
  EXPECT_EQ(machine.nodes[0].latency, 2 * original.nodes[0].latency);
  EXPECT_EQ(machine.caches[0].latency, 2 * original.caches[0].latency);
  EXPECT_EQ(machine.links[0].latency, 2 * original.links[0].latency);
  EXPECT_DOUBLE_EQ(machine.controllers[0].read_only.bytes_per_second(), original.controllers[0].read_only.bytes_per_second() / 2);
  EXPECT_DOUBLE_EQ(machine.links[0].bandwidth.bytes_per_second(), original.links[0].bandwidth.bytes_per_second() / 2);
  EXPECT_EQ(machine.core.issue, original.core.issue);
  EXPECT_EQ(machine.barrier_base, original.barrier_base);
  EXPECT_THAT(memory_time_names(original), testing::AllOf(testing::Contains("nodes.latency"), testing::Contains("links.bandwidth"),
                                                          testing::Not(testing::Contains("core.issue"))));
}

TEST(MachineChanges, AllTimesScaleWhatOtherChangesSet) {
  for (const char* name : {"memory_latency", "nodes.latency", "nodes.0.latency"})
    EXPECT_EQ(with_changes(small(), {{name, "150 ns"}, {"memory_time", "x2"}}).nodes[0].latency, Time::nanoseconds(300)) << name;
}

TEST(MachineChanges, RefusesFactorsThatAreNone) {
  for (const char* text : {"x", "x0", "x-2", "xinf", "x2 ns"}) {
    EXPECT_THAT(
        [&] {
          with_changes(small(), {{"link_latency", text}});
        },
        ThrowsMessage<UnitError>(
            AllOf(HasSubstr("parameter 'link_latency'"), HasSubstr("is no factor; allowed: x and a positive number"))));
  }
  EXPECT_THAT([] { with_changes(small(), {{"core_time", "2"}}); }, ThrowsMessage<UnitError>(HasSubstr("'2' is no factor")));
  EXPECT_THAT([] { with_changes(small(), {{"snoop", "x2"}}); }, ThrowsMessage<UnitError>(HasSubstr("'source' is no number")));
}

TEST(MachineChanges, GivesTheChangedMachineItsOwnHashAndLeavesTheOriginalAlone) {
  const Machine original = small();
  const Machine changed = with_changes(original, {{"link_bandwidth", "25 GB/s"}});
  EXPECT_NE(changed.hash, original.hash);
  EXPECT_EQ(original.links[0].bandwidth, Bandwidth::bytes_per_second(9e9));
  EXPECT_EQ(with_changes(changed, {{"link_bandwidth", "9 GB/s"}}).hash, original.hash);
}

TEST(MachineChanges, RefusesUnknownNamesAndTellsTheNearest) {
  EXPECT_THAT(
      [] {
        with_changes(small(), {{"link_bandwith", "25 GB/s"}});
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("unknown parameter of machine 'small' 'link_bandwith'; did you mean 'link_bandwidth', "),
                                      HasSubstr("'links.0.bandwidth'"), HasSubstr("'homenode machines small --changeable' lists them"))));
  EXPECT_THAT(
      [] {
        with_changes(small(), {{"links.1.bandwidth", "25 GB/s"}});
      },
      ThrowsMessage<UsageError>(HasSubstr("'links.1.bandwidth'")));
  EXPECT_THAT([] { with_changes(small(), {{"hubs", "4"}}); }, ThrowsMessage<UsageError>(HasSubstr("unknown parameter")));
}

TEST(MachineChanges, RefusesValuesThatAreNone) {
  EXPECT_THAT(
      [] {
        with_changes(small(), {{"link_bandwidth", "25"}});
      },
      ThrowsMessage<UnitError>(
          AllOf(HasSubstr("parameter 'link_bandwidth' of machine 'small'"), HasSubstr("its unit is missing"), HasSubstr("GB/s"))));
  EXPECT_THAT([] { with_changes(small(), {{"snoop", "none"}}); }, ThrowsMessage<UnitError>(HasSubstr("source, home, directory")));
}

TEST(MachineChanges, RefusesMachinesThatMakeNoSense) {
  EXPECT_THAT(
      [] {
        with_changes(small(), {{"caches.2.size", "16 KiB"}});
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("the changed machine 'small'"), HasSubstr("more than the 32 KiB"))));
}

TEST(MachineChanges, EveryNameItListsIsTaken) {
  const Machine machine = small();
  const std::vector<std::string> names = changeable_names(machine);
  EXPECT_THAT(names, Contains("caches.2.ways"));
  EXPECT_THAT(names, Contains("controllers.read_only"));
  for (const std::string& name : names) {
    try {
      with_changes(machine, {{name, "?"}});
      ADD_FAILURE() << name << " takes '?'";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("parameter '" + name + "' of machine")) << "known, but '?' is no value";
    }
  }
}

}  // namespace
}  // namespace homenode
