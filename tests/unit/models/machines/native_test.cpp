// Detection and calibration: that they describe a machine, not how fast this one is.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>

#include "models/machines/machine_fields.hpp"
#include "models/machines/machine_writer.hpp"
#include "models/machines/native/calibrate.hpp"
#include "models/machines/native/calibration_plan.hpp"
#include "models/machines/native/detect.hpp"
#include "models/machines/native/host_load.hpp"
#include "sim/base/errors.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

MachineParameter parameter(const MachineFile& file, const std::string& path) {
  const auto found = std::find_if(file.parameters.begin(), file.parameters.end(), [&](const auto& p) { return p.path == path; });
  if (found == file.parameters.end()) throw std::logic_error("no parameter " + path);
  return *found;
}

void expect_usable(const MachineFile& file) {
  EXPECT_NO_THROW(validate(file.machine));
  EXPECT_NO_THROW(Topology{file.machine});
  const std::string text = write_machine_toml(file.machine, file.parameters, file.sources);
  const MachineFile again = parse_machine(text, "again.toml");
  EXPECT_EQ(again.machine.hash, file.machine.hash);
  for (const MachineParameter& known : again.parameters) EXPECT_NE(known.source, "not stated") << known.path;
}

TEST(Detect, DescribesThisHost) {
  const MachineFile file = detect();
  expect_usable(file);
  EXPECT_GE(file.machine.cores(), 1u);
  EXPECT_EQ(parameter(file, "nodes.0.cores").source, "hwloc on this host");
  EXPECT_FALSE(parameter(file, "nodes.0.cores").assumed);
  EXPECT_TRUE(parameter(file, "controllers.0.read_only").assumed);  // nothing was measured
}

TEST(Detect, KnowsTheSystemsNumbersOfCoresAndNodes) {
  DetectedHost host = detect_host();
  ASSERT_EQ(host.cpus.size(), host.file.machine.cores());
  ASSERT_EQ(host.nodes.size(), host.file.machine.nodes.size());
  std::sort(host.cpus.begin(), host.cpus.end());
  EXPECT_EQ(std::adjacent_find(host.cpus.begin(), host.cpus.end()), host.cpus.end());
  for (const unsigned cpu : host.cpus) EXPECT_NO_THROW(native::on_cpu(cpu, [] {}));
}

// Each number of streams has a loop of its own.
TEST(Measure, EveryNumberOfStreamsOfAPlanIsRead) {
  const native::Buffer buffer{std::size_t{1} << 20};
  const CalibrationPlan plan;
  for (const unsigned streams : plan.streams) EXPECT_GT(native::stream_bandwidth(streams, buffer, 1), 0) << streams;
  EXPECT_THROW(native::stream_bandwidth(3, buffer, 1), std::logic_error);
  std::size_t at = 0;
  for (const unsigned streams : plan.reread_streams)
    EXPECT_GT(native::reread_nanoseconds(buffer, 1 << 16, {streams, 8}, 1, at), 0) << streams;
  EXPECT_THROW(native::reread_nanoseconds(buffer, 1 << 16, {3, 8}, 1, at), std::logic_error);
}

TEST(Measure, EightLoadsALineAreMadeOfAnySet) {
  const native::Buffer buffer{std::size_t{1} << 16};
  EXPECT_GT(native::loads_nanoseconds(buffer, 1 << 13, 1), 0);
  EXPECT_GT(native::loads_nanoseconds(buffer, std::size_t{1} << 30, 1), 0);  // no more than there is
}

TEST(Measure, LinesOfOneSetAreThoseThatTheBufferHas) {
  const native::Buffer buffer{std::size_t{1} << 20};
  EXPECT_GT(native::same_set_nanoseconds(buffer, 100, 4096, 1), 0);
  EXPECT_GT(native::same_set_nanoseconds(buffer, 1'000'000, 4096, 1), 0);
}

TEST(Measure, ATranslationBufferIsDividedIntoSetsOrNothingIsSaid) {
  const native::TranslationSets divided = native::translation_sets(4096, 2048, 1);
  if (divided.ways == 0) {
    EXPECT_EQ(divided.sets, 0u);
    return;
  }
  EXPECT_TRUE(std::has_single_bit(divided.sets));
  EXPECT_LE(divided.ways, 64u);
}

TEST(Measure, AFirstLevelOfTranslationsIsSmallerThanTheSecond) {
  const native::TranslationBuffer buffer = native::translation_buffer(4096, 1);
  EXPECT_LE(buffer.first_entries, buffer.entries);
  EXPECT_EQ(buffer.first_entries > 0, buffer.first_nanoseconds > 0);
  if (buffer.entries == 0) return;
  const unsigned left = native::reached_pages(4096, buffer, 1);
  EXPECT_GE(left, buffer.entries / 2);
  EXPECT_LE(left, 4 * buffer.entries);
}

TEST(Measure, MemoryLiesOnANodeThatIsThere) {
  const native::Buffer buffer{4096, native::Buffer::Pages::small, detect_host().nodes.front()};
  EXPECT_EQ(buffer.data()[4095], 0);
  EXPECT_THROW(native::Buffer(4096, native::Buffer::Pages::small, 1000), Error);
}

TEST(Detect, NumbersCoresNodeByNodeAndSharesCaches) {
  // two packages with a node each, four cores of two threads, one L3 a package, one L2 for two cores
  const Machine machine = detect_synthetic("pack:2 [numa(memory=1073741824)] l3:1 l2:2 core:2 l1d:1 pu:2").machine;
  EXPECT_EQ(machine.sockets, 2u);
  EXPECT_EQ(machine.nodes.size(), 2u);
  EXPECT_EQ(machine.nodes[1].memory, Bytes{1 << 30});
  const NodeId first{0}, second{1};
  EXPECT_THAT(machine.core_node, ElementsAre(first, first, first, first, second, second, second, second));
  ASSERT_EQ(machine.caches.size(), 3u);
  EXPECT_EQ(machine.caches[0].cores_per_cache, 1u);
  EXPECT_EQ(machine.caches[1].cores_per_cache, 2u);
  EXPECT_EQ(machine.caches[2].cores_per_cache, 4u);
  EXPECT_EQ(machine.links.size(), 1u);  // every pair of sockets
}

TEST(Detect, SeveralNodesASocket) {
  const MachineFile file = detect_synthetic("pack:2 group:2 [numa] core:3 l1d:1 pu:1");
  expect_usable(file);
  EXPECT_EQ(file.machine.nodes.size(), 4u);
  EXPECT_EQ(file.machine.socket_of(NodeId{1}), SocketId{0});
  EXPECT_EQ(file.machine.node_of(CoreId{3}), NodeId{1});
}

TEST(Detect, TwoUsableCpusNeedNotBeTwoCores) {
  const MachineFile all = detect();
  if (all.machine.cores() < 2) return;  // none to leave out
  const std::vector<unsigned> cpus = native::usable_cpus();
  EXPECT_EQ(detect({cpus.back()}).machine.cores() + 1, all.machine.cores());
}

TEST(Detect, RefusesADescriptionThatIsNone) {
  EXPECT_THAT([] { detect_synthetic("nonsense"); }, ThrowsMessage<UsageError>(HasSubstr("'nonsense'")));
}

TEST(Calibrate, ReplacesGuessesByFiguresWithTheirBounds) {
  CalibrationOptions options;  // as small as it gets: the figures mean nothing, their places do
  options.largest_working_set = Bytes{1 << 20};
  options.array = Bytes{1 << 20};
  options.repeats = 1;
  options.settling = {.least_passes = 1, .most_passes = 1, .within = 0.5};
  std::vector<std::string> steps;
  options.progress = [&](const std::string& step) { steps.push_back(step); };
  const HostCalibration calibration = calibrate(options);
  expect_usable(calibration.file);
  EXPECT_THAT(steps, testing::Contains("pass 1 of at most 1: clock and instructions a cycle"));
  EXPECT_EQ(calibration.latency.size(), 8u);  // 8 KiB, 16 KiB ... 1 MiB
  for (const std::string path : {"clock", "nodes.0.latency", "controllers.0.read_only", "controllers.0.one_to_one", "caches.1.latency",
                                 "core.miss_buffers", "core.prefetched_lines", "core.read_bandwidth", "core.write_bandwidth",
                                 "core.nontemporal_bandwidth", "system.faults.parallel", "system.tasks.create"}) {
    const MachineParameter known = parameter(calibration.file, path);
    EXPECT_THAT(known.source, StartsWith("measured on this host by homenode calibrate")) << path;
    const bool doubted = known.source.find(" while ") != std::string::npos || known.source.find("; unsettled: ") != std::string::npos;
    EXPECT_EQ(known.confidence, doubted ? "C" : "A") << path;
    EXPECT_FALSE(known.assumed) << path;
  }
  EXPECT_TRUE(calibration.file.machine.system.has_value());
  // a reader of the file sees the same values as a user of the machine
  Machine machine = calibration.file.machine;
  for (const MachineField& field : fields_of(machine)) {
    if (field.name.starts_with(system_prefix)) continue;  // of which the file says what was measured
    if (field.name == "core.llvm_cpu") continue;          // of LLVM, which this library does not know
    EXPECT_EQ(parameter(calibration.file, field.name).value, text_of(field)) << field.name;
  }
}

TEST(Calibrate, CountsTheRealBytesOfItsKernels) {
  using native::Kernel;
  // read: 8 B. copy: the element and the line that the store fetches, 16 B, and 8 B back. non-temporal: no fetch. triad: 8 B more read.
  EXPECT_EQ(native::read_bytes(Kernel::read) + native::write_bytes(Kernel::read), 8);
  EXPECT_EQ(native::read_bytes(Kernel::copy_regular) + native::write_bytes(Kernel::copy_regular), 24);
  EXPECT_EQ(native::read_bytes(Kernel::copy_nontemporal) + native::write_bytes(Kernel::copy_nontemporal), 16);
  EXPECT_EQ(native::read_bytes(Kernel::triad) + native::write_bytes(Kernel::triad), 32);
}

TEST(Calibrate, TheBestSampleCountsAndAllBoundIt) {
  const native::Spread time = native::least({3, 1, 2}), rate = native::most({3, 1, 2});
  EXPECT_EQ(time.value, 1);
  EXPECT_EQ(time.median, 2);
  EXPECT_EQ(rate.median, 2);
  EXPECT_EQ(rate.value, 3);
  EXPECT_EQ(time.low, 1);
  EXPECT_EQ(time.high, 3);
  EXPECT_EQ(rate.low, 1);
  EXPECT_EQ(rate.high, 3);
}

// A figure is trusted while switches <= 50 x CPU seconds, or fewer than 5, and its median is within 1.25 of the best sample.
TEST(HostLoad, AnIdleHostsFiguresAreTrusted) {
  EXPECT_EQ(native::disturbance({10, 10, 11, 10}, {2.0, 3}), "");
  EXPECT_EQ(native::disturbance({10, 10, 12.5, 12.5}, {2.0, 100}), "");  // on both limits
  EXPECT_EQ(native::disturbance({10, 10, 10, 10}, {0.001, 4}), "");      // 4000 a second, but only four in all
  EXPECT_EQ(native::disturbance({10, 10, 90, 11}, {2.0, 0}), "");        // one slow sample of many
}

TEST(HostLoad, LostProcessorsAndDisturbedSamplesAreSaid) {
  EXPECT_EQ(native::disturbance({10, 10, 11, 10}, {2.0, 101}), "other work took its processors away 101 times in 2 s");
  EXPECT_EQ(native::disturbance({10, 10, 11, 10}, {0.01, 5}), "other work took its processors away 5 times in 0.01 s");
  EXPECT_EQ(native::disturbance({10, 10, 15, 13}, {2.0, 0}), "its samples' median was off the best by a factor of 1.3");
  EXPECT_EQ(native::disturbance({30, 10, 30, 15}, {2.0, 0}), "its samples' median was off the best by a factor of 2");  // a rate
}

TEST(HostLoad, OthersThatUseProcessorsAreSaidAndSoAreHypervisors) {
  // 2 s of wall time, own use 1 s: others above 5 % of it, 0.1 s, disturb; below 0.04 s the ticks of 10 ms say nothing
  EXPECT_EQ(native::disturbance({}, {1.0, 0, 2.0, 1.09, 0}), "");
  EXPECT_EQ(native::disturbance({}, {1.0, 0, 2.0, 1.3, 0}), "other work used processors for 0.3 s of 2 s");
  EXPECT_EQ(native::disturbance({}, {1.0, 0, 2.0, 1.0, 0.2}), "the hypervisor took 0.2 s of 2 s");
  EXPECT_EQ(native::disturbance({}, {0.01, 0, 0.02, 0.04, 0}), "");
}

TEST(HostLoad, UsageGrowsWithTheProcessorsTime) {
  const native::Usage before = native::usage_now();
  native::core_hertz(native::additions_of_short_samples, 1);
  const native::Usage spent = native::usage_now() - before;
  EXPECT_GT(spent.cpu_seconds, 0);
}

}  // namespace
}  // namespace homenode
