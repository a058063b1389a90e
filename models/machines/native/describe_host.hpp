// Measured figures into a detected machine's description: which figure becomes which number, with bounds and confidence. Measures nothing.
#pragma once

#include "models/machines/machine_file.hpp"
#include "models/machines/native/calibration_plan.hpp"

namespace homenode {

struct HostFigures {
  const native::Figures& figures;
  const CalibrationPlan& plan;
  native::SettlingLimits settling;

  native::Spread of(const std::string& name) const { return figures.of(name, settling); }
};

// Bandwidth of so many threads together, never under what fewer of them moved: the others may always wait. `doubted`: the figure was.
native::Spread bandwidth_of(const HostFigures&, native::Kernel, std::size_t threads);
// What one core reads at the most, over one and several streams.
native::Spread one_core_reads(const HostFigures&);

// `detected` with the measured figures in the place of guesses, each with its least and largest pass as bounds; confidence A where it has
// settled undisturbed, else C, and the source says why. The result is validated and has its hash.
MachineFile describe_host(MachineFile detected, const HostFigures&);

}  // namespace homenode
