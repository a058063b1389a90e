// The solver of placement problems against all placements of small ones.
#include "models/optimum/placement_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/successive_shortest_path_nonnegative_weights.hpp>
#include <limits>
#include <random>

#include "models/optimum/transport_flow.hpp"
#include "sim/base/errors.hpp"

namespace homenode::test {
namespace {

struct Best {
  double seconds = std::numeric_limits<double>::infinity(), linear = seconds;
};

// Over every node of every page that room allows.
Best over_all_placements(const PlacementProblem& problem) {
  Best best;
  std::uint64_t placements = 1;
  for (std::uint64_t page = 0; page < problem.pages(); ++page) placements *= problem.nodes;
  for (std::uint64_t number = 0; number < placements; ++number) {
    PageCounts counts;
    std::vector<std::uint64_t> used(problem.nodes, 0);
    double linear = 0;
    std::uint64_t digits = number;
    for (const PlacementProblem::PageClass& alike : problem.classes) {
      auto& of_class = counts.emplace_back(problem.nodes, 0);
      for (std::size_t page = 0; page < alike.pages.size(); ++page, digits /= problem.nodes) {
        const std::size_t node = digits % problem.nodes;
        ++of_class[node];
        ++used[node];
        for (const PlacementProblem::Seconds& added : alike.on[node])
          if (problem.rows[added.row].linear) linear += added.seconds;
      }
    }
    bool fits = true;
    for (std::size_t node = 0; node < problem.nodes; ++node) fits &= used[node] <= problem.room[node];
    if (!fits) continue;
    best.seconds = std::min(best.seconds, placement_seconds(problem, counts));
    best.linear = std::min(best.linear, linear);
  }
  for (const PlacementProblem::Row& row : problem.rows)
    if (row.linear) best.linear += row.fixed;
  return best;
}

// Phases of three rows and their mean, which is the linear one; up to 8 pages in up to 3 classes.
PlacementProblem random_problem(std::mt19937_64& random) {
  const auto pick = [&](std::uint64_t from, std::uint64_t to) { return std::uniform_int_distribution<std::uint64_t>{from, to}(random); };
  const auto seconds = [&] { return static_cast<double>(pick(0, 1000)) * 1e-9; };
  PlacementProblem problem;
  problem.nodes = pick(2, 3);
  problem.phases = pick(1, 2);
  constexpr std::uint32_t own_rows = 3;
  for (std::uint32_t phase = 0; phase < problem.phases; ++phase) {
    double sum = 0;
    for (std::uint32_t row = 0; row < own_rows; ++row) {
      problem.rows.push_back({phase, seconds(), false});
      sum += problem.rows.back().fixed;
    }
    problem.rows.push_back({phase, sum / own_rows, true});
  }
  const std::uint64_t classes = pick(1, 3);
  PageNumber page;
  for (std::uint64_t c = 0; c < classes; ++c) {
    PlacementProblem::PageClass& alike = problem.classes.emplace_back();
    for (std::uint64_t pages = pick(1, c == 0 ? 4 : 2); pages > 0; --pages) alike.pages.push_back(page), ++page;
    for (std::size_t node = 0; node < problem.nodes; ++node) {
      auto& on = alike.on.emplace_back();
      for (std::uint32_t phase = 0; phase < problem.phases; ++phase) {
        double sum = 0;
        for (std::uint32_t row = 0; row < own_rows; ++row) {
          on.push_back({phase * (own_rows + 1) + row, seconds()});
          sum += on.back().seconds;
        }
        on.push_back({phase * (own_rows + 1) + own_rows, sum / own_rows});
      }
    }
  }
  std::uint64_t room = 0;
  for (std::size_t node = 0; node < problem.nodes; ++node) room += problem.room.emplace_back(pick(1, 8));
  if (room < problem.pages()) problem.room.back() += problem.pages() - room;
  return problem;
}

TEST(PlacementSearch, findsTheBestOfAllPlacementsOfSmallProblems) {
  std::mt19937_64 random{4};
  for (int trial = 0; trial < 300; ++trial) {
    const PlacementProblem problem = random_problem(random);
    ASSERT_LE(problem.pages(), 8U);
    const Best best = over_all_placements(problem);
    const PlacementSolution solution = solve(problem);
    ASSERT_TRUE(solution.exact) << trial;
    EXPECT_NEAR(solution.seconds, best.seconds, 1e-15) << trial;
    EXPECT_EQ(solution.bound, solution.seconds);
    EXPECT_DOUBLE_EQ(placement_seconds(problem, solution.counts), solution.seconds);
    for (std::size_t node = 0; node < problem.nodes; ++node) {
      std::uint64_t used = 0;
      for (const auto& of_class : solution.counts) used += of_class[node];
      EXPECT_LE(used, problem.room[node]);
    }
  }
}

TEST(PlacementSearch, boundsWhatItDoesNotFinish) {
  std::mt19937_64 random{5};
  PlacementSearch short_of_time;
  short_of_time.most_branches = 2;
  int unfinished = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const PlacementProblem problem = random_problem(random);
    const double best = over_all_placements(problem).seconds;
    const PlacementSolution solution = solve(problem, short_of_time);
    EXPECT_LE(solution.bound, best * (1 + 1e-9)) << trial;
    EXPECT_GE(solution.seconds, best * (1 - 1e-9)) << trial;
    unfinished += !solution.exact;
  }
  EXPECT_GT(unfinished, 10);
}

// Costs of whole picoseconds, so that rounding them down changes nothing.
TEST(TransportFlow, isTheLeastSumOfTheLinearRows) {
  std::mt19937_64 random{6};
  for (int trial = 0; trial < 100; ++trial) {
    PlacementProblem problem = random_problem(random);
    const LinearPlacement linear = least_linear_placement(problem);
    // a third of whole nanoseconds is no whole picosecond: at most one is lost for each page
    const double lost = static_cast<double>(problem.pages()) * 1e-12;
    const double best = over_all_placements(problem).linear;
    EXPECT_LE(linear.bound, best * (1 + 1e-12)) << trial;
    EXPECT_GE(linear.bound, best - lost * (1 + 1e-9)) << trial;
  }
}

// Many classes on nodes that are nearly full, against the same problem as a flow from classes to nodes.
std::int64_t least_cost_by_flow(const std::vector<std::vector<std::int64_t>>& costs, const std::vector<std::uint64_t>& pages,
                                const std::vector<std::uint64_t>& room) {
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  struct Arc {
    std::int64_t capacity = 0, residual = 0, cost = 0;
    Traits::edge_descriptor reverse;
  };
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Arc>;
  const std::size_t classes = costs.size(), nodes = room.size(), source = classes + nodes, sink = source + 1;
  Graph graph{sink + 1};
  const auto connect = [&](std::size_t from, std::size_t to, std::uint64_t capacity, std::int64_t cost) {
    const auto arc = boost::add_edge(from, to, graph).first, back = boost::add_edge(to, from, graph).first;
    graph[arc] = {static_cast<std::int64_t>(capacity), 0, cost, back};
    graph[back] = {0, 0, -cost, arc};
  };
  for (std::size_t c = 0; c < classes; ++c) {
    connect(source, c, pages[c], 0);
    for (std::size_t node = 0; node < nodes; ++node) connect(c, classes + node, pages[c], costs[c][node]);
  }
  for (std::size_t node = 0; node < nodes; ++node) connect(classes + node, sink, room[node], 0);
  boost::successive_shortest_path_nonnegative_weights(graph, source, sink,
                                                      boost::capacity_map(boost::get(&Arc::capacity, graph))
                                                          .residual_capacity_map(boost::get(&Arc::residual, graph))
                                                          .weight_map(boost::get(&Arc::cost, graph))
                                                          .reverse_edge_map(boost::get(&Arc::reverse, graph)));
  std::int64_t cost = 0;
  for (const auto arc : boost::make_iterator_range(boost::edges(graph)))
    if (graph[arc].capacity > 0) cost += (graph[arc].capacity - graph[arc].residual) * graph[arc].cost;
  return cost;
}

TEST(TransportFlow, costsWhatTheFlowFromClassesToNodesCosts) {
  std::mt19937_64 random{11};
  const auto pick = [&](std::uint64_t from, std::uint64_t to) { return std::uniform_int_distribution<std::uint64_t>{from, to}(random); };
  for (int trial = 0; trial < 60; ++trial) {
    PlacementProblem problem;
    problem.nodes = pick(2, 6);
    problem.phases = 1;
    problem.rows = {{0, 0, true}};
    std::vector<std::vector<std::int64_t>> costs;
    std::vector<std::uint64_t> pages;
    for (std::uint64_t c = 0, classes = pick(1, 60); c < classes; ++c) {
      PlacementProblem::PageClass& alike = problem.classes.emplace_back();
      alike.pages.resize(pages.emplace_back(pick(1, 9)));
      auto& of_class = costs.emplace_back();
      for (std::size_t node = 0; node < problem.nodes; ++node) {
        of_class.push_back(static_cast<std::int64_t>(pick(0, 40)));  // few values: many ties
        alike.on.push_back({{0, (static_cast<double>(of_class.back()) + 0.5) * 1e-12}});
      }
    }
    const std::uint64_t each = problem.pages() / problem.nodes + 1;
    for (std::size_t node = 0; node < problem.nodes; ++node) problem.room.push_back(node == 0 ? 2 * each : pick(0, each));
    std::uint64_t room = 0;
    for (const std::uint64_t of_node : problem.room) room += of_node;
    if (room < problem.pages()) problem.room.back() += problem.pages() - room;

    const LinearPlacement found = least_linear_placement(problem);
    std::vector<std::uint64_t> used(problem.nodes, 0);
    for (std::size_t c = 0; c < costs.size(); ++c) {
      std::uint64_t placed = 0;
      for (std::size_t node = 0; node < problem.nodes; ++node) placed += found.counts[c][node], used[node] += found.counts[c][node];
      EXPECT_EQ(placed, pages[c]);
    }
    for (std::size_t node = 0; node < problem.nodes; ++node) EXPECT_LE(used[node], problem.room[node]);
    EXPECT_NEAR(found.bound * 1e12, static_cast<double>(least_cost_by_flow(costs, pages, problem.room)), 1e-6) << trial;
  }
}

// Thread 0 on node 0, thread 1 on node 1; page a is read by thread 0 alone, page b by both. A remote read takes 2 s, a local one 1 s.
// a local, b anywhere: T = max(1 + 1, 2) = 2 with b on node 0, max(1 + 2, 1) = 3 with b on node 1.
TEST(PlacementSearch, weighsThreadsAgainstEachOther) {
  PlacementProblem problem;
  problem.nodes = 2;
  problem.phases = 1;
  problem.room = {2, 2};
  problem.rows = {{0, 0, false}, {0, 0, false}, {0, 0, true}};
  problem.classes = {{{PageNumber{7}}, {{{0, 1}, {2, 0.5}}, {{0, 2}, {2, 1}}}},  // a
                     {{PageNumber{9}}, {{{0, 1}, {1, 2}, {2, 1.5}}, {{0, 2}, {1, 1}, {2, 1.5}}}}};
  const PlacementSolution solution = solve(problem);
  EXPECT_TRUE(solution.exact);
  EXPECT_DOUBLE_EQ(solution.seconds, 2);
  EXPECT_EQ(solution.counts, (PageCounts{{1, 0}, {1, 0}}));
  // Without room for both on node 0, thread 0 has one remote page: a there, T = max(2 + 1, 2) = 3; or b there, T = max(1 + 2, 1) = 3.
  problem.room = {1, 2};
  EXPECT_DOUBLE_EQ(solve(problem).seconds, 3);
  problem.room = {1, 0};
  EXPECT_THROW(solve(problem), UsageError);
}

}  // namespace
}  // namespace homenode::test
