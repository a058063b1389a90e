// Measures this host and puts the figures into its description, in place of `detect`'s guesses.
#pragma once

#include <string>
#include <vector>

#include "models/machines/machine_file.hpp"
#include "models/machines/native/calibration_plan.hpp"

namespace homenode {

struct LatencyByWorkingSet {
  Bytes working_set;
  native::Spread nanoseconds;
};
struct BandwidthByThreads {
  native::Kernel kernel{};
  unsigned threads = 0;
  native::Spread bytes_per_second;  // real bytes, reads and writes
};
struct BarrierByThreads {
  unsigned threads = 0;
  native::Spread nanoseconds;
};

// A figure that did not have its processors to itself, or did not settle: the numbers that rest on it have confidence C, not A.
struct DisturbedStep {
  std::string step, reason;
};

struct NamedFigure {
  std::string name;  // calibration_plan.hpp
  native::Spread spread;
};

struct HostCalibration {
  MachineFile file;  // the detected machine with the measured figures; each says in its source so, and what disturbed it
  std::vector<DisturbedStep> disturbances;  // empty on an idle host
  std::vector<DisturbedStep> unsettled;     // undisturbed, but no two passes alike
  std::vector<LatencyByWorkingSet> latency;
  std::vector<BandwidthByThreads> bandwidth;
  std::vector<BarrierByThreads> barriers;
  std::vector<NamedFigure> figures;          // all, in the order of measurement
  std::vector<unsigned> cpus_sharing_cores;  // left out: they share a core with another one, whatever the system says
  std::vector<unsigned> cpus, nodes;         // the system's numbers of the machine's cores and nodes (detect.hpp)
};

HostCalibration calibrate(const CalibrationOptions& = {});

}  // namespace homenode
