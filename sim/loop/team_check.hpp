// Whether the program can run with so many threads on this machine.
#pragma once

#include "sim/loop/simulation.hpp"
#include "sim/program/created_threads.hpp"

namespace homenode {

// Code that is bound to the ranks of a team runs on the first threads of a larger one; the others have nothing to do there.
// Throws UsageError if threads and cores do not fit, if the team is smaller than one that code is bound to, or if it is larger and nothing
// would be faster for it, as no loop, sections or tasks are there to share; PolicyError for tasks that belong to no parallel construct.
void check_team(const SimulationInput&, const CreatedThreads&);

}  // namespace homenode
