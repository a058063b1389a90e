// The linear part of a placement problem: pages go where the sum of their linear rows is least, at most `room` pages to a node. A
// transportation problem, solved exactly as a flow of least cost from classes of pages to nodes (Boost.Graph, successive shortest
// paths: Ahuja, Magnanti, Orlin, Network Flows, section 9.7). Costs are whole picoseconds, rounded down.
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
