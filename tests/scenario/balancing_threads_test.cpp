// Automatic NUMA balancing in whole runs whose threads nothing pins: it brings pages to a thread or threads to pages, and leaves pinned
// threads where they are. Machines with round numbers: memory 100 ns local, 150 ns over the link, two nodes of four cores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t page = 4096, lines_of_page = page / 64, pages = 4096;  // 16 MiB, twice the last level: every pass misses

// Threads of one array: its writer, who may be one of them, and how often each reads all of it.
struct Shared {
  std::uint32_t writer = 0;
  std::vector<std::uint32_t> passes;
};

// First the writers write, then all threads read; the arrays' threads follow each other.
std::shared_ptr<Workload> readers(const std::vector<Shared>& arrays) {
  WorkloadBuilder builder;
  const auto lines = static_cast<std::uint32_t>(pages * lines_of_page);
  std::uint32_t team = 0;
  std::vector<ObjectId> objects;
  for (const Shared& array : arrays) {
    team += static_cast<std::uint32_t>(array.passes.size());
    objects.push_back(builder.object("array", static_cast<std::uint64_t>(pages * page), ObjectKind::mapped));
  }
  const RegionId fill = builder.bound("fill", team), look = builder.bound("look", team);
  for (std::uint32_t thread = 0; thread < team; ++thread) {
    for (std::size_t a = 0; a < arrays.size(); ++a)
      if (arrays[a].writer == thread) builder.nest(fill, {lines}, {write(objects[a], 0, {64})});
    builder.next_block(fill, thread + 1);
  }
  builder.repeat(fill);
  std::uint32_t thread = 0;
  for (std::size_t a = 0; a < arrays.size(); ++a)
    for (const std::uint32_t passes : arrays[a].passes) {
      builder.nest(look, {lines, passes}, {read(objects[a], 0, {64, 0})});
      builder.next_block(look, ++thread);
    }
  builder.repeat(look);
  return builder.build();
}

RunReport replay(const Workload& workload, unsigned threads, const std::string& mapping, const std::string& placement) {
  RunSpec options;
  options.threads = threads;
  options.mapping = mapping;
  options.placement = placement;
  return accounted_run(workload, two_sockets(), options);
}

const std::string quiet = "unpinned:disturbances=0";
const std::string balanced = "+autonuma:scan_delay=2ms,scan_period_min=1ms,scan_period_max=4ms,scan_size=4MiB,kernel=";

std::vector<std::size_t> nodes_of(const RunReport& report) {
  const Machine machine = two_sockets();
  std::vector<std::size_t> nodes;
  for (const ThreadReport& thread : report.threads) nodes.push_back(machine.node_of(thread.core).index());
  return nodes;
}

TEST(BalancingUnpinned, bringsPagesToTheirOnlyReaderWhichStays) {
  // Thread 1, on the other node, reads alone what thread 0 wrote: all pages go to it, and with them the reason to move.
  const auto workload = readers({{0, {1, 100}}});
  for (const char* kernel : {"310", "404", "601"}) {
    const RunReport off = replay(*workload, 2, quiet, "first-touch"), on = replay(*workload, 2, quiet, "first-touch" + balanced + kernel);
    EXPECT_THAT(nodes_of(off), ElementsAre(0, 1)) << kernel;
    EXPECT_THAT(off.pages_by_node, ElementsAre(4096, 0)) << kernel;
    EXPECT_EQ(on.migrated_pages, 4096u) << kernel;
    EXPECT_THAT(on.pages_by_node, ElementsAre(0, 4096)) << kernel;
    EXPECT_EQ(on.thread_moves, 0u) << kernel;
  }
}

TEST(BalancingUnpinned, bringsThreadsThatShareAnArrayToItsNode) {
  // Four threads on two nodes read one array: a group. Node 0 has idle cores, so that those of node 1 go there, each once.
  const auto workload = readers({{0, {60, 60, 60, 60}}});
  const RunReport off = replay(*workload, 4, quiet, "first-touch");
  ASSERT_THAT(nodes_of(off), ElementsAre(0, 1, 0, 1));
  for (const char* kernel : {"404", "601"}) {
    const RunReport on = replay(*workload, 4, quiet, "first-touch" + balanced + kernel);
    EXPECT_THAT(nodes_of(on), ElementsAre(0, 0, 0, 0)) << kernel;
    EXPECT_EQ(on.thread_moves, 2u) << kernel;
    EXPECT_THAT(on.pages_by_node, ElementsAre(4096, 0)) << kernel;
    EXPECT_LT(on.time, off.time) << kernel;
  }
}

TEST(BalancingUnpinned, sortsTheThreadsOfTwoArraysByExchanges) {
  // All eight cores have a thread; threads 0 to 3 read one array, 4 to 7 the other, and each array has threads on both nodes. Only
  // exchanges can bring each array and its threads together: two pairs, four moves, and more where threads were exchanged before enough
  // of their faults had said which array they read.
  const auto workload = readers({{0, {120, 120, 120, 120}}, {5, {120, 120, 120, 120}}});
  const RunReport off = replay(*workload, 8, quiet, "first-touch");
  ASSERT_THAT(nodes_of(off), ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
  for (const char* kernel : {"404", "601"}) {
    const RunReport on = replay(*workload, 8, quiet, "first-touch" + balanced + kernel);
    EXPECT_THAT(nodes_of(on), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1)) << kernel;
    EXPECT_THAT(on.thread_moves, testing::AllOf(testing::Ge(4u), testing::Le(8u))) << kernel;
    EXPECT_THAT(on.pages_by_node, ElementsAre(4096, 4096)) << kernel;
    EXPECT_LT(on.time, off.time) << kernel;
  }
}

TEST(BalancingUnpinned, leavesThreadsAloneThatArePinnedOrThatTheKernelKnowsNothingOf) {
  // Scattered threads have one core each; Linux 3.10 moves pages only. Both may move pages, neither a thread.
  const auto workload = readers({{0, {60, 60, 60, 60}}});
  const RunReport pinned = replay(*workload, 4, "scatter", "first-touch" + balanced + "601"),
                  old = replay(*workload, 4, quiet, "first-touch" + balanced + "310");
  for (const RunReport& report : {pinned, old}) {
    EXPECT_GT(report.hinting_faults, 0u);
    EXPECT_GT(report.migrated_pages, 0u);
    EXPECT_EQ(report.thread_moves, 0u);
    EXPECT_THAT(nodes_of(report), ElementsAre(0, 1, 0, 1));
  }
}

}  // namespace
}  // namespace homenode::test
