// What it takes a slice that other cores write its lines, too (contended_lines.hpp).
//
// A line is with one core at a time, and takes `s` from one to the next: the cores' transfer latency. The next request for it comes, of
// T - 1 that are under way, after about s / (T - 1). Meanwhile the core goes on writing, so that it makes s / ((T - 1) z) updates each time
// that it has the line, one at least, with z from one of its updates to the next when it is alone. That is a choice; the two measurements
// that were in view are in docs/decisions/0056-lines-that-several-write.md. An atomic access waits for the line. Plain stores wait in the
// store buffer while the core goes on, and enter the line together.
//
// No two cores have the line at once: all that is done with the busiest line comes one after the other, which makes it a shared resource.
#pragma once

#include "models/engines/parts/contended_lines.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

struct ContentionCost {
  double waits = 0;   // seconds: for lines on their way, one after the other
  double line = 0;    // seconds that the busiest line is with the core or on its way there
  double handed = 0;  // lines that come from other cores
  Time transfer;      // of one
  bool any() const { return handed > 0; }
};

// `alone`: seconds of the slice if nobody else wrote.
ContentionCost contention_cost(const Contention&, CoreId, double alone, const Machine&, const Topology&);

}  // namespace homenode
