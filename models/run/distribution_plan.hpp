// A distribution for each region, from one text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/policy/work_distribution.hpp"

namespace homenode {

// Distributions by region: "static" for all, or "init@static:1 sweep@dynamic:4" by label; a part without @ is for the rest. In a
// workload with tasks, one without @ that runs tasks is for the rest of the regions of tasks, the loops keep another; regions of tasks are
// named by their own label ("sweep:task") or their construct's ("sweep").
// Two parts for one label, or a label that the workload does not have, are UsageErrors.
class DistributionPlan {
public:
  explicit DistributionPlan(std::string_view text, bool tasks_exist = true);
  // Throws UsageError naming the labels that exist.
  void check_labels(const std::vector<std::string>& labels) const;
  // Of a program without tasks: throws UsageError if a part without @ is for the regions of tasks.
  void check_without_tasks() const;
  // Every distribution as it is written, without its label.
  std::vector<std::string> texts() const;
  std::unique_ptr<WorkDistribution> make(const std::string& label) const;
  // Throws UsageError if the label's distribution does not run tasks.
  std::unique_ptr<WorkDistribution> make_for_tasks(const std::string& label) const;

private:
  const std::string* find(const std::string& label) const;
  std::vector<std::pair<std::string, std::string>> by_label_;
  std::string rest_ = "static", rest_of_tasks_ = "tasks";
  bool rest_of_tasks_given_ = false;
};

}  // namespace homenode
