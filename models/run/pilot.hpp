// The pilot run of two-pass placements: the program under the run's own mapping and distribution, on a memory without homes.
// An iteration takes its core time and a nanosecond an access (assumed: it decides nothing but the order in which threads ask a
// distribution that hands out on demand). Under a static distribution the schedule is exactly that of the run.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "models/run/run_spec.hpp"
#include "sim/machine/machine.hpp"
#include "sim/policy/thread_mapping.hpp"
#include "sim/policy/work_distribution.hpp"
#include "sim/program/access_summary.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

struct PilotInput {
  const Workload& workload;
  const Machine& machine;
  const RunSpec& spec;
  const RunExtras& extras;
  std::function<std::unique_ptr<WorkDistribution>(const std::string& label)> make_distribution;
  const ThreadGraph* graph = nullptr;  // for mappings that want it
};

// Throws what simulate throws.
AccessSummary pilot_summary(const PilotInput&);

}  // namespace homenode
