// What an execution of a region would take under a schedule, estimated without events: for distributions that weigh threads and for
// advice. One oracle goes along with one run, or with a program that is only estimated: executions come in program order,
// `record_execution` tells how each was run, and `estimate` depends on what those before left in caches and where they placed pages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"

namespace homenode {

// Iterations [first, last) of an execution, run by `thread`.
struct ScheduledRange {
  std::int64_t first = 0, last = 0;
  ThreadId thread;
  double overhead = 0;  // seconds of the runtime to hand it out
  bool operator==(const ScheduledRange&) const = default;
};

struct RegionEstimate {
  double seconds = 0;                  // from the threads' entry to the end of the barrier, if there is one
  std::vector<double> thread_seconds;  // of work, by thread
  double fault_share = 0;              // share of first-touch page faults in the threads' work
  std::string bottleneck;              // named as in a report
};

class CostOracle {
public:
  virtual ~CostOracle() = default;
  // Each thread runs its ranges in their order. Does not change the oracle.
  virtual RegionEstimate estimate(ExecutionId, std::span<const ScheduledRange>) const = 0;
  virtual void record_execution(ExecutionId, std::span<const ScheduledRange>) = 0;
};

}  // namespace homenode
