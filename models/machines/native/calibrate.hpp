// Measures this host and puts the figures into its description, in place of `detect`'s guesses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/machines/machine_file.hpp"
#include "models/machines/native/measure.hpp"

namespace homenode {

struct CalibrationOptions {
  Bytes largest_working_set{std::int64_t{2} << 30};       // of the pointer chase; reduced to an eighth of the memory
  Bytes array{std::int64_t{1} << 30};                     // of each thread in the bandwidth kernels; reduced likewise
  unsigned repeats = 5;                                   // samples of each figure: the best counts, least and largest bound it
  std::function<void(const std::string& step)> progress;  // before each measurement; may be empty
};

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

// A measurement that did not have its processors to itself: the figures that rest on it have confidence C, not A.
struct DisturbedStep {
  std::string step, reason;
};

struct HostCalibration {
  MachineFile file;  // the detected machine with the measured figures; each says in its source so, and what disturbed it
  std::vector<DisturbedStep> disturbances;  // empty on an idle host
  std::vector<LatencyByWorkingSet> latency;
  std::vector<BandwidthByThreads> bandwidth;
  std::vector<BarrierByThreads> barriers;
};

HostCalibration calibrate(const CalibrationOptions& = {});

}  // namespace homenode
