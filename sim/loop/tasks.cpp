#include "sim/loop/tasks.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace homenode {

void TaskPool::begin(std::vector<ExecutionId> executions, std::vector<std::unique_ptr<WorkDistribution>> distributions,
                     std::size_t threads) {
  executions_ = std::move(executions);
  distributions_ = std::move(distributions);
  created_.clear();
  for (const ExecutionId id : executions_)
    created_.emplace_back(static_cast<std::size_t>(workload_.executions[id.index()].iterations), false);
  tasks_.clear();
  groups_.clear();
  queued_.clear();
  for (next_task_ = 0; next_task_ < threads; ++next_task_) tasks_[TaskId{next_task_}].is_implicit = true;
  next_group_ = 1, unfinished_ = 0;
}

void TaskPool::end() {
  for (std::size_t e = 0; e < executions_.size(); ++e) {
    const auto missing = std::find(created_[e].begin(), created_[e].end(), false);
    if (missing == created_[e].end()) continue;
    throw PolicyError("task " + std::to_string(missing - created_[e].begin()) + " of region '" +
                      workload_.regions[workload_.executions[executions_[e].index()].region.index()].label + "' is created by nobody");
  }
  executions_.clear();
  distributions_.clear();
  tasks_.clear();
}

std::size_t TaskPool::place_of(ExecutionId execution) const {
  return static_cast<std::size_t>(std::find(executions_.begin(), executions_.end(), execution) - executions_.begin());
}

TaskPool::Task* TaskPool::find(TaskId id) {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

void TaskPool::depend(TaskId creator, std::uint64_t address, bool excludes_others) {
  tasks_.at(creator).announced.push_back({address, excludes_others});
}

// OpenMP 5.2, section 15.9.5: a task that reads follows the last one that writes; one that writes follows that and all who read since.
std::set<TaskId> TaskPool::predecessors(Task& creator) {
  std::set<TaskId> before;
  const auto add = [&](TaskId task) {
    if (!task.is_none() && tasks_.contains(task)) before.insert(task);
  };
  for (const Dependence& dependence : creator.announced) {
    const Address& address = creator.addresses[dependence.address];
    add(address.writer);
    if (!dependence.excludes_others) continue;
    for (const TaskId reader : address.readers) add(reader);
  }
  return before;
}

void TaskPool::remember(Task& creator, TaskId child) {
  for (const Dependence& dependence : creator.announced) {
    Address& address = creator.addresses[dependence.address];
    if (dependence.excludes_others) {
      address.writer = child;
      address.readers.clear();
    } else if (address.writer != child) {
      // Who is over is forgotten whenever the list would have to grow.
      if (address.readers.size() == address.readers.capacity())
        std::erase_if(address.readers, [&](TaskId reader) { return !tasks_.contains(reader); });
      address.readers.push_back(child);
    }
  }
  creator.announced.clear();
}

TaskPool::Submitted TaskPool::submit(TaskId creator_id, const SyncEvent& event, std::int64_t creators_iteration, ThreadId thread,
                                     Time now) {
  if (event.object >= executions_.size())
    throw PolicyError("an event creates a task of execution " + std::to_string(event.object) + " of tasks in a construct that has " +
                      std::to_string(executions_.size()) + " of them");
  const ExecutionId execution = executions_[event.object];
  const auto iteration = static_cast<std::int64_t>(static_cast<std::uint64_t>(creators_iteration) + event.match);
  auto& created = created_[event.object];
  const std::string label = workload_.regions[workload_.executions[execution.index()].region.index()].label;
  if (iteration < 0 || static_cast<std::size_t>(iteration) >= created.size())
    throw PolicyError("an event creates task " + std::to_string(iteration) + " of region '" + label + "', which has " +
                      std::to_string(created.size()));
  if (created[static_cast<std::size_t>(iteration)])
    throw PolicyError("task " + std::to_string(iteration) + " of region '" + label + "' is created twice");
  created[static_cast<std::size_t>(iteration)] = true;

  const TaskId id{next_task_++};
  Task& creator = tasks_.at(creator_id);
  const std::set<TaskId> before = predecessors(creator);
  remember(creator, id);
  Task& task = tasks_[id];
  task.item = {execution, iteration, iteration + 1};
  task.parent = creator_id;
  task.creator = thread;
  task.group = creator.open_groups.empty() ? creator.group : creator.open_groups.back();
  task.waits_for = before.size();
  for (const TaskId predecessor : before) tasks_.at(predecessor).successors.push_back(id);
  creator.children.insert(id);
  if (task.group != 0) groups_.at(task.group).members.insert(id);
  ++unfinished_;

  if (task.waits_for > 0) return {std::nullopt, task.item, costs_.create};
  const Submit answer = distribution_of(task).submit(task.item, thread, now);
  if (answer.kind == Submit::Kind::queued) {
    become_ready(id, task);
    return {std::nullopt, task.item, costs_.create + answer.overhead};
  }
  task.runs = true;
  return {id, task.item, costs_.call + answer.overhead};
}

void TaskPool::become_ready(TaskId id, Task& task) {
  task.is_ready = true;
  queued_[{task.item.execution, task.item.first}] = id;
  if (Task* parent = find(task.parent)) parent->ready_children.insert(id);
  if (task.group != 0) groups_.at(task.group).ready.insert(id);
}

TaskPool::Taken TaskPool::start(TaskId id, Task& task, Time overhead) {
  task.is_ready = false;
  task.runs = true;
  queued_.erase({task.item.execution, task.item.first});
  if (Task* parent = find(task.parent)) parent->ready_children.erase(id);
  if (task.group != 0) groups_.at(task.group).ready.erase(id);
  return {id, task.item, costs_.take + overhead};
}

void TaskPool::group_begin(TaskId id) {
  tasks_.at(id).open_groups.push_back(next_group_);
  groups_[next_group_++];
}

bool TaskPool::wait_is_over(TaskId id, WaitFor what) {
  Task& task = tasks_.at(id);
  switch (what) {
    case WaitFor::children: return task.children.empty();
    case WaitFor::dependences:
      if (!predecessors(task).empty()) return false;
      task.announced.clear();
      return true;
    case WaitFor::group: {
      if (task.open_groups.empty()) throw PolicyError(describe(id) + " ends a group of tasks that it did not begin");
      const auto group = groups_.find(task.open_groups.back());
      if (!group->second.members.empty()) return false;
      groups_.erase(group);
      task.open_groups.pop_back();
      return true;
    }
  }
  return true;
}

std::optional<TaskPool::Taken> TaskPool::take_while_waiting(TaskId id, WaitFor what, ThreadId thread) {
  const Task& task = tasks_.at(id);
  std::vector<const std::set<TaskId>*> sets{&task.ready_children, &task.children};
  if (what == WaitFor::group) {
    const Group& group = groups_.at(task.open_groups.back());
    sets.insert(sets.begin(), {&group.ready, &group.members});
  }
  for (const std::set<TaskId>* set : sets) {
    if (const auto taken = take_of(*set, thread)) return taken;
  }
  return std::nullopt;
}

// The first of them that is ready, or that one of them has as its descendant.
std::optional<TaskPool::Taken> TaskPool::take_of(const std::set<TaskId>& tasks, ThreadId thread) {
  for (const TaskId id : tasks) {
    Task& task = tasks_.at(id);
    if (task.is_ready && distribution_of(task).withdraw(task.item, thread)) return start(id, task, Time{});
    if (!task.runs) continue;
    if (const auto taken = take_of(task.ready_children, thread)) return taken;
    if (const auto taken = take_of(task.children, thread)) return taken;
  }
  return std::nullopt;
}

std::optional<TaskPool::Taken> TaskPool::next(ThreadId thread, Time now) {
  for (const auto& distribution : distributions_) {
    const Decision decision = distribution->next(thread, now);
    if (decision.kind != Decision::Kind::run) continue;
    const auto found = queued_.find({decision.items.execution, decision.items.first});
    if (found == queued_.end() || decision.items.size() != 1)
      throw PolicyError("a distribution of tasks handed out iterations " + std::to_string(decision.items.first) + " to " +
                        std::to_string(decision.items.last) + "; allowed: one task that was queued");
    const TaskId id = found->second;
    return start(id, tasks_.at(id), decision.overhead);
  }
  return std::nullopt;
}

void TaskPool::complete(TaskId id, ThreadId thread, Time now) {
  const Task task = std::move(tasks_.at(id));
  tasks_.erase(id);
  --unfinished_;
  if (Task* parent = find(task.parent)) parent->children.erase(id);
  if (task.group != 0) groups_.at(task.group).members.erase(id);
  distributions_[place_of(task.item.execution)]->complete(task.item, thread, now);
  for (const TaskId next : task.successors) {
    Task& successor = tasks_.at(next);
    if (--successor.waits_for > 0) continue;
    become_ready(next, successor);
    distribution_of(successor).queue(successor.item, successor.creator, now);
  }
}

std::string TaskPool::describe(TaskId id) const {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return "a task that is over";
  if (found->second.is_implicit) return "implicit task " + std::to_string(id.value());
  const ItemRange& item = found->second.item;
  return "task " + std::to_string(item.first) + " of region '" +
         workload_.regions[workload_.executions[item.execution.index()].region.index()].label + "'";
}

std::string TaskPool::describe_wait(TaskId id, WaitFor what) const {
  const Task& task = tasks_.at(id);
  const std::set<TaskId>& waited = what == WaitFor::group ? groups_.at(task.open_groups.back()).members : task.children;
  std::string text = std::to_string(waited.size()) + (waited.size() == 1 ? " task" : " tasks");
  if (waited.empty()) return text;
  const Task& first = tasks_.at(*waited.begin());
  text += ", first " + describe(*waited.begin());
  if (first.runs) return text + ", which runs";
  return text + (first.is_ready ? ", which is ready" : ", which waits for " + std::to_string(first.waits_for) + " others");
}

}  // namespace homenode
