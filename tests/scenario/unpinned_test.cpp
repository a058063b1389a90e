// Whole runs of threads that nothing pins: where they start, when they move, what more threads than cores cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "models/machines/machine_file.hpp"
#include "models/run/run.hpp"
#include "sim/base/errors.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/source_folder.hpp"

namespace homenode::test {
namespace {

Machine x5550() { return load_machine(test::source_folder() / "models/machines/xeon-x5550-2s.toml"); }

constexpr std::int64_t part = 4 << 20;

// Each of `team` ranks reads its own part of an array `passes` times; every rank does the same work.
std::shared_ptr<Workload> own_parts(std::uint32_t team, std::uint32_t passes) {
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", static_cast<std::uint64_t>(team * part), ObjectKind::mapped);
  const RegionId fill = builder.bound("fill", team), look = builder.bound("look", team);
  const auto lines = static_cast<std::uint32_t>(part / 64);
  builder.nest(fill, {lines}, {write(array, 0, {64}, part)});
  builder.repeat(fill);
  builder.nest(look, {lines, passes}, {read(array, 0, {64, 0}, part)});
  builder.repeat(look, 2);
  return builder.build();
}

RunSpec unpinned(unsigned threads, const std::string& mapping = "unpinned:disturbances=0") {
  RunSpec options;
  options.threads = threads;
  options.mapping = mapping;
  options.oversubscribe = true;
  return options;
}

std::set<CoreId> cores_of(const RunReport& report) {
  std::set<CoreId> cores;
  for (const ThreadReport& thread : report.threads) cores.insert(thread.core);
  return cores;
}

Time busy(const RunReport& report) {
  Time sum;
  for (const ThreadReport& thread : report.threads) sum += thread.busy;
  return sum;
}

TEST(UnpinnedRun, ofAsManyThreadsAsCoresOnAQuietMachineMovesNobody) {
  // Each thread has a core of its own from the start and its pages are at home there, as if it were pinned: the same local traffic.
  const auto workload = own_parts(8, 3);
  const Machine machine = x5550();
  const RunReport free = accounted_run(*workload, machine, unpinned(8)), pinned = accounted_run(*workload, machine, unpinned(8, "compact"));
  EXPECT_EQ(free.thread_moves, 0u);
  EXPECT_EQ(cores_of(free).size(), 8u);
  EXPECT_EQ(free.remote_pages, 0u);
  EXPECT_EQ(std::accumulate(free.counts.remote_bytes.begin(), free.counts.remote_bytes.end(), std::uint64_t{0}), 0u);
  EXPECT_NEAR(static_cast<double>(free.counts.memory_lines), static_cast<double>(pinned.counts.memory_lines), 100);
  EXPECT_NEAR(free.time.seconds(), pinned.time.seconds(), 0.02 * pinned.time.seconds());
}

TEST(UnpinnedRun, isTheSameTwiceAndFollowsItsSeed) {
  const auto workload = own_parts(8, 15);
  const Machine machine = x5550();
  RunSpec options = unpinned(8, "unpinned:disturbances=2000,spin=0 s");
  const RunReport first = accounted_run(*workload, machine, options), second = accounted_run(*workload, machine, options);
  EXPECT_EQ(first.time, second.time);
  EXPECT_EQ(first.thread_moves, second.thread_moves);
  EXPECT_EQ(first.counts.traffic_bytes, second.counts.traffic_bytes);
  options.seed = 1;
  const RunReport other = accounted_run(*workload, machine, options);
  EXPECT_NE(first.time, other.time);
}

TEST(UnpinnedRun, sharesCoresWhenThereAreMoreThreads) {
  // 12 threads of equal work on 8 cores. No core works for two at once: sum of busy <= cores x time. Nobody waits longer than if every
  // core had two threads: time of two threads a core >= time >= 12/8 of one thread's.
  const Machine machine = x5550();
  const RunReport shared = accounted_run(*own_parts(12, 30), machine, unpinned(12)),
                  alone = accounted_run(*own_parts(8, 30), machine, unpinned(8)),
                  twice = accounted_run(*own_parts(16, 30), machine, unpinned(16));
  EXPECT_LE(busy(shared).seconds(), 8 * shared.time.seconds());
  EXPECT_LE(shared.time.seconds(), 1.05 * twice.time.seconds());
  EXPECT_GE(shared.time.seconds(), 1.4 * alone.time.seconds());
  for (const ThreadReport& thread : shared.threads) EXPECT_EQ(thread.busy + thread.idle, shared.time);
}

// Ranks of odd numbers are done in a fortieth of the others' time.
std::shared_ptr<Workload> uneven_parts(std::uint32_t team) {
  WorkloadBuilder builder;
  const auto lines = static_cast<std::uint32_t>(part / 64);
  const ObjectId array = builder.object("array", team * static_cast<std::uint64_t>(part), ObjectKind::mapped);
  const RegionId look = builder.bound("look", team);
  for (std::uint32_t rank = 0; rank < team; ++rank) {
    builder.nest(look, {lines, rank % 2 == 1 ? 1U : 40U}, {write(array, rank * part, {64, 0})});
    builder.next_block(look, rank + 1);
  }
  builder.repeat(look);
  return builder.build();
}

TEST(UnpinnedRun, takesThreadsFromABusyCoreToOneThatFellIdle) {
  // The ninth thread queues behind another. A core that falls idle takes it, long before that one is done: T < 1.3 T(8), and not 2 T(8).
  const RunReport nine = accounted_run(*uneven_parts(9), x5550(), unpinned(9)),
                  eight = accounted_run(*uneven_parts(8), x5550(), unpinned(8));
  EXPECT_LT(nine.time.seconds(), 1.3 * eight.time.seconds());
  EXPECT_EQ(nine.remote_pages, 0u);
}

TEST(UnpinnedRun, movesThreadsWhenDaemonsTakeTheirCores) {
  // 6 threads on 8 cores: a thread whose core a daemon takes for longer than it is cache-hot goes to one of the two idle cores.
  const auto workload = own_parts(6, 60);
  RunSpec options = unpinned(6, "unpinned:disturbances=2000");
  RunExtras extras;
  extras.system.emplace().scheduler.disturbance = Time::from_seconds(2e-3);
  const Machine machine = x5550();
  const RunReport disturbed = accounted_run(*workload, machine, options, extras), quiet = accounted_run(*workload, machine, unpinned(6));
  EXPECT_EQ(quiet.thread_moves, 0u);
  EXPECT_GT(disturbed.thread_moves, 0u);
  EXPECT_GT(disturbed.time, quiet.time);
}

}  // namespace
}  // namespace homenode::test
