#include "models/optimum/transport_flow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

using Cost = std::int64_t;  // picoseconds a page
constexpr double picosecond = 1e-12;
constexpr Cost unreachable = std::numeric_limits<Cost>::max();

// What a page of the class adds to the linear rows, by node.
std::vector<Cost> costs_of(const PlacementProblem& problem, const PlacementProblem::PageClass& alike) {
  std::vector<Cost> costs;
  for (const auto& on : alike.on) {
    double seconds = 0;
    for (const PlacementProblem::Seconds& added : on)
      if (problem.rows[added.row].linear) seconds += added.seconds;
    costs.push_back(static_cast<Cost>(std::floor(seconds / picosecond)));
  }
  return costs;
}

void check_room(const PlacementProblem& problem) {
  const std::uint64_t wanted = problem.pages();
  std::uint64_t room = 0;
  for (const std::uint64_t of_node : problem.room) room += std::min(of_node, wanted - room);
  if (room < wanted) {
    throw UsageError("no room for " + std::to_string(wanted - room) + " of " + std::to_string(wanted) +
                     " pages in the machine's memory; allowed: pages that fit");
  }
}

// Pages on their cheapest nodes, as if these had room for all; then the flow that empties what is too full. After each step no placement
// with as many pages on each node costs less.
class Relocation {
public:
  explicit Relocation(const PlacementProblem& problem) : problem_{problem}, nodes_{problem.nodes}, used_(problem.nodes, 0) {
    for (const PlacementProblem::PageClass& alike : problem.classes) {
      costs_.push_back(costs_of(problem, alike));
      const auto cheapest = std::min_element(costs_.back().begin(), costs_.back().end()) - costs_.back().begin();
      counts_.emplace_back(nodes_, 0).at(static_cast<std::size_t>(cheapest)) = alike.pages.size();
      used_[static_cast<std::size_t>(cheapest)] += alike.pages.size();
    }
  }

  void fit() {
    if (!too_full()) return;
    moves_.resize(nodes_ * nodes_);
    for (std::size_t c = 0; c < counts_.size(); ++c)
      for (std::size_t node = 0; node < nodes_; ++node)
        if (counts_[c][node] > 0) offer(c, node);
    while (too_full()) move_along_cheapest_path();
  }

  const PageCounts& counts() const { return counts_; }
  Cost cost() const {
    Cost sum = 0;
    for (std::size_t c = 0; c < counts_.size(); ++c)
      for (std::size_t node = 0; node < nodes_; ++node) sum += static_cast<Cost>(counts_[c][node]) * costs_[c][node];
    return sum;
  }

private:
  struct Move {  // of a page of a class to another node
    Cost cost = 0;
    std::size_t of = 0;
    bool operator>(const Move& other) const { return std::tie(cost, of) > std::tie(other.cost, other.of); }
  };
  using Moves = std::priority_queue<Move, std::vector<Move>, std::greater<>>;  // some of them of classes that are there no more

  bool too_full() const {
    for (std::size_t node = 0; node < nodes_; ++node)
      if (used_[node] > problem_.room[node]) return true;
    return false;
  }
  void offer(std::size_t c, std::size_t from) {
    for (std::size_t to = 0; to < nodes_; ++to)
      if (to != from) moves_[from * nodes_ + to].push({costs_[c][to] - costs_[c][from], c});
  }
  Cost cheapest(std::size_t from, std::size_t to) {
    Moves& moves = moves_[from * nodes_ + to];
    while (!moves.empty() && counts_[moves.top().of][from] == 0) moves.pop();
    return moves.empty() ? unreachable : moves.top().cost;
  }

  // From any node that is too full to each node, over nodes whose pages make way (Bellman and Ford: moves back cost less than nothing).
  struct Paths {
    std::vector<Cost> cost;
    std::vector<std::size_t> before;  // the node before on the path; itself where it begins
  };
  Paths cheapest_paths() {
    Paths paths{std::vector<Cost>(nodes_, unreachable), std::vector<std::size_t>(nodes_)};
    for (std::size_t node = 0; node < nodes_; ++node) {
      paths.before[node] = node;
      if (used_[node] > problem_.room[node]) paths.cost[node] = 0;
    }
    for (bool shorter = true; std::exchange(shorter, false);)
      for (std::size_t from = 0; from < nodes_; ++from)
        for (std::size_t to = 0; to < nodes_; ++to) {
          const Cost step = from == to || paths.cost[from] == unreachable ? unreachable : cheapest(from, to);
          if (step == unreachable || paths.cost[from] + step >= paths.cost[to]) continue;
          paths.cost[to] = paths.cost[from] + step;
          paths.before[to] = from;
          shorter = true;
        }
    return paths;
  }

  void move_along_cheapest_path() {
    const auto [distance, before] = cheapest_paths();
    std::size_t end = nodes_;
    for (std::size_t node = 0; node < nodes_; ++node)
      if (used_[node] < problem_.room[node] && (end == nodes_ || distance[node] < distance[end])) end = node;
    std::uint64_t pages = problem_.room[end] - used_[end];
    std::size_t begin = end;
    for (; before[begin] != begin; begin = before[begin])
      pages = std::min(pages, counts_[moves_[before[begin] * nodes_ + begin].top().of][before[begin]]);
    pages = std::min(pages, used_[begin] - problem_.room[begin]);
    used_[begin] -= pages;
    used_[end] += pages;
    for (std::size_t to = end; to != begin; to = before[to]) {
      const std::size_t from = before[to], c = moves_[from * nodes_ + to].top().of;
      counts_[c][from] -= pages;
      if (std::exchange(counts_[c][to], counts_[c][to] + pages) == 0) offer(c, to);
    }
  }

  const PlacementProblem& problem_;
  std::size_t nodes_;
  std::vector<std::vector<Cost>> costs_;  // by class and node
  PageCounts counts_;
  std::vector<std::uint64_t> used_;  // pages by node
  std::vector<Moves> moves_;         // by node from and node to
};

}  // namespace

LinearPlacement least_linear_placement(const PlacementProblem& problem) {
  check_room(problem);
  Relocation relocation{problem};
  relocation.fit();
  LinearPlacement result{.counts = relocation.counts(), .bound = static_cast<double>(relocation.cost()) * picosecond};
  for (const PlacementProblem::Row& row : problem.rows)
    if (row.linear) result.bound += row.fixed;
  return result;
}

}  // namespace homenode
