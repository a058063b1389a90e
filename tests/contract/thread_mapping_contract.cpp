// What every mapping of threads owes the scheduler, whatever the machine, the threads and what they share.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "models/mapping/register.hpp"
#include "tests/support/registered.hpp"
#include "tests/unit/sim/machine/test_machine.hpp"

namespace homenode {
namespace {

// A clause that a mapping may say it does not keep: pinned threads leave no core more than one thread above another.
const std::string even_load = "cores are loaded evenly";

// The last socket has twice the cores of the others, and there is a node without any.
Machine uneven_machine() {
  Machine machine = small_machine(3, 4, {{0, 1}, {1, 2}});
  machine.nodes.push_back({SocketId{2}, Bytes{1 << 30}, Time::nanoseconds(80), {}});
  machine.controllers.push_back({NodeId{3}, Bandwidth::bytes_per_second(20e9), Bandwidth::bytes_per_second(16e9), {}});
  for (unsigned core = 0; core < 4; ++core) machine.core_node.push_back(NodeId{2});
  return machine;
}

std::vector<Machine> machines() {
  return {small_machine(1, 1, {}), small_machine(1, 6, {}), small_machine(2, 4, {{0, 1}}),
          small_machine(4, 3, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}), uneven_machine()};
}

// A random tree of creation; one pair in eight shares bytes, every third of these without a dependence.
ThreadGraph random_graph(std::size_t threads, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  ThreadGraph graph{threads};
  for (std::size_t t = 1; t < threads; ++t) {
    graph.threads[t].parent = ThreadId{static_cast<std::size_t>(random() % t)};
    graph.threads[t].accesses = random() % 1000;
  }
  const std::size_t pairs = threads > 1 ? threads * (seed % 8) / 2 : 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const ThreadId a{static_cast<std::size_t>(random() % threads)}, b{static_cast<std::size_t>(random() % threads)};
    if (a == b) continue;
    const std::uint64_t bytes = 1 + random() % (std::uint64_t{1} << (random() % 40));
    graph.add_shared(a, b, bytes);
    if (random() % 3 != 0) graph.add_dependent(a, b, bytes);
  }
  return graph;
}

std::vector<std::vector<CoreId>> mapped(const std::string& name, const ThreadGraph& graph, const Machine& machine) {
  const auto mapping = thread_mappings().make(name);
  mapping->prepare(mapping->wants_graph() ? &graph : nullptr, machine, graph.threads.size());
  std::vector<std::vector<CoreId>> result;
  for (std::size_t t = 0; t < graph.threads.size(); ++t) result.push_back(mapping->affinity(ThreadId{t}, Time{}));
  return result;
}

class EveryMapping : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryMapping, IsValidForAnyThreadsAndCores) {
  for (const Machine& machine : machines()) {
    for (const std::size_t threads : {1, 2, 3, 5, 8, 13, 16, 29, 64, 200}) {
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const ThreadGraph graph = random_graph(threads, seed);
        const auto affinity = mapped(GetParam(), graph, machine);
        for (std::size_t t = 0; t < threads; ++t) {
          ASSERT_FALSE(affinity[t].empty()) << threads << " threads, " << machine.cores() << " cores, seed " << seed << ", thread " << t;
          ASSERT_TRUE(std::is_sorted(affinity[t].begin(), affinity[t].end()));
          ASSERT_EQ(std::adjacent_find(affinity[t].begin(), affinity[t].end()), affinity[t].end());
          ASSERT_LT(affinity[t].back().index(), machine.cores());
        }
        ASSERT_EQ(mapped(GetParam(), graph, machine), affinity);
      }
    }
  }
}

// 2400 threads on 8 cores (S3, section 4). A mapping that pins them apart leaves no core more than one thread above another.
TEST_P(EveryMapping, TakesThousandsOfThreads) {
  const Machine machine = small_machine(2, 4, {{0, 1}});
  ThreadGraph graph{2401};
  for (std::size_t t = 1; t < graph.threads.size(); ++t) graph.threads[t].parent = ThreadId{0u};
  for (auto& thread : graph.threads) thread.accesses = 10;
  const auto affinity = mapped(GetParam(), graph, machine);
  std::vector<int> load(machine.cores(), 0);
  for (std::size_t t = 1; t < affinity.size(); ++t) {
    if (affinity[t].size() > 1) {  // one that pins nobody leaves everybody every core
      EXPECT_EQ(affinity[t].size(), machine.cores());
      continue;
    }
    ++load[affinity[t].front().index()];
  }
  const auto [least, most] = std::minmax_element(load.begin(), load.end());
  // max - min <= 1; who deviates may load a core by a hundredth more than 2400 / 8 threads. Thread 0, not counted, may make one more.
  EXPECT_LE(*most - *least, 1 + (test::deviates(thread_mappings(), GetParam(), even_load) ? 3 : 0)) << GetParam();
}

TEST_P(EveryMapping, WantsTheGraphOfTheThreadsThatRunIfItWantsOne) {
  const auto mapping = thread_mappings().make(GetParam());
  if (!mapping->wants_graph()) return;
  const Machine machine = small_machine(1, 2, {});
  const ThreadGraph graph{3};
  EXPECT_THROW(mapping->prepare(nullptr, machine, 3), UsageError);
  EXPECT_THROW(mapping->prepare(&graph, machine, 4), UsageError);
}

TEST_P(EveryMapping, ForgetsWhatItWasPreparedForBefore) {
  const Machine large = small_machine(4, 3, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}), small = small_machine(1, 2, {});
  const ThreadGraph before = random_graph(40, 5), graph = random_graph(7, 3);
  const auto mapping = thread_mappings().make(GetParam());
  mapping->prepare(mapping->wants_graph() ? &before : nullptr, large, 40);
  mapping->prepare(mapping->wants_graph() ? &graph : nullptr, small, 7);
  const auto fresh = mapped(GetParam(), graph, small);
  for (std::size_t t = 0; t < 7; ++t) EXPECT_EQ(mapping->affinity(ThreadId{t}, Time{}), fresh[t]) << t;
}

INSTANTIATE_TEST_SUITE_P(registry, EveryMapping, ::testing::ValuesIn(test::every_text(thread_mappings())), test::test_name);

TEST(MappingContract, EntriesAreSound) { test::expect_sound_entries(thread_mappings(), {even_load}); }

}  // namespace
}  // namespace homenode
