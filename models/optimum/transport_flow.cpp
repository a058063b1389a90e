#include "models/optimum/transport_flow.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/successive_shortest_path_nonnegative_weights.hpp>
#include <cmath>
#include <string>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
struct Arc {
  std::int64_t capacity = 0, residual = 0;  // pages
  std::int64_t cost = 0;                    // picoseconds a page
  Traits::edge_descriptor reverse;
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Arc>;

constexpr double picosecond = 1e-12;

Graph::edge_descriptor connect(Graph& graph, std::size_t from, std::size_t to, std::int64_t capacity, std::int64_t cost) {
  const auto arc = boost::add_edge(from, to, graph).first, back = boost::add_edge(to, from, graph).first;
  graph[arc] = {capacity, 0, cost, back};
  graph[back] = {0, 0, -cost, arc};
  return arc;
}

}  // namespace

LinearPlacement least_linear_placement(const PlacementProblem& problem) {
  const std::size_t classes = problem.classes.size(), source = classes + problem.nodes, sink = source + 1;
  Graph graph{sink + 1};
  std::vector<std::vector<Graph::edge_descriptor>> arcs(classes);
  const auto wanted = static_cast<std::int64_t>(problem.pages());
  for (std::size_t c = 0; c < classes; ++c) {
    const PlacementProblem::PageClass& alike = problem.classes[c];
    const auto pages = static_cast<std::int64_t>(alike.pages.size());
    connect(graph, source, c, pages, 0);
    for (std::size_t node = 0; node < problem.nodes; ++node) {
      double seconds = 0;
      for (const PlacementProblem::Seconds& added : alike.on[node])
        if (problem.rows[added.row].linear) seconds += added.seconds;
      arcs[c].push_back(connect(graph, c, classes + node, pages, static_cast<std::int64_t>(std::floor(seconds / picosecond))));
    }
  }
  for (std::size_t node = 0; node < problem.nodes; ++node) {
    const auto room = static_cast<std::int64_t>(std::min<std::uint64_t>(problem.room[node], static_cast<std::uint64_t>(wanted)));
    connect(graph, classes + node, sink, room, 0);
  }
  boost::successive_shortest_path_nonnegative_weights(graph, source, sink,
                                                      boost::capacity_map(boost::get(&Arc::capacity, graph))
                                                          .residual_capacity_map(boost::get(&Arc::residual, graph))
                                                          .weight_map(boost::get(&Arc::cost, graph))
                                                          .reverse_edge_map(boost::get(&Arc::reverse, graph)));

  LinearPlacement result;
  for (const PlacementProblem::Row& row : problem.rows)
    if (row.linear) result.bound += row.fixed;
  std::int64_t placed = 0, cost = 0;
  for (const auto& of_class : arcs) {
    auto& counts = result.counts.emplace_back();
    for (const Graph::edge_descriptor& arc : of_class) {
      const std::int64_t flow = graph[arc].capacity - graph[arc].residual;
      counts.push_back(static_cast<std::uint64_t>(flow));
      placed += flow;
      cost += flow * graph[arc].cost;
    }
  }
  if (placed < wanted) {
    throw UsageError("no room for " + std::to_string(wanted - placed) + " of " + std::to_string(wanted) +
                     " pages in the machine's memory; allowed: pages that fit");
  }
  result.bound += static_cast<double>(cost) * picosecond;
  return result;
}

}  // namespace homenode
