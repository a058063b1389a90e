// Latency under load as a result of the engine `line`, the way Intel's Memory Latency Checker measures it: one core of a node chases
// pointers through its own memory, the node's other cores read long vectors, with a pause after each line that becomes shorter from point
// to point.
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
