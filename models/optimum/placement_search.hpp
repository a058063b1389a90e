// Solves a placement problem: exactly where it is small, otherwise a good placement and a bound.
//
// Hill climbing starts from the placement with the least linear part, from that of the run, and from every class spread evenly. A step
// moves pages of a class (all, half, one) between nodes; it is kept if T falls. If T then exceeds the bound and pages are few, branch
// and bound enumerates all placements. Pages of a class are not told apart. A partial placement is pruned once its rows, with the
// least that the remaining pages add to each, reach the best T known.
#pragma once

#include "models/optimum/placement_problem.hpp"

namespace homenode {

struct PlacementSearch {
  std::uint64_t most_moves = 100'000;             // tried while going downhill, from each start
  std::uint64_t most_row_sums = 20'000'000;       // likewise
  std::uint64_t most_pages_to_branch = 64;        // above, or with more rows times pages: no branch and bound
  std::uint64_t most_rows_to_branch = 2'000'000;  // times pages
  std::uint64_t most_branches = 200'000;          // partial placements looked at
  PageCounts start;                               // a placement to start from as well; may be empty
};

struct PlacementSolution {
  PageCounts counts;
  double seconds = 0;  // T
  double bound = 0;    // that no placement can beat
  bool exact = false;  // none has a smaller T
};

PlacementSolution solve(const PlacementProblem&, const PlacementSearch& = {});

}  // namespace homenode
