// How much memory an iteration touches, for cutting work into slices.
#pragma once

#include "sim/program/workload.hpp"

namespace homenode {

// Bytes that one iteration of the pattern touches, overlapping runs counted once; irregular accesses count a line each.
std::uint64_t footprint_bytes(const ItemPattern&);

// Bytes of lines that an iteration goes over, counted anew each time a run's innermost loop comes back to them.
std::uint64_t traversed_bytes(const ItemPattern&);

}  // namespace homenode
