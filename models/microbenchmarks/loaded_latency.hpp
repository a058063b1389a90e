// Latency under load as a result of the engine `line`, the way Intel's Memory Latency Checker measures it: one core of a node chases
// pointers through its own memory, one line after the other on pages in no order; the node's other cores read long vectors of their own in
// order, prefetchers on, with a pause after each line that becomes shorter from point to point (its defaults: read-only traffic, sequential
// loads). Threads of the checker run on their own clocks. Here readers begin at different times, and each block of pages that one reads has
// pauses of its own, up to a tenth shorter or longer: equal ones would keep the readers apart, or together, for all of the measurement.
#pragma once

#include <vector>

#include "sim/machine/machine.hpp"

namespace homenode {

struct LatencyAtLoad {
  Time pause;              // of the other cores, after each line
  Bandwidth bandwidth;     // of all that the node's controllers read
  double utilisation = 0;  // of their read bandwidth
  Time latency;            // of the chase, mean
  Time described;          // what the machine's own curve says at that utilisation; 0 without a curve
};

// From no load on to the most that the cores draw. Throws UsageError for a node without cores.
std::vector<LatencyAtLoad> loaded_latency(const Machine&, NodeId);

}  // namespace homenode
