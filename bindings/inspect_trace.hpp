// What a workload holds, and whether it holds together, told from its public members only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload.hpp"

namespace homenode::python {

// Bytes between the first and the last byte that each block of iterations touches of each object, overlaps counted once.
// Objects private to threads count once.
std::uint64_t footprint(const Workload&);

// One line for each broken invariant, at most 100: blocks that leave out or repeat an iteration, references to what does not
// exist, accesses outside of their object, sequence numbers out of order, sums that differ from their parts.
std::vector<std::string> broken_invariants(const Workload&);

std::string name_of(ObjectKind);
std::string name_of(RegionKind);

}  // namespace homenode::python
