// Invariants of tasks (sim/loop/tasks.hpp): each task is created once, by an item that is run; each dependence belongs to a task or a
// wait; each group ends in the item that began it.
#pragma once

#include <string>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

inline constexpr std::size_t most_problems = 100;  // that are told; the others are as wrong

// One line for each broken invariant.
std::vector<std::string> broken_invariants_of_tasks(const Workload&);

}  // namespace homenode
