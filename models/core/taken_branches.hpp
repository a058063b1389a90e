// Taken branches that the core finds in the first of its branch target buffers, and those that it does not: what follows these is fetched
// later.
#pragma once

#include <cstdint>
#include <vector>

#include "models/core/core_target.hpp"
#include "models/core/window_simulation.hpp"
#include "models/core/window_stream.hpp"

namespace homenode {

// A front end that predicts ahead of the code takes `near` cycles from one taken branch to the next, `far` where the branch is not one of
// the `entries` last ones that differ. It is at most `ahead` cycles before what is dispatched.
struct BranchTargets {
  unsigned entries = 0;  // 0: not known, and nothing waits for it
  unsigned near = 1, far = 2, ahead = 32;
};
BranchTargets branch_targets(const CoreTarget&);

struct TakenBranch {
  std::uint32_t instruction = 0;  // of the stream: the one behind which the code goes on elsewhere
  bool is_far = false;
};
// Of a window whose blocks tell their addresses, in its order: jumps, calls, returns, and conditional branches that are taken. A branch
// that the window has not had before is far by the chance that others of it were, which come again or, until its end, do not (E. L. Kaplan
// and P. Meier, Journal of the American Statistical Association 53, 1958); chances are spread evenly.
std::vector<TakenBranch> taken_branches(const WindowStream&, const WindowOfBlocks&, const BranchTargets&);

}  // namespace homenode
