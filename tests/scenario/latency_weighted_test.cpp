// Chunks by the closed form: equal where all threads are equal, smaller where memory is slower, so that all finish together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/estimate.hpp"
#include "models/run.hpp"
#include "sim/errors.hpp"
#include "sim/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t page = 4096;

// Rows of one page; `init` writes them, each of `sweeps` reads them all. 32 MiB, twice the shared caches of two_sockets().
std::shared_ptr<Workload> rows(std::int64_t iterations, std::uint32_t sweeps) {
  WorkloadBuilder builder;
  const ObjectId grid = builder.object("grid", static_cast<std::uint64_t>(iterations * page));
  const RegionId init = builder.loop("init", iterations), sweep = builder.loop("sweep", iterations);
  builder.nest(init, {512}, {write(grid, 0, {8}, page)});
  builder.nest(sweep, {512}, {read(grid, 0, {8}, page)});
  builder.repeat(init);
  builder.repeat(sweep, sweeps);
  return builder.build();
}

RunOptions options(const std::string& distribution) {
  RunOptions options;
  options.threads = 8;
  options.distribution = distribution;
  return options;
}

Machine with_a_slower_node() {
  Machine machine = two_sockets();
  machine.nodes[1].latency = Time::nanoseconds(200);
  // Nothing but latency binds.
  for (ControllerDescription& controller : machine.controllers) {
    controller.loaded_latency.clear();
    controller.read_only = controller.one_to_one = Bandwidth::bytes_per_second(200e9);
  }
  for (LinkDescription& link : machine.links) link.bandwidth = Bandwidth::bytes_per_second(100e9);
  return machine;
}

// What each thread works in one sweep: the difference that further sweeps make.
std::vector<double> busy_of_a_sweep(const Machine& machine, const std::string& distribution) {
  const RunReport few = run(*rows(8192, 4), machine, options(distribution)), more = run(*rows(8192, 8), machine, options(distribution));
  std::vector<double> busy;
  for (std::size_t t = 0; t < 8; ++t) busy.push_back((more.threads[t].busy - few.threads[t].busy).seconds() / 4);
  return busy;
}

double spread(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return (*most - *least) / *most;
}

TEST(LatencyWeighted, isStaticWhereAllThreadsAreEqual) {
  const auto workload = rows(8192, 3);
  const Estimate made = estimate(*workload, two_sockets(), options("latency-weighted"));
  for (const EstimatedRegion& region : made.regions)
    for (const double weight : region.weights) EXPECT_NEAR(weight, 1.0 / 8, 1e-3) << region.label;
  EXPECT_NEAR(run(*workload, two_sockets(), options("latency-weighted")).time.seconds(),
              run(*workload, two_sockets(), options("static")).time.seconds(), 1e-3 * made.seconds);
}

TEST(LatencyWeighted, givesLessToThreadsOfASlowerNodeSoThatAllFinishTogether) {
  const Machine machine = with_a_slower_node();
  // Static: lines / 16 in flight x latency, 100 ns beside 200 ns.
  const std::vector<double> equal = busy_of_a_sweep(machine, "static");
  EXPECT_NEAR(equal.back() / equal.front(), 2, 0.1);
  const std::vector<double> weighted = busy_of_a_sweep(machine, "init@static sweep@latency-weighted");
  EXPECT_LT(spread(weighted), 0.03);
  // Rows that change hands lie on the slower node: 250 ns for node 0. With x of 1024 rows taken over by each thread of node 0,
  // 1024 x 100 + 250 x = (1024 - x) x 200: x = 228, and the sweep takes 159 / 200 of static's time.
  EXPECT_NEAR(*std::max_element(weighted.begin(), weighted.end()) / equal.back(), 0.78, 0.03);
  const auto made = estimate(*rows(8192, 4), machine, options("init@static sweep@latency-weighted"));
  EXPECT_LT(made.regions[1].weights[7], 0.85 * made.regions[1].weights[0]);
  EXPECT_NEAR(std::accumulate(made.regions[1].weights.begin(), made.regions[1].weights.end(), 0.0), 1, 1e-12);
}

TEST(LatencyWeighted, keepsTheBestOfWhatWasMeasured) {
  const auto longest = [](const std::string& distribution) {
    const std::vector<double> busy = busy_of_a_sweep(with_a_slower_node(), distribution);
    return *std::max_element(busy.begin(), busy.end());
  };
  // The fourth sweep tries other weights; from the fifth on the better ones of both stand.
  EXPECT_LT(longest("init@static sweep@latency-weighted:refine=1"), 1.02 * longest("init@static sweep@latency-weighted"));
}

TEST(LatencyWeighted, takesLoopsOfFewIterations) {
  for (const std::int64_t iterations : {1, 3, 7, 8, 9}) {
    const RunReport report = run(*rows(iterations, 3), with_a_slower_node(), options("latency-weighted"));
    EXPECT_GT(report.time, Time{}) << iterations;
  }
}

TEST(LatencyWeighted, cutsLoopsOfTwoDimensionsIntoBlocks) {
  WorkloadBuilder builder;
  const ObjectId grid = builder.object("grid", 16 * 24 * page);
  const RegionId sweep = builder.loop("sweep", 16 * 24);
  builder.region(sweep).dimensions = {{0, 16, 1}, {0, 24, 1}};
  builder.nest(sweep, {512}, {write(grid, 0, {8}, page)});
  builder.repeat(sweep);
  const auto workload = builder.build();
  RunOptions choice = options("latency-weighted:dims=2");
  choice.keep_log = true;
  const RunReport report = run(*workload, two_sockets(), choice);
  // 8 threads on 16 x 24: 2 x 4 blocks of 8 x 6 have the least surface, but for a column or row that weights move. Thread 5 is the
  // second of the lower row: about rows 8 to 15, columns 6 to 11.
  std::vector<ItemRange> of_thread_5;
  std::int64_t all = 0;
  for (const HandOut& out : report.log) {
    all += out.items.size();
    if (out.thread == ThreadId{5}) of_thread_5.push_back(out.items);
  }
  EXPECT_EQ(all, 16 * 24);
  ASSERT_NEAR(static_cast<double>(of_thread_5.size()), 8, 1);
  EXPECT_NEAR(static_cast<double>(of_thread_5.front().size()), 6, 1);
  EXPECT_NEAR(static_cast<double>(of_thread_5.front().first % 24), 6, 1);
  EXPECT_EQ(of_thread_5.back().last, 15 * 24 + of_thread_5.front().last % 24);
  for (std::size_t row = 1; row < of_thread_5.size(); ++row) {
    EXPECT_EQ(of_thread_5[row].first, of_thread_5[row - 1].first + 24);
    EXPECT_EQ(of_thread_5[row].size(), of_thread_5[row - 1].size());
  }
}

TEST(LatencyWeighted, refusesMoreDimensionsThanTheLoopHas) {
  const auto workload = rows(64, 1);
  try {
    run(*workload, two_sockets(), options("latency-weighted:dims=2"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("region 'init' has 1; allowed: dims=1, or loops with collapse(2)"));
  }
}

}  // namespace
}  // namespace homenode::test
