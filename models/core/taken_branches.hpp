// Taken branches that the core finds in the first of its branch target buffers, and those that it does not: what follows these is fetched
// later.
#pragma once

#include <cstdint>
#include <vector>

#include "models/core/core_properties.hpp"
#include "models/core/window_simulation.hpp"
#include "models/core/window_stream.hpp"

namespace homenode {

struct TakenBranch {
  std::uint32_t instruction = 0;  // of the stream: the one behind which the code goes on elsewhere
  double cycles = 0;              // that the front end takes for the code up to it and, where it is far, for finding what is behind
};
// Cycles that the front end takes for all of them where code begins at the worst place of its line; 0 where it makes no difference.
double most_cycles(const WindowStream&, const WindowOfBlocks&, const BranchTargets&);
// Of a window, in its order: jumps, calls, returns, and conditional branches that are taken, which only blocks that tell their addresses
// show. Where in its line the code before a branch begins is told by the window, or not known. A branch that the
// window has not had before is far by the chance that others of it were, which come again or, until its end, do not (E. L. Kaplan and P.
// Meier, Journal of the American Statistical Association 53, 1958); chances are spread evenly.
std::vector<TakenBranch> taken_branches(const WindowStream&, const WindowOfBlocks&, const BranchTargets&);

}  // namespace homenode
