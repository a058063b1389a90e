// What holds of the tasks of a sound workload (sim/loop/tasks.hpp): each is created once, by an item that is run; dependences belong to a
// task or a wait; groups end where they began.
#pragma once

#include <string>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

// One line for each thing that does not hold.
std::vector<std::string> broken_invariants_of_tasks(const Workload&);

}  // namespace homenode
