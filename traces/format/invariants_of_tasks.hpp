// Invariants of tasks (sim/loop/tasks.hpp): each task is created once, by an item that is run; each dependence belongs to a task or a
// wait; each group ends in the item that began it.
#pragma once

#include <string>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

// One line for each broken invariant.
std::vector<std::string> broken_invariants_of_tasks(const Workload&);

}  // namespace homenode
