#include "models/run/distribution_plan.hpp"

#include <algorithm>

#include "models/distribution/register.hpp"
#include "sim/base/errors.hpp"

namespace homenode {

DistributionPlan::DistributionPlan(std::string_view text, bool tasks_exist) {
  bool rest_given = false;
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t space = std::min(text.find(' ', position), text.size());
    const std::string part{text.substr(position, space - position)};
    position = space + 1;
    if (part.empty()) continue;
    const std::size_t at = part.find('@');
    const std::string spec = at == std::string::npos ? part : part.substr(at + 1);
    const bool can_run_tasks = work_distributions().make(spec)->can_run_tasks() && tasks_exist;  // refuses it here, before anything runs
    if (at == std::string::npos) {
      if (std::exchange(can_run_tasks ? rest_of_tasks_given_ : rest_given, true))
        throw UsageError("two distributions for all regions in '" + std::string{text} +
                         "'; allowed: one, and label@distribution for others");
      (can_run_tasks ? rest_of_tasks_ : rest_) = spec;
      continue;
    }
    const std::string label = part.substr(0, at);
    if (label.empty()) throw UsageError("no region label before '@' in '" + part + "'; allowed: label@distribution");
    for (const auto& [other, unused] : by_label_) {
      if (other == label) throw UsageError("region '" + label + "' has two distributions in '" + std::string{text} + "'; allowed: one");
    }
    by_label_.emplace_back(label, spec);
  }
  if (by_label_.empty() && !rest_given && !rest_of_tasks_given_)
    throw UsageError("empty distribution; allowed: a name as 'homenode policies distribution' lists them");
}

void DistributionPlan::check_labels(const std::vector<std::string>& labels) const {
  for (const auto& [label, spec] : by_label_) {
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) throw UsageError(unknown_name("region label", label, labels));
  }
}

void DistributionPlan::check_without_tasks() const {
  if (!rest_of_tasks_given_) return;
  std::string schedules;
  for (const auto& entry : work_distributions().entries())
    if (!work_distributions().make(entry.name)->can_run_tasks()) schedules += entry.name + ", ";
  throw UsageError("distribution '" + rest_of_tasks_ + "' for a program without tasks; allowed: " + schedules + "or LABEL@" +
                   rest_of_tasks_ + ", which makes each iteration of that loop a task");
}

std::vector<std::string> DistributionPlan::texts() const {
  std::vector<std::string> found{rest_, rest_of_tasks_};
  for (const auto& [label, spec] : by_label_) found.push_back(spec);
  return found;
}

const std::string* DistributionPlan::find(const std::string& label) const {
  for (const auto& [other, spec] : by_label_) {
    if (other == label) return &spec;
  }
  return nullptr;
}

std::unique_ptr<WorkDistribution> DistributionPlan::make(const std::string& label) const {
  const std::string* named = find(label);
  return work_distributions().make(named != nullptr ? *named : rest_);
}

std::unique_ptr<WorkDistribution> DistributionPlan::make_for_tasks(const std::string& label) const {
  if (const std::string* spec = find(label)) {
    auto made = work_distributions().make(*spec);
    if (!made->can_run_tasks())
      throw UsageError("region '" + label + "' consists of tasks, which distribution '" + *spec + "' does not run; allowed: tasks");
    return made;
  }
  if (const std::string* spec = find(label.substr(0, label.rfind(":task")))) {
    if (auto made = work_distributions().make(*spec); made->can_run_tasks()) return made;
  }
  return work_distributions().make(rest_of_tasks_);
}

}  // namespace homenode
