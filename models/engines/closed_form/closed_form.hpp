// The closed form: an execution's time from the lines that each thread moves, the caches, latencies and bandwidths on their way, and the
// barrier behind it. It takes the fields of the machine that the engine takes, and the same laws (staged_memory_model.hpp), but for a
// thread's whole share of an execution at once instead of slice by slice:
//   thread alone   max(core, memory) (their sum for Overlap::none) + page faults + page walks + overhead, where
//   memory         = sum over levels of max(hit lines / parallelism x latency, hit bytes / bandwidth)
//                  + sum over homes of read lines / parallelism x latency under load + transferred lines / parallelism x core-to-core,
//                    at least what loads and the lines that come in take the first level in turn
//   together       all threads share controllers and links by bottleneck fairness (FlowSharing), each as one activity
//   execution      the last thread's end + barrier
// Where a line is found follows from who touched it last (traffic_table.hpp, reuse_history.hpp) under the schedules of this execution and
// those before, and how many lines its thread, and those that share its cache, touched since. Lines that a cache takes in push out as
// many, first those of earlier executions; what of them was modified is written to its home.
// Left out: what a thread does in another order than that of iterations, lines that several threads of a cache use (each counts its own),
// and phases of a thread with different demands, which this takes for one mixture.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "models/engines/closed_form/traffic_table.hpp"
#include "sim/hardware/cost_oracle.hpp"
#include "sim/machine/system.hpp"
#include "sim/machine/topology.hpp"
#include "sim/policy/page_placement.hpp"

namespace homenode {

// An oracle that also tells what lies between executions.
class ProgramOracle : public CostOracle {
public:
  // Of a parallel construct's start, and behind an execution with a barrier (0 without one).
  virtual double fork_seconds() const = 0;
  virtual double barrier_seconds(ExecutionId) const = 0;
  // A parallel pass in front of the program that touches these pages (placement_pass.hpp): seconds of work by thread, none if it
  // touches nothing.
  virtual std::vector<double> touch_first(std::span<const TouchedPages>) = 0;
  virtual double barrier_seconds() const = 0;
  // What each of so many equal parts of the execution's iterations takes, in seconds: which iterations are long, whoever runs them.
  virtual std::vector<double> cell_seconds(ExecutionId) const = 0;
};

// Thread t runs on team[t]. The placement decides on pages that executions are the first to write. All must outlive it.
// `zeroes_in_caches`: as of fresh_pages.hpp.
std::unique_ptr<ProgramOracle> make_closed_form(const Workload&, const Machine&, const Topology&, const TrafficTable&, PagePlacement&,
                                                std::vector<CoreId> team, const OperatingSystem&, bool zeroes_in_caches);

}  // namespace homenode
