// Which loads a core waits for, one after the other: if such a load takes longer, the window does. A load that leads to the address of the
// next one is such a load. So is one that a wrong branch compares. Those of a sum over an array are not: the reorder buffer holds many.
//
// The longest chain of the window's data flow (data_flow.hpp) that ends with the last retirement is followed backwards, the critical path.
// Ports are left out: they bound the time when every load hits, not how far latencies add up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "models/core/core_properties.hpp"
#include "models/core/core_target.hpp"
#include "models/core/window_simulation.hpp"

namespace homenode {

// Loads that outer caches or memory may have to serve. Left out: those from the stack, those of data that a store of the window has just
// written, and those at an address relative to the instruction pointer (constants, single globals).
struct LoadWaits {
  double loads = 0;   // executions
  double waited = 0;  // of them, on the longest chain
};

// By block, then by its instruction, of the executions from `from` on.
std::map<std::uint64_t, std::vector<LoadWaits>> load_waits(const CoreTarget&, const WindowOfBlocks&, const ForwardingLatency&,
                                                           std::size_t from);

}  // namespace homenode
