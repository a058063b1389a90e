// Everything that can be chosen by name, in one place.
#pragma once

#include "sim/policy/heap_manager.hpp"
#include "sim/policy/page_placement.hpp"
#include "sim/policy/thread_mapping.hpp"
#include "sim/policy/work_distribution.hpp"
#include "sim/registry.hpp"
#include "sim/thread_graph.hpp"

namespace homenode {

const Registry<PagePlacement>& page_placements();        // models/placement/register.cpp
const Registry<ThreadMapping>& thread_mappings();        // models/mapping/register.cpp
const Registry<WorkDistribution>& work_distributions();  // models/distribution/register.cpp
const Registry<HeapManager>& heap_managers();            // models/heap/register.cpp

// Of the threads that will run, for a mapping that wants it; null for others. Throws UsageError if the trace does not tell.
std::shared_ptr<const ThreadGraph> graph_for(const ThreadMapping&, const Workload&, const std::string& name, unsigned threads);

// Distributions by region: "static" for all, or "init@static:1 sweep@dynamic:4" by label; a part without @ is for the rest. In a
// workload with tasks, one without @ that runs tasks is for the rest of the regions of tasks, the loops keep another; regions of tasks are
// named by their own label ("sweep:task") or their construct's ("sweep").
// Two parts for one label, or a label that the workload does not have, are UsageErrors.
class DistributionPlan {
public:
  explicit DistributionPlan(std::string_view text, bool tasks_exist = true);
  // Throws UsageError naming the labels that exist.
  void check_labels(const std::vector<std::string>& labels) const;
  std::unique_ptr<WorkDistribution> make(const std::string& label) const;
  // Throws UsageError if the label's distribution does not run tasks.
  std::unique_ptr<WorkDistribution> make_for_tasks(const std::string& label) const;

private:
  const std::string* find(const std::string& label) const;
  std::vector<std::pair<std::string, std::string>> by_label_;
  std::string rest_ = "static", rest_of_tasks_ = "tasks";
};

}  // namespace homenode
