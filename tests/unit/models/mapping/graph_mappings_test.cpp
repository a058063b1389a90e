// Mappings by the graph of threads: NUMA-BTDM's rules (S3, section 3; C55), TreeMatch, Scotch, opportunistic load balancing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/mapping/register.hpp"
#include "sim/base/errors.hpp"
#include "tests/unit/sim/machine/test_machine.hpp"

namespace homenode {
namespace {

using ::testing::ElementsAre;

// `parents[t]` created thread t + 1; each pair depends on each other with so many bytes.
struct Pair {
  std::size_t a, b;
  std::uint64_t bytes = 8;
};
ThreadGraph graph_of(const std::vector<std::size_t>& parents, const std::vector<Pair>& pairs) {
  ThreadGraph graph{parents.size() + 1};
  for (std::size_t t = 0; t < parents.size(); ++t) graph.threads[t + 1].parent = ThreadId{parents[t]};
  for (const Pair& pair : pairs) {
    graph.add_shared(ThreadId{pair.a}, ThreadId{pair.b}, pair.bytes);
    graph.add_dependent(ThreadId{pair.a}, ThreadId{pair.b}, pair.bytes);
  }
  return graph;
}
std::vector<std::size_t> sons_of_main(std::size_t count) { return std::vector<std::size_t>(count, 0); }

using Cores = std::vector<std::vector<std::size_t>>;
Cores mapped(const std::string& name, const ThreadGraph& graph, const Machine& machine) {
  const auto mapping = thread_mappings().make(name);
  mapping->prepare(&graph, machine, graph.threads.size());
  Cores result;
  for (std::size_t t = 0; t < graph.threads.size(); ++t) {
    result.emplace_back();
    for (const CoreId core : mapping->affinity(ThreadId{t}, Time{})) result.back().push_back(core.index());
  }
  return result;
}
Cores btdm(const ThreadGraph& graph, unsigned cores) { return mapped("btdm", graph, small_machine(1, cores, {})); }

// C55: k = cores / threads, core_i = floor(i k) mod cores.
TEST(Btdm, AutonomousThreadsGoToTheFloorOfMultiplesOfK) {
  // k = 8 / 3 = 2.67: 0, 2.67, 5.33
  EXPECT_THAT(btdm(graph_of(sons_of_main(3), {}), 8), ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(2), ElementsAre(5)));
  // k = 4 / 6 = 0.67: 0, 0.67, 1.33, 2, 2.67, 3.33
  EXPECT_THAT(btdm(graph_of(sons_of_main(6), {}), 4),
              ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(2), ElementsAre(3)));
  // one thread a core: k = 1
  const Cores same = btdm(graph_of(sons_of_main(5), {}), 5);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_THAT(same[i + 1], ElementsAre(i));
}

TEST(Btdm, AutonomousThreadsAreBalanced) {
  for (unsigned cores = 1; cores <= 17; ++cores) {
    for (std::size_t threads = 1; threads <= 60; ++threads) {
      const Cores mapping = btdm(graph_of(sons_of_main(threads), {}), cores);
      std::vector<int> load(cores, 0);
      for (std::size_t t = 1; t <= threads; ++t) ++load[mapping[t].front()];
      const auto [least, most] = std::minmax_element(load.begin(), load.end());
      ASSERT_LE(*most - *least, 1) << threads << " on " << cores;  // max - min <= 1
    }
  }
}

// Preorder of the communication tree:   0 - (1 - (3)), 2    all autonomous: 1, 3, 2; k = 3 / 3
TEST(Btdm, AutonomousThreadsAreTakenInPreorder) {
  EXPECT_THAT(btdm(graph_of({0, 0, 1}, {}), 3), ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(2), ElementsAre(1)));
}

// All of 1, 2, 3 share: 1 is of the first level, after the root's core 0; 2 and 3 join it. "The threads being all mapped on the same core".
TEST(Btdm, SideBySideThreadsShareTheirCore) {
  EXPECT_THAT(btdm(graph_of(sons_of_main(3), {{1, 2}, {2, 3}, {3, 1}}), 8),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(1), ElementsAre(1)));
}

// Relative to the root, and to another (else they were postponed): they join the root.
TEST(Btdm, ThreadsSideBySideRelativeToTheRootJoinIt) {
  EXPECT_THAT(btdm(graph_of(sons_of_main(2), {{0, 1}, {0, 2}, {1, 2}}), 8), ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(0)));
}

// "The reunion between the cores on which the node and the cores on which the parent node is executed": 3 shares with 1 and with 2,
// which share nothing with each other.
TEST(Btdm, AThreadWithTwoPartnersMayUseTheCoresOfBoth) {
  EXPECT_THAT(btdm(graph_of(sons_of_main(3), {{1, 3}, {2, 3}}), 8),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(1, 2)));
}

// In a chain 1 - 2 - 3 - 4 inorder meets the sons before their parents have a core; they get it in the end.
TEST(Btdm, AChainEndsOnOneCore) {
  EXPECT_THAT(btdm(graph_of(sons_of_main(4), {{1, 2}, {2, 3}, {3, 4}}), 8),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(1), ElementsAre(1), ElementsAre(1)));
}

// 3 shares with 1, 4 with 2 and with 3. Inorder is 4 (under 3), 3, 1, root, 4 (under 2), 2: when 4 is met under 3, that has no core yet.
TEST(Btdm, AThreadMetBeforeItsParentHasNothingOfIt) {
  EXPECT_THAT(btdm(graph_of(sons_of_main(4), {{1, 3}, {3, 4}, {2, 4}}), 8),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(1), ElementsAre(2)));
}

// Leaders 1 and 2 are autonomous, 3 and 4 (5 and 6) share and were created by 1 (2): to their leader's core. k = 4 / 2 = 2.
TEST(Btdm, SideBySideThreadsOfALeaderJoinIt) {
  EXPECT_THAT(btdm(graph_of({0, 0, 1, 1, 2, 2}, {{3, 4}, {5, 6}}), 4),
              ElementsAre(ElementsAre(0), ElementsAre(0), ElementsAre(2), ElementsAre(0), ElementsAre(0), ElementsAre(2), ElementsAre(2)));
}

// 1 is postponed, 2, 3 and 4 autonomous on cores 0, 1, 2 (k = 4 / 3 = 1.33: 0, 1, 2), the root on 0: core 3 has nobody.
TEST(Btdm, PostponedThreadsGoToTheLeastLoadedCore) {
  const Cores mapping = btdm(graph_of(sons_of_main(4), {{0, 1}}), 4);
  EXPECT_THAT(mapping, ElementsAre(ElementsAre(0), ElementsAre(3), ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

// Postorder:   0 - 1 (autonomous) - (2, 3 postponed), 4 postponed    2, 3 before 4. Loads: core 0 has the root and 1.
TEST(Btdm, PostponedThreadsAreTakenInPostorder) {
  const Cores mapping = btdm(graph_of({0, 1, 1, 0, 0}, {{1, 2}, {1, 3}, {0, 4}, {0, 5}}), 8);
  // 1 depends on its postponed sons, so it is side-by-side: of the first level, core 1. Then 2 -> core 2, 3 -> 3, 4 -> 4, 5 -> 5
  EXPECT_THAT(mapping, ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3), ElementsAre(4), ElementsAre(5)));
}

// "A postponed thread that has no other brother thread is set with priority as side-by-side": it joins its creator.
TEST(Btdm, APostponedThreadWithoutABrotherIsSideBySide) {
  EXPECT_THAT(btdm(graph_of({0}, {{0, 1}}), 4), ElementsAre(ElementsAre(0), ElementsAre(0)));
  EXPECT_THAT(btdm(graph_of({0, 0}, {{0, 1}}), 4), ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(0)));  // with one it is not
}

// Two pairs on two sockets of two cores; the heavy edges are 0-2 and 1-3: those stay within a socket.
TEST(GraphMappings, ThatLookAtBytesKeepThePairsOfASocketTogether) {
  const Machine machine = small_machine(2, 2, {{0, 1}});
  const ThreadGraph graph = graph_of(sons_of_main(3), {{0, 2, 100000}, {1, 3, 100000}, {0, 1, 10}, {2, 3, 10}});
  for (const std::string name : {"treematch", "scotch"}) {
    const Cores mapping = mapped(name, graph, machine);
    const auto socket = [&](std::size_t t) { return mapping[t].front() / 2; };
    EXPECT_EQ(socket(0), socket(2)) << name;
    EXPECT_EQ(socket(1), socket(3)) << name;
    EXPECT_NE(socket(0), socket(1)) << name;
    EXPECT_NE(mapping[0], mapping[2]) << name;
    EXPECT_NE(mapping[1], mapping[3]) << name;
  }
}

// Eight threads on two cores: four each, and the two cliques of four stay whole.
TEST(GraphMappings, MoreThreadsThanCoresKeepCliquesWhole) {
  std::vector<Pair> pairs;
  for (const std::size_t first : {0, 1})
    for (std::size_t a = first; a < 8; a += 2)
      for (std::size_t b = a + 2; b < 8; b += 2) pairs.push_back({a, b, 4096});
  for (const std::string name : {"treematch", "scotch"}) {
    const Cores mapping = mapped(name, graph_of(sons_of_main(7), pairs), small_machine(1, 2, {}));
    for (std::size_t t = 2; t < 8; ++t) EXPECT_EQ(mapping[t], mapping[t - 2]) << name << ", thread " << t;
    EXPECT_NE(mapping[0], mapping[1]) << name;
  }
}

// Loads 10, 1, 1, 1: the first core is full until the second has as much; ties go to the lower number.
TEST(GraphMappings, GreedyFillsTheCoreWithTheFewestAccesses) {
  ThreadGraph graph = graph_of(sons_of_main(3), {});
  graph.threads[0].accesses = 10;
  for (std::size_t t = 1; t < 4; ++t) graph.threads[t].accesses = 1;
  EXPECT_THAT(mapped("greedy", graph, small_machine(1, 2, {})),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(1), ElementsAre(1)));
}

TEST(Cores, ThreadsGoToTheListedCoresInTurn) {
  const Machine machine = small_machine(2, 2, {{0, 1}});
  const ThreadGraph graph{5};
  EXPECT_THAT(mapped("cores:3:0:1", graph, machine),
              ElementsAre(ElementsAre(3), ElementsAre(0), ElementsAre(1), ElementsAre(3), ElementsAre(0)));
  EXPECT_THROW(mapped("cores:0:4", graph, machine), UsageError);
}

TEST(GraphMappings, WantTheGraphOfTheThreads) {
  for (const std::string name : {"btdm", "treematch", "greedy", "scotch"}) EXPECT_TRUE(thread_mappings().make(name)->wants_graph()) << name;
  EXPECT_THROW(thread_mappings().make("btdm:call=3"), UsageError);  // no unit
}

}  // namespace
}  // namespace homenode
