// The threads of a program that creates its own: how many there are, how many of them can be alive at once, and which of them can take
// each other's place. A thread is alive from its creation until somebody has joined it; one that nobody joins, until the end.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

struct CreatedThreads {
  std::vector<std::size_t> place;  // by thread: below `at_once`, that of no other thread that can be alive meanwhile; empty: there are none
  std::size_t at_once = 0;         // places, with that of the first thread
  bool any() const { return !place.empty(); }
};

// Places are given in the order of creation, each the lowest that is free. Loads the bodies of serial code and of routines. Throws
// InputError if threads create or join each other in a circle.
CreatedThreads created_threads(const Workload&);

}  // namespace homenode
