// This host as a machine: what libhwloc sees, and guesses for the rest, marked as such. `calibrate` replaces the guesses.
#pragma once

#include <string>
#include <vector>

#include "models/machines/machine_file.hpp"

namespace homenode {

// Sockets, nodes, cores (one thread each) and caches come from hwloc; remote latencies are guessed from the firmware's
// SLIT table if there is one; bandwidths and latencies are guesses. Throws Error if hwloc fails.
// Cores of `left_out`, by the system's numbers of CPUs, are no cores of the machine: they are parts of others.
MachineFile detect(const std::vector<unsigned>& left_out = {});

// The same with the system's own numbers: of each core's first CPU, and of each node.
struct DetectedHost {
  MachineFile file;
  std::vector<unsigned> cpus, nodes;
};
DetectedHost detect_host(const std::vector<unsigned>& left_out = {});

// As `detect`, of a topology that hwloc describes in its own words, e.g. "pack:2 [numa(memory=1GB)] l2:4 core:1 pu:2".
MachineFile detect_synthetic(const std::string& description);

}  // namespace homenode
