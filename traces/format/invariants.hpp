// Whether a workload holds together.
#pragma once

#include <string>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

// One line for each broken invariant, at most 100: blocks that leave out or repeat an iteration, references to what does not
// exist, accesses outside of their object, sequence numbers out of order, sums that differ from their parts.
std::vector<std::string> broken_invariants(const Workload&);

}  // namespace homenode
