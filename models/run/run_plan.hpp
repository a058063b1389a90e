// The first phase of a run: what its names stand for, refused here if they stand for nothing or do not go together.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "models/caches/choose_caches.hpp"
#include "models/run/run_spec.hpp"
#include "models/systems/page_sizes.hpp"
#include "sim/machine/topology.hpp"
#include "sim/policy/heap_manager.hpp"
#include "sim/policy/thread_mapping.hpp"
#include "sim/policy/work_distribution.hpp"
#include "sim/program/thread_graph.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

// Refers to what it was made of.
struct RunPlan {
  const Workload& workload;
  const Machine& machine;
  const RunSpec& spec;
  const RunExtras& extras;
  Topology topology;
  std::shared_ptr<PagePlacement> placement{};  // not prepared yet
  bool only_bounds = false;                    // the placement is `optimal`
  std::unique_ptr<ThreadMapping> mapping{};    // of the main run
  std::shared_ptr<const ThreadGraph> graph{};  // for mappings that want it
  std::string heap_name{};
  std::unique_ptr<HeapManager> heap{};
  std::function<std::unique_ptr<WorkDistribution>(const std::string& label)> make_distribution{};
  bool wants_estimates = false;  // a distribution does
  PageSizes pages{};
  StoreTreatment stores = StoreTreatment::regular;
  CacheChoice caches{};
  Bytes quantum{0};
  std::shared_ptr<Timeline> timeline{};  // null with `optimal`; without spans where none are asked for
};

// The heap manager of a run by name. `auto`: glibc's where the program calls a heap, else plain.
std::string heap_of(const Workload&, const RunSpec&);

// Throws UsageError.
RunPlan make_plan(const Workload&, const Machine&, const RunSpec&, const RunExtras&);

}  // namespace homenode
