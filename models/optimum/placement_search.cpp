#include "models/optimum/placement_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "models/optimum/transport_flow.hpp"

namespace homenode {
namespace {

// Sums of seconds in another order differ by less than this share.
constexpr double rounding = 1e-9;

using Seconds = PlacementProblem::Seconds;

// Rows' values of a placement, and what a change does to T.
class Values {
public:
  explicit Values(const PlacementProblem& problem) : problem_{problem}, first_{problem.first_rows()}, greatest_(problem.phases, 0.0) {
    for (const PlacementProblem::Row& row : problem.rows) value_.push_back(row.fixed);
    settle();
  }

  void add(const std::vector<Seconds>& seconds, double pages) {
    for (const Seconds& added : seconds) value_[added.row] += added.seconds * pages;
  }
  // The phases of these rows get their greatest row anew. Returns the rows looked at.
  std::uint64_t settle(const std::vector<Seconds>& one, const std::vector<Seconds>& other) {
    changed_.clear();
    note(one);
    note(other);
    std::uint64_t rows = 0;
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    for (const std::uint32_t phase : changed_) {
      greatest_[phase] = greatest_of(phase);
      rows += first_[phase + 1] - first_[phase];
    }
    return rows;
  }
  void settle() {
    for (std::uint32_t phase = 0; phase < problem_.phases; ++phase) greatest_[phase] = greatest_of(phase);
  }
  double seconds() const { return std::accumulate(greatest_.begin(), greatest_.end(), 0.0); }
  // Greatest value of each phase with `more` added to each row, summed.
  double with(const std::vector<double>& more) const {
    double sum = 0;
    for (std::size_t phase = 0; phase < greatest_.size(); ++phase) {
      double greatest = 0;
      for (std::uint32_t row = first_[phase]; row < first_[phase + 1]; ++row) greatest = std::max(greatest, value_[row] + more[row]);
      sum += greatest;
    }
    return sum;
  }

private:
  void note(const std::vector<Seconds>& seconds) {
    for (const Seconds& added : seconds) {
      const std::uint32_t phase = problem_.rows[added.row].phase;
      if (changed_.empty() || changed_.back() != phase) changed_.push_back(phase);
    }
  }
  double greatest_of(std::uint32_t phase) const {
    double greatest = 0;
    for (std::uint32_t row = first_[phase]; row < first_[phase + 1]; ++row) greatest = std::max(greatest, value_[row]);
    return greatest;
  }

  const PlacementProblem& problem_;
  std::vector<std::uint32_t> first_, changed_;
  std::vector<double> value_, greatest_;  // by row; by phase
};

std::vector<std::uint64_t> used_room(const PlacementProblem& problem, const PageCounts& counts) {
  std::vector<std::uint64_t> used(problem.nodes, 0);
  for (const auto& of_class : counts)
    for (std::size_t node = 0; node < problem.nodes; ++node) used[node] += of_class[node];
  return used;
}

bool fits(const PlacementProblem& problem, const PageCounts& counts) {
  const std::vector<std::uint64_t> used = used_room(problem, counts);
  for (std::size_t node = 0; node < problem.nodes; ++node)
    if (used[node] > problem.room[node]) return false;
  return true;
}

// What rows hold at least, each with every page where it adds least to that row.
double bound_by_rows(const PlacementProblem& problem) {
  std::vector<double> more(problem.rows.size(), 0.0), least(problem.rows.size(), 0.0);
  std::vector<std::size_t> nodes(problem.rows.size(), 0);  // that add to the row
  std::vector<std::uint32_t> rows;
  for (const PlacementProblem::PageClass& alike : problem.classes) {
    rows.clear();
    for (const auto& on : alike.on) {
      for (const Seconds& added : on) {
        if (nodes[added.row]++ == 0) {
          rows.push_back(added.row);
          least[added.row] = added.seconds;
        }
        least[added.row] = std::min(least[added.row], added.seconds);
      }
    }
    for (const std::uint32_t row : rows) {
      if (nodes[row] == problem.nodes) more[row] += least[row] * static_cast<double>(alike.pages.size());
      nodes[row] = 0;
    }
  }
  return Values{problem}.with(more);
}

PageCounts spread(const PlacementProblem& problem) {
  PageCounts counts;
  std::size_t next = 0;
  for (const PlacementProblem::PageClass& alike : problem.classes) {
    auto& of_class = counts.emplace_back(problem.nodes, alike.pages.size() / problem.nodes);
    for (std::size_t rest = alike.pages.size() % problem.nodes; rest-- > 0;) ++of_class[next++ % problem.nodes];
  }
  return counts;
}

// Moves pages while T falls.
void descend(const PlacementProblem& problem, const PlacementSearch& search, PageCounts& counts) {
  Values values{problem};
  for (std::size_t c = 0; c < counts.size(); ++c)
    for (std::size_t node = 0; node < problem.nodes; ++node)
      if (counts[c][node] != 0) values.add(problem.classes[c].on[node], static_cast<double>(counts[c][node]));
  values.settle();
  std::vector<std::uint64_t> used = used_room(problem, counts);
  double best = values.seconds();
  std::uint64_t moves = 0, rows = 0;
  const auto try_move = [&](std::size_t c, std::size_t from, std::size_t to, std::uint64_t pages) {
    if (pages == 0 || pages > counts[c][from] || used[to] + pages > problem.room[to]) return false;
    const auto number = static_cast<double>(pages);
    const auto& on = problem.classes[c].on;
    values.add(on[from], -number);
    values.add(on[to], number);
    rows += values.settle(on[from], on[to]) + problem.phases;
    ++moves;
    const double now = values.seconds();
    if (now < best * (1 - rounding)) {
      counts[c][from] -= pages;
      counts[c][to] += pages;
      used[from] -= pages;
      used[to] += pages;
      best = now;
      return true;
    }
    values.add(on[to], -number);
    values.add(on[from], number);
    rows += values.settle(on[from], on[to]);
    return false;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      for (std::size_t from = 0; from < problem.nodes; ++from) {
        for (std::size_t to = 0; to < problem.nodes; ++to) {
          if (from == to || counts[c][from] == 0) continue;
          if (moves >= search.most_moves || rows >= search.most_row_sums) return;
          for (const std::uint64_t pages : {counts[c][from], counts[c][from] / 2, std::uint64_t{1}}) moved |= try_move(c, from, to, pages);
        }
      }
    }
  }
}

// Over all placements, page by page.
class Branches {
public:
  Branches(const PlacementProblem& problem, std::uint64_t most, PlacementSolution& best)
      : problem_{problem}, most_{most}, best_{best}, values_{problem}, left_{problem.room} {
    std::vector<std::size_t> order(problem.classes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weight(a) > weight(b); });
    for (const std::size_t c : order) class_of_.insert(class_of_.end(), problem.classes[c].pages.size(), c);
    node_of_.resize(class_of_.size());
    // Row by row the least that the pages from the k-th on add.
    least_.assign(class_of_.size() + 1, std::vector<double>(problem.rows.size(), 0.0));
    for (std::size_t k = class_of_.size(); k-- > 0;) {
      std::vector<double> least(problem.rows.size(), std::numeric_limits<double>::max()), here;
      for (const auto& on : problem.classes[class_of_[k]].on) {
        here.assign(problem.rows.size(), 0.0);
        for (const Seconds& added : on) here[added.row] += added.seconds;
        for (std::size_t row = 0; row < here.size(); ++row) least[row] = std::min(least[row], here[row]);
      }
      for (std::size_t row = 0; row < least.size(); ++row) least_[k][row] = least_[k + 1][row] + least[row];
    }
  }

  // False if it gave up.
  bool search() { return place(0); }

private:
  double weight(std::size_t c) const {
    double greatest = 0;
    for (const auto& on : problem_.classes[c].on)
      for (const Seconds& added : on) greatest = std::max(greatest, added.seconds);
    return greatest;
  }

  bool place(std::size_t k) {
    if (++looked_at_ > most_) return false;
    const double least = values_.with(least_[k]);
    if (least >= best_.seconds * (1 - rounding)) return true;
    if (k == class_of_.size()) {
      best_.seconds = least;
      best_.counts.assign(problem_.classes.size(), std::vector<std::uint64_t>(problem_.nodes, 0));
      for (std::size_t page = 0; page < k; ++page) ++best_.counts[class_of_[page]][node_of_[page]];
      return true;
    }
    const auto& on = problem_.classes[class_of_[k]].on;
    const bool like_the_last = k > 0 && class_of_[k - 1] == class_of_[k];
    for (std::size_t node = like_the_last ? node_of_[k - 1] : 0; node < problem_.nodes; ++node) {
      if (left_[node] == 0) continue;
      --left_[node];
      node_of_[k] = node;
      values_.add(on[node], 1);
      const bool whole = place(k + 1);
      values_.add(on[node], -1);
      ++left_[node];
      if (!whole) return false;
    }
    return true;
  }

  const PlacementProblem& problem_;
  std::uint64_t most_, looked_at_ = 0;
  PlacementSolution& best_;
  Values values_;
  std::vector<std::uint64_t> left_;         // room by node
  std::vector<std::size_t> class_of_;       // of the k-th page
  std::vector<std::size_t> node_of_;        // likewise, while it is placed
  std::vector<std::vector<double>> least_;  // by k, by row
};

}  // namespace

PlacementSolution solve(const PlacementProblem& problem, const PlacementSearch& search) {
  const LinearPlacement linear = least_linear_placement(problem);
  PlacementSolution best;
  best.bound = std::max(linear.bound, bound_by_rows(problem));
  best.seconds = std::numeric_limits<double>::infinity();
  for (const PageCounts& start : {linear.counts, search.start, spread(problem)}) {
    if (start.size() != problem.classes.size() || !fits(problem, start)) continue;
    PageCounts counts = start;
    descend(problem, search, counts);
    const double seconds = placement_seconds(problem, counts);
    if (seconds < best.seconds) {
      best.seconds = seconds;
      best.counts = std::move(counts);
    }
  }
  best.exact = best.seconds <= best.bound * (1 + rounding);
  if (!best.exact && problem.pages() <= search.most_pages_to_branch &&
      problem.rows.size() * problem.pages() <= search.most_rows_to_branch) {
    Branches branches{problem, search.most_branches, best};
    best.exact = branches.search();
    if (best.exact) best.seconds = placement_seconds(problem, best.counts);
  }
  if (best.exact) best.bound = best.seconds;
  return best;
}

}  // namespace homenode
