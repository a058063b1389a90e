// Distributions of loops in whole runs: iterations run where and in the order that each rule says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t page = 4096;

RunReport replay(const Workload& workload, const std::string& distribution, unsigned threads, std::uint64_t seed = 0) {
  RunSpec options;
  options.threads = threads;
  options.distribution = distribution;
  options.seed = seed;
  RunExtras extras;
  extras.keep_log = true;
  return accounted_run(workload, two_sockets(), options, extras);
}

// How often each iteration of the last execution was handed out, and in which order.
std::vector<std::int64_t> handed_out(const RunReport& report, std::size_t execution) {
  std::vector<std::int64_t> result;
  for (const HandOut& out : report.log) {
    if (out.items.execution.index() != execution) continue;
    for (std::int64_t i = out.items.first; i < out.items.last; ++i) result.push_back(i);
  }
  return result;
}

double remote_share(const RunReport& report) {
  std::uint64_t local = 0, remote = 0;
  for (const ThreadReport& thread : report.threads) local += thread.local_bytes, remote += thread.remote_bytes;
  return static_cast<double>(remote) / static_cast<double>(local + remote);
}

TEST(Auto, isStaticAsLibgompRunsItAndShrinkingChunksAsLibompDoes) {
  const auto workload = blocks(64, 4096);
  EXPECT_EQ(replay(*workload, "auto", 4).time, replay(*workload, "static", 4).time);
  // x = 1 - 1 / (2 * 4) = 0.875: 64 (1 - x) = 8, 64 (1 - x^2) = 15, 64 (1 - x^3) = 21.1, 64 (1 - x^4) = 26.5.
  std::vector<std::int64_t> ends;
  for (const HandOut& out : replay(*workload, "auto:libomp", 4).log)
    if (out.items.execution.index() == 0) ends.push_back(out.items.last);
  ends.resize(4);
  EXPECT_THAT(ends, ::testing::ElementsAre(8, 15, 21, 26));
}

TEST(Tasks, ofALoopComeInTheOrderOfTheirCreation) {
  // One thread: creates all 7, then runs them oldest first. Rows of 3, column by column: 0 3 6, 1 4, 2 5.
  const auto workload = blocks(7, 64);
  EXPECT_THAT(handed_out(replay(*workload, "sweep@tasks", 1), 1), ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(handed_out(replay(*workload, "sweep@tasks:stride=3", 1), 1), ::testing::ElementsAre(0, 3, 6, 1, 4, 2, 5));
  // Two places in the queue: 0 and 1 wait there, all others run as they are created. A deque gives its owner the youngest.
  EXPECT_THAT(handed_out(replay(*workload, "sweep@tasks:queue=2", 1), 1), ::testing::ElementsAre(2, 3, 4, 5, 6, 0, 1));
  EXPECT_THAT(handed_out(replay(*workload, "sweep@tasks:runtime=libomp", 1), 1), ::testing::ElementsAre(6, 5, 4, 3, 2, 1, 0));
}

// 64 blocks of 256 KiB, 16 MiB: four times one last level of two_sockets(). Static initialisation puts the first half on node 0.
TEST(LocalityQueues, keepBlocksWhereTheyLie) {
  const auto workload = blocks(64, 64 * page, 2);
  // Two blocks of one node, two of the other, and so on: the queues of both are fed at once, and each thread finds its own.
  const double tasks = remote_share(replay(*workload, "init@static sweep@tasks:stride=16", 8));
  const double queues = remote_share(replay(*workload, "init@static sweep@locality-queues:stride=16", 8));
  EXPECT_GT(tasks, 0.1);
  EXPECT_LT(queues, 0.2 * tasks);
}

TEST(LocalityQueues, serialiseWhenAShortQueueHoldsBlocksOfOneNode) {
  // In the program's order, a queue of 8 tasks holds blocks of one node until its half is over: the other node's threads come for them,
  // as Wittmann and Hager found (section 2.2: "All threads are served from this queue and thus mostly execute in a single LD").
  const auto workload = blocks(64, 64 * page, 2);
  const RunReport narrow = replay(*workload, "init@static sweep@locality-queues:queue=8", 8);
  const RunReport wide = replay(*workload, "init@static sweep@locality-queues:queue=256", 8);
  EXPECT_GT(remote_share(narrow), 2 * remote_share(wide));
  EXPECT_GT(narrow.time, wide.time);
}

TEST(TbbAffinity, sendsRangesBackToTheirRunner) {
  // Without it each sweep deals the ranges anew; with it the second and later sweeps follow the first.
  const auto workload = blocks(64, 64 * page, 6);
  double without = 0, with = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    without += remote_share(replay(*workload, "tbb", 8, seed)) / 4;
    with += remote_share(replay(*workload, "tbb-affinity", 8, seed)) / 4;
  }
  EXPECT_LT(with, 0.6 * without);
}

TEST(WorkStealing, takesHalfOfWhatIsLeftFromTheEnd) {
  // Thread 1 of two has nothing to begin with once its own half is done: equal work, so nobody steals but at the end.
  const auto workload = blocks(64, 4096);
  const RunReport report = replay(*workload, "work-stealing", 2);
  std::map<std::uint32_t, std::int64_t> first_of;
  for (const HandOut& out : report.log) {
    if (out.items.execution.index() == 1) first_of.try_emplace(out.thread.value(), out.items.first);
  }
  EXPECT_EQ(first_of.at(0), 0);
  EXPECT_EQ(first_of.at(1), 32);
}

}  // namespace
}  // namespace homenode::test
