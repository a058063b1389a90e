// The linear part of a placement problem: pages go where the sum of their linear rows is least, at most `room` pages to a node. A
// transportation problem from classes of pages to nodes, solved exactly by successive shortest paths (Ahuja, Magnanti, Orlin, Network
// Flows, section 9.7): there are many classes and few nodes, so that paths are searched among the nodes alone; a general flow over all
// classes takes minutes where they are tens of thousands. Where all pages fit on their cheapest nodes there is nothing to search. Costs are
// whole picoseconds, rounded down.
#pragma once

#include "models/optimum/placement_problem.hpp"

namespace homenode {

struct LinearPlacement {
  PageCounts counts;
  double bound = 0;  // seconds: the linear rows of the best placement; no placement's T is less
};

// Throws UsageError when there is not room for all pages.
LinearPlacement least_linear_placement(const PlacementProblem&);

}  // namespace homenode
