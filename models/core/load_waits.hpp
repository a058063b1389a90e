// Which loads a core waits for, one after the other: if such a load takes longer, the window does. A load that leads to the address of the
// next one is such a load. So is one that a wrong branch compares. Those of a sum over an array are not: the reorder buffer holds many.
//
// The window's data flow: dispatch in order, as many operations a cycle as the core takes and as many as its reorder buffer holds; what is
// dispatched begins when its operands are there; what follows a wrong branch is dispatched when that has executed and the front end is
// filled. Ports are left out: they bound the time when every load hits, not how far latencies add up. The longest chain that ends with
// the last retirement is followed backwards (the critical path: B. Fields, S. Rubin, R. Bodik, Focusing Processor Policies via
// Critical-Path Prediction, ISCA 2001, whose nodes of dispatch, execution and commit these are).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "models/core/core_target.hpp"
#include "models/core/window_simulation.hpp"

namespace homenode {

// Loads that outer caches or memory may have to serve. Left out: those from the stack, those of data that a store of the window has just
// written, and those at an address relative to the instruction pointer (constants, single globals).
struct LoadWaits {
  double loads = 0;   // executions
  double waited = 0;  // of them, on the longest chain
};

// By block, of the executions from `from` on.
std::map<std::uint64_t, LoadWaits> load_waits(const CoreTarget&, const WindowOfBlocks&, const ForwardingLatency&, std::size_t from);

}  // namespace homenode
