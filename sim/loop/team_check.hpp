// Whether the program can run with so many threads on this machine.
#pragma once

#include "sim/loop/simulation.hpp"

namespace homenode {

// Throws UsageError if threads and cores do not fit or code is bound to another number of threads, PolicyError for tasks that belong
// to no parallel construct.
void check_team(const SimulationInput&);

}  // namespace homenode
