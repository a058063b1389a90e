#include "models/run/touch_log.hpp"

#include <algorithm>

namespace homenode {

void TouchLog::start(const Work& work) {
  const ExecutionId id = work.items.execution;
  // Executions that run at a time are few, and the latest ones.
  const auto found = std::find_if(executions_.rbegin(), executions_.rend(), [id](const LoggedExecution& one) { return one.id == id; });
  std::size_t execution = executions_.size();
  if (found == executions_.rend()) {
    executions_.push_back({id, workload_.executions[id.index()].region, {}});
    fresh_ = true;
  } else {
    execution = static_cast<std::size_t>(executions_.rend() - found) - 1;
  }
  std::vector<LoggedSlice>& slices = executions_[execution].slices;
  last_ = {execution, slices.size()};
  slices.push_back({work.place, Time{}, {}});
  const std::size_t thread = work.place.thread.index();
  if (running_.size() <= thread) running_.resize(thread + 1);
  running_[thread] = last_;
}

void TouchLog::touched(std::span<const PageUse> uses) {
  std::vector<PageNumber>& pages = executions_[last_.execution].slices[last_.slice].pages;
  for (const PageUse& use : uses) {
    pages.push_back(use.page);
    if (homes_.size() <= use.page.value()) homes_.resize(use.page.value() + 1, NodeId::none());
    homes_[use.page.value()] = use.home;
  }
}

void TouchLog::end(const Completion& done) {
  const At at = running_[done.thread.index()];
  LoggedSlice& slice = executions_[at.execution].slices[at.slice];
  slice.duration = done.time - slice.place.now;
}

}  // namespace homenode
