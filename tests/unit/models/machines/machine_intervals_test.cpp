#include "models/machines/machine_intervals.hpp"

#include <gmock/gmock.h>

#include "models/machines/machine_changes.hpp"
#include "models/machines/machine_fields.hpp"
#include "models/machines/machine_file.hpp"
#include "tests/unit/models/machines/described_machine.hpp"

namespace homenode {
namespace {

using testing::ElementsAre;

UncertainValue found(const std::vector<UncertainValue>& all, const std::string& name) {
  for (const UncertainValue& uncertain : all)
    if (uncertain.name == name) return uncertain;
  ADD_FAILURE() << "no uncertain value '" << name << "'";
  return {};
}

std::vector<UncertainValue> small(const std::string& old_part = "schema", const std::string& new_part = "schema") {
  return uncertain_values(parse_machine(with_line(old_part, new_part), "small.toml"));
}

TEST(MachineIntervals, TakesStatedBounds) {
  const UncertainValue latency = found(small(), "nodes.latency");
  EXPECT_EQ(latency.value, "60 ns");
  EXPECT_EQ(latency.low, "50 ns");
  EXPECT_EQ(latency.high, "70 ns");
  EXPECT_DOUBLE_EQ(latency.low_factor, 50.0 / 60);
  EXPECT_DOUBLE_EQ(latency.high_factor, 70.0 / 60);
  EXPECT_EQ(latency.basis, "stated");
}

TEST(MachineIntervals, OneBoundLeavesTheOtherSideAtTheValue) {
  const UncertainValue latency = found(small("low = \"50 ns\", ", ""), "nodes.latency");
  EXPECT_DOUBLE_EQ(latency.low_factor, 1);
  EXPECT_DOUBLE_EQ(latency.high_factor, 70.0 / 60);
}

TEST(MachineIntervals, TakesAFactorByTheKindOfSource) {
  // the link's bandwidth with each confidence; 1.25 at least for a proxy, 1.5 where none is given
  const std::string plain = "bandwidth = { value = \"9 GB/s\", source = \"T\"";
  const auto factor = [&](const std::string& more) { return found(small(plain, plain + more), "links.bandwidth").high_factor; };
  EXPECT_DOUBLE_EQ(factor(", confidence = \"A\""), 1.03);
  EXPECT_DOUBLE_EQ(factor(", confidence = \"B\""), 1.1);
  EXPECT_DOUBLE_EQ(factor(", confidence = \"C\""), 1.25);
  EXPECT_DOUBLE_EQ(factor(", confidence = \"D\""), 1.2);
  EXPECT_DOUBLE_EQ(factor(", confidence = \"M\""), 1.5);
  EXPECT_DOUBLE_EQ(factor(", confidence = \"B\", assumed = true"), 1.25);
  EXPECT_DOUBLE_EQ(factor(", confidence = \"M\", assumed = true"), 1.5);
  EXPECT_DOUBLE_EQ(factor(""), 1.5);
  // from 9 / 1.2 to 9 x 1.2
  const UncertainValue derived = found(small(plain, plain + ", confidence = \"D\""), "links.bandwidth");
  EXPECT_EQ(derived.low, "7.5 GB/s");
  EXPECT_EQ(derived.high, "10.8 GB/s");
}

TEST(MachineIntervals, LeavesOutWhatAMachineIsBuiltOfAndWhatIsZero) {
  for (const UncertainValue& uncertain : small()) {
    EXPECT_THAT(uncertain.name, testing::Not(testing::AnyOf(testing::EndsWith("size"), testing::EndsWith("ways"), testing::Eq("clock"),
                                                            testing::StartsWith("messages."), testing::EndsWith("entries"))));
    EXPECT_NE(uncertain.name, "coherence.between_nodes_of_socket") << "zero";
    EXPECT_NE(uncertain.name, "caches.1.bandwidth_per_core") << "zero: the level binds by latency only";
    EXPECT_NE(uncertain.name, "core.divide") << "part of core_time";
    EXPECT_LE(uncertain.low_factor, 1);
    EXPECT_GE(uncertain.high_factor, 1);
  }
}

TEST(MachineIntervals, CoreTimeIsOneValueUnlessAThroughputStatesItsOwn) {
  const UncertainValue core = found(small(), "core_time");
  EXPECT_DOUBLE_EQ(core.low_factor, 0.5);
  EXPECT_DOUBLE_EQ(core.high_factor, 2);
  const std::string divide = "divide = { value = 0.05, source = \"T\"";
  EXPECT_DOUBLE_EQ(found(small(divide, divide + ", low = 0.04"), "core.divide").low_factor, 0.8);
}

TEST(MachineIntervals, TheModelOfMemoryIsOneValueMore) {
  const UncertainValue memory = found(small(), "memory_time");
  EXPECT_DOUBLE_EQ(memory.low_factor, 1 / 1.35);
  EXPECT_DOUBLE_EQ(memory.high_factor, 1.35);
}

TEST(MachineIntervals, AlikePartsAreOneValue) {
  // two entries of nodes with the same numbers and sources, listed one by one
  const std::size_t begin = described_machine.find("[[nodes]]");
  const std::string entry = described_machine.substr(begin, described_machine.find("[[caches]]") - begin);
  std::string first = entry, second = entry;
  first.replace(first.find("[0, 1]"), 6, "[0]");
  second.replace(second.find("[0, 1]"), 6, "[1]");
  const std::vector<UncertainValue> all = small(entry, first + "\n" + second);
  EXPECT_THAT(found(all, "nodes.latency (0, 1)").paths, ElementsAre("nodes.0.latency", "nodes.1.latency"));
  EXPECT_THAT(found(all, "controllers.read_only (0, 1)").paths, ElementsAre("controllers.0.read_only", "controllers.1.read_only"));
}

TEST(MachineIntervals, ACurveIsScaledAsAWhole) {
  const MachineFile file = parse_machine(described_machine, "small.toml");
  const UncertainValue curve = found(uncertain_values(file), "controllers.loaded_latency");
  EXPECT_EQ(curve.high, "0.5: 15 ns, 1: 90 ns");  // 1.5 x 10 ns, 1.5 x 60 ns
}

TEST(MachineIntervals, ClocksByCoresAreOffAsFarAsIsStatedAndAsAWhole) {
  const auto with_bounds = [](const std::string& more) {
    return small("\n[sources]", "clock_by_cores = { value = [[1, \"3.6 GHz\"], [2, \"3 GHz\"]], source = \"T\"" + more + " }\n\n[sources]");
  };
  for (const UncertainValue& uncertain : with_bounds("")) EXPECT_NE(uncertain.name, "clock_by_cores");
  const UncertainValue clocks = found(with_bounds(", low = [[1, \"3 GHz\"], [2, \"2.4 GHz\"]]"), "clock_by_cores");
  EXPECT_DOUBLE_EQ(clocks.low_factor, 2.4 / 3);  // of the clock with the most cores
  EXPECT_DOUBLE_EQ(clocks.high_factor, 1);
  EXPECT_EQ(clocks.low, "1: 3 GHz, 2: 2.4 GHz");
}

TEST(MachineIntervals, ClocksByVectorWidthLikewise) {
  const auto with_bounds = [](const std::string& more) {
    return small("\n[sources]",
                 "clock_by_cores_512 = { value = [[1, \"1.8 GHz\"], [2, \"1.5 GHz\"]], source = \"T\"" + more + " }\n\n[sources]");
  };
  for (const UncertainValue& uncertain : with_bounds("")) EXPECT_NE(uncertain.name, "clock_by_cores_512");
  const UncertainValue clocks =
      found(with_bounds(", low = [[1, \"1.8 GHz\"], [2, \"1.2 GHz\"]], high = [[2, \"1.8 GHz\"]]"), "clock_by_cores_512");
  EXPECT_DOUBLE_EQ(clocks.low_factor, 1.2 / 1.5);
  EXPECT_DOUBLE_EQ(clocks.high_factor, 1.8 / 1.5);
}

TEST(MachineIntervals, EachEndIsAMachine) {
  const MachineFile file = parse_machine(described_machine, "small.toml");
  for (const UncertainValue& uncertain : uncertain_values(file))
    for (const std::string& path : uncertain.paths)
      for (const std::string& end : {uncertain.low, uncertain.high}) {
        const Machine changed = with_changes(file.machine, {{path, end}});
        EXPECT_EQ(changed.hash == file.machine.hash, end == uncertain.value) << path << " = " << end;
      }
}

// Nothing is more than the whole of a latency.
TEST(MachineIntervals, TheShareOfALatencyThatIsWaitedForIsOffOnlyAsFarAsIsStated) {
  for (const UncertainValue& uncertain : small()) EXPECT_NE(uncertain.name, "core.load_waits");
  const std::string own = "[core]\nload_waits = { value = 0.5, source = \"T\", low = 0.25, high = 1.0 }\n";
  const UncertainValue share = found(small("[core]\n", own), "core.load_waits");
  EXPECT_DOUBLE_EQ(share.low_factor, 0.5);
  EXPECT_DOUBLE_EQ(share.high_factor, 2);
}

// A field that a description need not have is a number like others where it has it.
TEST(MachineIntervals, TakesWhatOnlySomeMachinesSay) {
  const std::string own = "\n[system.faults]\nhuge = { value = \"70 us\", source = \"T\", low = \"60 us\" }\n";
  const std::vector<UncertainValue> all = uncertain_values(parse_machine(described_machine + own, "small.toml"));
  EXPECT_EQ(found(all, "system.faults.huge").low, "60 us");
  for (const UncertainValue& uncertain : all) EXPECT_NE(uncertain.name, "core.read_bandwidth");
}

}  // namespace
}  // namespace homenode
