// Chunks by the closed form: equal where all threads are equal, smaller where memory is slower, so that all finish together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "models/run/estimate.hpp"
#include "models/run/run.hpp"
#include "sim/base/errors.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
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

RunExtras with_log() {
  RunExtras extras;
  extras.keep_log = true;
  return extras;
}

RunSpec options(const std::string& distribution) {
  RunSpec options;
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
  const RunReport few = accounted_run(*rows(8192, 4), machine, options(distribution)),
                  more = accounted_run(*rows(8192, 8), machine, options(distribution));
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
  EXPECT_NEAR(accounted_run(*workload, two_sockets(), options("latency-weighted")).time.seconds(),
              accounted_run(*workload, two_sockets(), options("static")).time.seconds(), 1e-3 * made.seconds);
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
    const RunReport report = accounted_run(*rows(iterations, 3), with_a_slower_node(), options("latency-weighted"));
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
  RunSpec choice = options("latency-weighted:dims=2");
  const RunReport report = accounted_run(*workload, two_sockets(), choice, with_log());
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

// extents[0] x extents[1] x extents[2] blocks of one page; `init` writes each, `sweeps` read each.
std::shared_ptr<Workload> blocks(const std::vector<std::int64_t>& extents, std::uint32_t sweeps) {
  WorkloadBuilder builder;
  const std::int64_t iterations = std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{});
  const ObjectId grid = builder.object("grid", static_cast<std::uint64_t>(iterations * page));
  const RegionId init = builder.loop("init", iterations), sweep = builder.loop("sweep", iterations);
  for (const RegionId region : {init, sweep}) {
    builder.region(region).dimensions.clear();
    for (const std::int64_t extent : extents) builder.region(region).dimensions.push_back({0, extent, 1});
  }
  builder.nest(init, {512}, {write(grid, 0, {8}, page)});
  builder.nest(sweep, {512}, {read(grid, 0, {8}, page)});
  builder.repeat(init);
  builder.repeat(sweep, sweeps);
  return builder.build();
}

// Iterations by thread that an execution handed out.
std::vector<std::vector<std::int64_t>> by_thread(const RunReport& report, std::size_t execution, std::size_t threads) {
  std::vector<std::vector<std::int64_t>> result(threads);
  for (const HandOut& out : report.log)
    for (std::int64_t i = out.items.first; out.items.execution.index() == execution && i < out.items.last; ++i)
      result[out.thread.index()].push_back(i);
  return result;
}

TEST(LatencyWeighted, cutsLoopsOfThreeDimensionsIntoBlocks) {
  RunSpec choice = options("latency-weighted:dims=3");
  // 8 threads on 8 x 8 x 8: 2 x 2 x 2 blocks have the least surface (1 x 2 x 4: 1/8 + 2/8 + 4/8 > 3 x 2/8). Thread 5 = (1, 0, 1) has
  // i from 4 to 7, j from 0 to 3 and k from 4 to 7. All threads are equal, so that weights stay.
  const std::vector<std::vector<std::int64_t>> found =
      by_thread(accounted_run(*blocks({8, 8, 8}, 1), two_sockets(), choice, with_log()), 0, 8);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 4; i < 8; ++i)
    for (std::int64_t j = 0; j < 4; ++j)
      for (std::int64_t k = 4; k < 8; ++k) expected.push_back((i * 8 + j) * 8 + k);
  EXPECT_EQ(found[5], expected);
}

TEST(LatencyWeighted, cutsAnyExtentsForAnyTeamSoThatEachIterationRunsOnce) {
  for (const std::vector<std::int64_t>& extents :
       std::vector<std::vector<std::int64_t>>{{1, 1, 1}, {2, 3, 1}, {5, 4, 3}, {3, 7, 5}, {16, 2, 9}}) {
    const auto workload = blocks(extents, 2);
    for (const unsigned threads : {1U, 2U, 3U, 5U, 6U, 8U}) {
      for (const char* dims : {"latency-weighted:dims=2", "latency-weighted:dims=3"}) {
        RunSpec choice = options(dims);
        choice.threads = threads;
        const RunReport report = accounted_run(*workload, with_a_slower_node(), choice, with_log());
        for (const std::size_t execution : {0U, 1U, 2U}) {
          std::vector<std::int64_t> done, all(static_cast<std::size_t>(extents[0] * extents[1] * extents[2]));
          for (const auto& of_thread : by_thread(report, execution, threads)) done.insert(done.end(), of_thread.begin(), of_thread.end());
          std::sort(done.begin(), done.end());
          std::iota(all.begin(), all.end(), 0);
          EXPECT_EQ(done, all) << dims << " on " << threads << " threads, execution " << execution;
        }
      }
    }
  }
}

TEST(LatencyWeighted, givesSmallerBlocksOfThreeDimensionsToThreadsOfASlowerNode) {
  const Machine machine = with_a_slower_node();
  const auto made = estimate(*blocks({16, 24, 24}, 4), machine, options("init@static sweep@latency-weighted:dims=3"));
  const EstimatedRegion& sweep = made.regions[1];
  // The first dimension separates the nodes: threads 4 to 7 lie on node 1, 200 ns against 100 ns. By the equation of one dimension
  // they keep 796 of 1024; the two groups' shares follow it as far as planes of 24 x 24 can, 16 of them.
  const double of_slow = std::accumulate(sweep.weights.begin() + 4, sweep.weights.end(), 0.0);
  EXPECT_NEAR(of_slow, 0.39, 1.0 / 16);
  EXPECT_LT(made.seconds, 0.95 * estimate(*blocks({16, 24, 24}, 4), machine, options("init@static sweep@static")).seconds);
}

TEST(LatencyWeighted, keepsEqualSharesWherePagesAreFirstWrittenAndAtFirst) {
  RunSpec choice = options("latency-weighted");
  const RunReport report = accounted_run(*rows(8192, 2), with_a_slower_node(), choice, with_log());
  // Faults of 500 ns are half of what a row of 64 lines takes, far more than 0.5 %: `init` is cut as static cuts it. `sweep` is weighed
  // from its second execution on.
  for (const std::size_t execution : {0U, 1U})
    for (const auto& of_thread : by_thread(report, execution, 8)) EXPECT_EQ(of_thread.size(), 1024U);
  EXPECT_LT(by_thread(report, 2, 8)[7].size(), 900U);
}

// 512 rows fit the caches. Thread 0 alone writes them; then all sweep.
TEST(LatencyWeighted, doesNotFollowDataToTheCacheThatTheyHappenToBeIn) {
  WorkloadBuilder builder;
  constexpr std::int64_t iterations = 512;
  const ObjectId grid = builder.object("grid", iterations * page);
  const RegionId init = builder.serial("init"), sweep = builder.loop("sweep", iterations);
  builder.nest(init, {iterations * 512}, {write(grid, 0, {8})});
  builder.nest(sweep, {512}, {read(grid, 0, {8}, page), write(grid, 0, {8}, page)});
  builder.repeat(init);
  builder.repeat(sweep, 20);
  const auto workload = builder.build();
  // Each thread keeps its rows from sweep to sweep: equal shares are best from the second sweep on, wherever the data came from.
  EXPECT_LE(accounted_run(*workload, two_sockets(), options("latency-weighted")).time.seconds(),
            1.001 * accounted_run(*workload, two_sockets(), options("static")).time.seconds());
}

TEST(LatencyWeighted, takesTheExtentsOfCollapsedLoopsFromTheUser) {
  RunSpec known = options("latency-weighted:dims=3"), told = options("latency-weighted:dims=3,rows=6,columns=4");
  const auto collapsed = rows(8 * 6 * 4, 1);
  EXPECT_EQ(by_thread(accounted_run(*collapsed, two_sockets(), told, with_log()), 0, 8),
            by_thread(accounted_run(*blocks({8, 6, 4}, 1), two_sockets(), known, with_log()), 0, 8));
  EXPECT_THROW(accounted_run(*collapsed, two_sockets(), options("latency-weighted:dims=3,rows=5,columns=4")), UsageError);
  EXPECT_THROW(accounted_run(*collapsed, two_sockets(), options("latency-weighted:dims=3,columns=4")), UsageError);
  EXPECT_THROW(accounted_run(*collapsed, two_sockets(), options("latency-weighted:dims=2,columns=5")), UsageError);
}

TEST(LatencyWeighted, refusesMoreDimensionsThanTheLoopHas) {
  const auto workload = rows(64, 1);
  try {
    accounted_run(*workload, two_sockets(), options("latency-weighted:dims=2"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(
                                  "how the 64 iterations of region 'init' form 2 dimensions; allowed: columns=C with C a divisor of them"));
  }
}

}  // namespace
}  // namespace homenode::test
