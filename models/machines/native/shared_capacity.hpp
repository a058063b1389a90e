// What this host has at the moment: the parts that a virtual machine shares with its neighbours, and its clock.
#pragma once

#include "sim/machine/machine.hpp"

namespace homenode {

struct SharedCapacity {
  // Bytes of the last level that loads are served as by; 0 if the machine has one level or nothing shows. Neighbours fill the level while
  // a thread is away from a line: loads that wait for each other come back later, and find less, than loads that do not.
  double last_level_dependent = 0, last_level_independent = 0;
  double memory_latency = 0;                  // nanoseconds, of dependent loads that the last level does not serve
  double core_to_core = 0;                    // nanoseconds, of the first two: a hypervisor moves them about; 0 if there is one
  double read_bandwidth = 0, one_to_one = 0;  // bytes a second of all cores together: loads; a copy with non-temporal stores
  double page_fault = 0,
         cold_page_fault = 0;  // nanoseconds of one that places a page: as of warm_memory (calibration_plan.hpp); of more than a last level
  double other_thread = 0;     // share of the time in which others had work on these cores (other_thread.hpp)
  double clock = 0;            // hertz, for 10 ms
};
// Takes about a second. `machine`: this host's description; its latencies of the last level and of memory tell hits from misses.
SharedCapacity shared_capacity(const Machine& machine);

}  // namespace homenode
