// Whole runs by lines: the same loop, policies and report as by flows, and close to them where nothing but bandwidth or latency binds.
#include <gtest/gtest.h>

#include <numeric>

#include "models/machines/machine_file.hpp"
#include "models/run/run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

RunReport run_by(const std::string& engine, const Workload& workload, const Machine& machine, unsigned threads,
                 const std::string& placement = "first-touch", const std::string& distribution = "static") {
  RunSpec options;
  options.engine = engine;
  options.threads = threads;
  options.placement = placement;
  options.distribution = distribution;
  options.caches = "lines";
  return run(workload, machine, options);
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); }

TEST(WholeRuns, byLinesAndByFlowsMoveTheSameBytes) {
  // Same caches, same order for one thread: every count is equal.
  const auto workload = jacobi2d(512, 3);
  const Machine machine = two_sockets();
  const RunReport flow = run_by("flow", *workload, machine, 1), line = run_by("line", *workload, machine, 1);
  EXPECT_EQ(line.counts.accesses, flow.counts.accesses);
  EXPECT_EQ(line.counts.hit_lines, flow.counts.hit_lines);
  EXPECT_EQ(line.counts.read_bytes, flow.counts.read_bytes);
  EXPECT_EQ(line.counts.write_bytes, flow.counts.write_bytes);
  EXPECT_EQ(line.counts.traffic_bytes, flow.counts.traffic_bytes);
  EXPECT_EQ(line.counts.upgrade_lines, flow.counts.upgrade_lines);
  EXPECT_EQ(line.counts.transfer_lines, flow.counts.transfer_lines);
}

TEST(WholeRuns, takeAboutAsLongByLinesAsByFlows) {
  const auto workload = jacobi2d(640, 3);  // 6.6 MB in caches of 2
  Machine machine = two_sockets();
  machine.caches[2].size = Bytes{1 << 20};
  for (const char* placement : {"first-touch", "interleave", "bind:0"}) {
    const RunReport flow = run_by("flow", *workload, machine, 8, placement);
    const RunReport line = run_by("line", *workload, machine, 8, placement);
    EXPECT_NEAR(line.time.seconds(), flow.time.seconds(), 0.15 * flow.time.seconds()) << placement;
  }
}

TEST(WholeRuns, areNeverFasterThanTheirBytesThroughTheControllers) {
  // Reads alone come at 24 GB/s a controller.
  const auto workload = jacobi2d(512, 2);
  for (const unsigned threads : {1U, 4U, 8U}) {
    const RunReport report = run_by("line", *workload, two_sockets(), threads);
    for (std::size_t home = 0; home < 2; ++home) {
      const std::uint64_t bytes = report.counts.read_bytes[home];
      EXPECT_GE(report.time.seconds(), 0.999 * static_cast<double>(bytes) / 24e9);
    }
    EXPECT_EQ(sum(report.counts.traffic_bytes), sum(report.counts.read_bytes) + sum(report.counts.write_bytes));
  }
}

TEST(WholeRuns, byLinesRepeatBitForBit) {
  const auto workload = jacobi2d(256, 2);
  const RunReport first = run_by("line", *workload, four_socket_mesh(), 16, "first-touch", "dynamic:4");
  const RunReport second = run_by("line", *workload, four_socket_mesh(), 16, "first-touch", "dynamic:4");
  EXPECT_EQ(first.time, second.time);
  EXPECT_EQ(first.counts.latency_ns, second.counts.latency_ns);
  EXPECT_EQ(first.counts.link_bytes, second.counts.link_bytes);
}

TEST(WholeRuns, noLineTakesLessThanAnOpenRow) {
  const auto workload = jacobi2d(512, 2);
  const RunReport report = run_by("line", *workload, two_sockets(), 8, "interleave");
  const Machine machine = two_sockets();
  const std::int64_t spared = machine.dram.activate.count() / 1000 + 1;
  EXPECT_GE(report.counts.latency_ns.at("local").begin()->first, 100 - spared);
  EXPECT_GE(report.counts.latency_ns.at("1 hop").begin()->first, 150 - spared);
}

}  // namespace
}  // namespace homenode::test
