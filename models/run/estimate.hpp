// Estimates of a whole program by the closed form, everything chosen by name as for a run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/engines/closed_form/closed_form.hpp"
#include "models/run/run_spec.hpp"

namespace homenode {

// What a run's oracle needs to live.
struct OracleOfRun {
  std::shared_ptr<PagePlacement> placement;
  std::unique_ptr<Topology> topology;
  std::shared_ptr<const TrafficTable> table;
  std::unique_ptr<ProgramOracle> oracle;
  std::vector<double> touched_seconds;  // by thread, of the placement's pass in front of the program; none without one
};

// Where each thread begins, as the mapping says; of several cores that it may use, one in turn.
std::vector<CoreId> cores_of(const Workload&, const Machine&, const RunSpec&);

// Pages are placed as the placement's name says; one that the caller made itself (RunExtras::own_placement), by first touch.
OracleOfRun make_oracle(const Workload&, const Machine&, const RunSpec&, const RunExtras&);

// One region, over all its executions.
struct EstimatedRegion {
  std::string label;
  std::uint64_t executions = 0;
  double seconds = 0;                    // from entry to the end of its barrier
  std::vector<double> thread_seconds;    // of work, by thread
  std::string bottleneck;                // of the execution that takes longest
  std::vector<ScheduledRange> schedule;  // of the last execution; overheads summed over all
  std::vector<double> weights;           // by thread: share of the last execution's iterations
};

struct Estimate {
  double seconds = 0;
  std::vector<EstimatedRegion> regions;  // in the trace's order
  double table_seconds = 0;              // that the host took for the table: no part of the result
  double microseconds_per_estimate = 0;  // likewise, of a region's second execution, or its only one
};

// Distributions that hand out on demand are asked by the thread that is free first, by what its iterations take (cell_seconds). Throws
// UsageError for what the closed form does not estimate: tasks, threads that the program creates itself.
Estimate estimate(const Workload&, const Machine&, const RunSpec&, const RunExtras& = {});

}  // namespace homenode
