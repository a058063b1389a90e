#include "models/optimum/placement_problem.hpp"

#include <algorithm>

namespace homenode {

std::uint64_t PlacementProblem::pages() const {
  std::uint64_t sum = 0;
  for (const PageClass& alike : classes) sum += alike.pages.size();
  return sum;
}

std::vector<std::uint32_t> PlacementProblem::first_rows() const {
  std::vector<std::uint32_t> first(phases + 1, static_cast<std::uint32_t>(rows.size()));
  for (std::size_t row = rows.size(); row-- > 0;) first[rows[row].phase] = static_cast<std::uint32_t>(row);
  for (std::size_t phase = phases; phase-- > 0;) first[phase] = std::min(first[phase], first[phase + 1]);
  return first;
}

double placement_seconds(const PlacementProblem& problem, const PageCounts& counts) {
  std::vector<double> value;
  for (const PlacementProblem::Row& row : problem.rows) value.push_back(row.fixed);
  for (std::size_t c = 0; c < counts.size(); ++c) {
    for (std::size_t node = 0; node < problem.nodes; ++node) {
      for (const PlacementProblem::Seconds& added : problem.classes[c].on[node])
        value[added.row] += added.seconds * static_cast<double>(counts[c][node]);
    }
  }
  std::vector<double> greatest(problem.phases, 0.0);
  for (std::size_t row = 0; row < value.size(); ++row) {
    double& of_phase = greatest[problem.rows[row].phase];
    of_phase = std::max(of_phase, value[row]);
  }
  double sum = 0;
  for (const double seconds : greatest) sum += seconds;
  return sum;
}

}  // namespace homenode
