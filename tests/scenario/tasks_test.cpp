// Tasks on whole machines: a sweep by tasks moves what the same sweep by a loop moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/run/run.hpp"
#include "sim/base/errors.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t tasks = 48, block_bytes = 512 << 10;

// Each of 48 iterations or tasks reads 512 KiB of its own and writes as much; the thread that creates the tasks notes each in a list.
std::shared_ptr<Workload> sweep(bool by_tasks) {
  WorkloadBuilder builder;
  const auto bytes = static_cast<std::uint64_t>(tasks * block_bytes);
  const ObjectId a = builder.object("a", bytes), b = builder.object("b", bytes), list = builder.object("list", tasks * 8);
  const RegionId init = builder.loop("init", tasks);
  builder.nest(init, {block_bytes / 8}, {write(a, 0, {8}, block_bytes), write(b, 0, {8}, block_bytes)});
  builder.repeat(init);
  const RegionId work = by_tasks ? builder.tasks("sweep:task", tasks) : builder.loop("sweep", tasks);
  builder.nest(work, {block_bytes / 8}, {read(a, 0, {8}, block_bytes), write(b, 0, {8}, block_bytes)});
  if (!by_tasks) {
    builder.repeat(work);
    return builder.build();
  }
  const RegionId single = builder.single("sweep");
  for (std::int64_t task = 0; task < tasks; ++task) {
    builder.nest(single, {1}, {write(list, task * 8, {8})});
    builder.sync(single, SyncOperation::task_submit, 0, static_cast<std::uint64_t>(task));
  }
  builder.parallel(2);
  builder.repeat(work);
  builder.repeat(single);
  return builder.build();
}

RunSpec options_for(unsigned threads, std::string distribution = "static") {
  RunSpec options;
  options.threads = threads;
  options.distribution = std::move(distribution);
  return options;
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); }

double seconds_of(const RunReport& report, const std::string& label) {
  for (const RegionReport& region : report.regions) {
    if (region.label == label) return region.time.seconds();
  }
  throw std::out_of_range("no region " + label);
}

TEST(TaskSweep, movesTheBytesOfTheLoop) {
  // The same accesses and one for each task's entry in the list; on one thread, which runs the tasks in order, the same lines and those
  // of the list, at most one for each entry.
  const auto by_tasks = sweep(true), by_loop = sweep(false);
  const Machine machine = two_sockets();
  for (const unsigned threads : {1U, 3U, 8U}) {
    RunSpec options = options_for(threads);
    RunExtras extras;
    extras.keep_log = true;
    const RunReport with = accounted_run(*by_tasks, machine, options, extras), without = accounted_run(*by_loop, machine, options, extras);
    EXPECT_EQ(with.counts.accesses, without.counts.accesses + tasks);
    if (threads == 1) {
      EXPECT_GE(with.counts.memory_lines, without.counts.memory_lines);
      EXPECT_LE(with.counts.memory_lines, without.counts.memory_lines + tasks);
    }
    EXPECT_EQ(sum(with.counts.read_bytes) + sum(with.counts.write_bytes), 64 * with.counts.memory_lines);
    std::vector<std::int64_t> done;
    for (const HandOut& out : with.log) {
      if (by_tasks->regions[by_tasks->executions[out.items.execution.index()].region.index()].kind == RegionKind::task)
        done.push_back(out.items.first);
    }
    std::sort(done.begin(), done.end());
    std::vector<std::int64_t> all(tasks);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(done, all);
  }
}

TEST(TaskSweep, isFasterOnMoreThreadsAndTheSameEachTime) {
  const auto workload = sweep(true);
  const Machine machine = two_sockets();
  double before = 1e9;
  for (const unsigned threads : {1U, 2U, 4U, 8U}) {
    const RunReport report = accounted_run(*workload, machine, options_for(threads)),
                    again = accounted_run(*workload, machine, options_for(threads));
    EXPECT_EQ(report.time, again.time);
    EXPECT_EQ(report.counts.traffic_bytes, again.counts.traffic_bytes);
    const double seconds = seconds_of(report, "sweep:task");
    EXPECT_LT(seconds, before);
    before = seconds;
  }
}

TEST(TaskSweep, aRecordedHandOutIsFollowed) {
  const auto workload = sweep(true);
  const Machine machine = two_sockets();
  RunSpec options = options_for(4, "tasks:queue=4");
  RunExtras extras;
  extras.keep_log = true;
  const RunReport first = accounted_run(*workload, machine, options, extras);
  extras.follow = first.log;
  const RunReport second = accounted_run(*workload, machine, options, extras);
  const auto by_thread = [](const RunReport& report) {
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>> result;
    for (const HandOut& out : report.log) result.emplace_back(out.items.execution.value(), out.thread.value(), out.items.first);
    std::sort(result.begin(), result.end());
    return result;
  };
  EXPECT_EQ(by_thread(first), by_thread(second));
}

TEST(TaskSweep, aRegionOfTasksTakesADistributionOfTasks) {
  const auto workload = sweep(true);
  const Machine machine = two_sockets();
  const auto time = [&](const char* distribution) { return accounted_run(*workload, machine, options_for(8, distribution)).time; };
  // A queue of one place keeps the producer from creating work: the others wait for it. By the region's label, its construct's, or all.
  EXPECT_EQ(time("sweep:task@tasks:queue=1"), time("sweep@tasks:queue=1"));
  EXPECT_EQ(time("tasks:queue=1"), time("static sweep@tasks:queue=1"));
  EXPECT_GT(time("tasks:queue=1"), time("tasks"));
  EXPECT_EQ(time("tasks"), time("static"));
  EXPECT_EQ(time("tasks:runtime=libgomp"), time("tasks:queue=512"));  // 64 for each of 8 threads
  EXPECT_EQ(time("tasks"), time("tasks:queue=256"));
  const auto error = [&](const char* distribution) -> std::string {
    try {
      time(distribution);
    } catch (const UsageError& error) { return error.what(); }
    return "no error";
  };
  EXPECT_THAT(error("sweep:task@dynamic"), HasSubstr("region 'sweep:task' consists of tasks, which distribution 'dynamic' does not run"));
  EXPECT_THAT(error("tasks tasks:queue=3"), HasSubstr("two distributions for all regions"));
}

}  // namespace
}  // namespace homenode::test
