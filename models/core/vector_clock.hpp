// Which instructions lower the clock of a core (Machine::clock_by_cores_256, _512), by their widest vector and what they compute.
//
// Intel's server cores from Skylake-SP on have three levels ("licences"), each with a table of clocks of its own. By Intel's Optimization
// Reference Manual (section "Skylake Server Power Management", and the events CORE_POWER.LVL0 to LVL2_TURBO_LICENSE), cited as a public
// answer and measurements of it have it (T. Downs, stackoverflow.com/questions/56852812; the manual itself was not at hand):
//
//                        light    heavy
//   scalar, 128 bits     narrow   narrow
//   256 bits             narrow   256
//   512 bits             256      512
//
// Heavy: floating-point arithmetic and integer multiplication; a fused or a dot product is both. Light: all else, such as moves, loads,
// stores, logic, integer additions, comparisons and conversions. Later parts slow down for fewer of them; their tables say by how much.
// Left out: tiles (AMX), which have a level of their own.
#pragma once

#include <string_view>

#include "sim/machine/vector_width.hpp"

namespace homenode {

// Of an instruction as an assembler of Intel's syntax writes it (CoreTarget::text).
VectorWidth clock_that_is_asked_for(std::string_view text);

}  // namespace homenode
