#include "sim/loop/task_events.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/loop/constructs.hpp"

namespace homenode {

TaskEvents::TaskEvents(Threads& threads, TaskPool& pool, Executions& executions, TimeAccounts& accounts)
    : threads_{threads}, pool_{pool}, executions_{executions}, accounts_{accounts} {}

void TaskEvents::begin_construct(std::size_t first) {
  const Workload& workload = threads_.in.workload;
  while (first > 0 && is_same_construct(workload, first, first - 1)) --first;
  executions_.find_team();
  std::vector<ExecutionId> executions;
  std::vector<std::unique_ptr<WorkDistribution>> distributions;
  for (std::size_t index = first; is_same_construct(workload, first, index); ++index) {
    if (!is_tasks(workload, workload.executions[index])) continue;
    distributions.push_back(executions_.make_distribution(index, workload.body(ExecutionId{index})));
    executions.emplace_back(index);
  }
  pool_.begin(std::move(executions), std::move(distributions), threads_.size());
}

void TaskEvents::end_construct() {
  for (const ExecutionId id : pool_.executions()) {
    ExecutionState& state = executions_[id.index()];
    if (state.entered) executions_.close(id.index(), state.end);
    state.homes.reset();
  }
  pool_.end();
}

bool TaskEvents::pass(std::size_t t, const SyncEvent& event) {
  Thread& thread = threads_[t];
  if (thread.role == TeamRole::outside || !pool_.active()) {
    const Workload& workload = threads_.in.workload;
    throw PolicyError("region '" + region_of(workload, workload.executions[thread.handed_out.execution.index()]).label +
                      "' has an event of tasks outside of a parallel construct with tasks");
  }
  switch (event.operation) {
    case SyncOperation::depend: pool_.depend(thread.task, event.object, event.match != 1); break;
    case SyncOperation::task_group_begin: pool_.group_begin(thread.task); break;
    case SyncOperation::task_submit: return submit(t, event);
    default:
      if (!wait_or_run(t)) return false;
  }
  ++thread.sync_events;
  return true;
}

bool TaskEvents::submit(std::size_t t, const SyncEvent& event) {
  Thread& thread = threads_[t];
  ++thread.sync_events;
  const TaskPool::Submitted submitted = pool_.submit(thread.task, event, thread.next, ThreadId{t}, threads_.now);
  wake_waiters();
  if (submitted.run_now) {
    run(t, {.task = *submitted.run_now, .item = submitted.item, .overhead = submitted.overhead});
    threads_.make_ready(t, threads_.now);
    return false;
  }
  if (submitted.overhead == Time{}) return true;
  const Time until = threads_.now + submitted.overhead;
  accounts_.busy(ThreadActivity::runtime, ThreadId{t}, threads_.core_of(t), {thread.handed_out.execution, 0, 0}, threads_.now, until);
  accounts_.shares().hand_out(ThreadId{t}, threads_.now, until);
  threads_.make_ready(t, until);
  return false;
}

// True: there is nothing to wait for.
bool TaskEvents::wait_or_run(std::size_t t) {
  const Thread& thread = threads_[t];
  const TaskPool::WaitFor what = awaited_by(thread);
  if (pool_.wait_is_over(thread.task, what)) return true;
  if (const auto taken = pool_.take_while_waiting(thread.task, what, ThreadId{t})) {
    run(t, *taken);
    threads_.make_ready(t, threads_.now);
  } else {
    wait(t);
  }
  return false;
}

TaskPool::WaitFor TaskEvents::awaited_by(const Thread& thread) const {
  const SyncEvent& event = executions_.running_pattern(thread).sync_events[thread.sync_events];
  if (event.operation == SyncOperation::task_group_end) return TaskPool::WaitFor::group;
  return event.match == 1 ? TaskPool::WaitFor::dependences : TaskPool::WaitFor::children;
}

bool TaskEvents::run_next(std::size_t t) {
  if (!pool_.active()) return false;
  const auto taken = pool_.next(ThreadId{t}, threads_.now);
  if (taken) run(t, *taken);
  return taken.has_value();
}

void TaskEvents::run(std::size_t t, const TaskPool::Taken& taken) {
  Thread& thread = threads_[t];
  thread.put_aside.push_back(static_cast<const ItemsInHand&>(thread));
  static_cast<ItemsInHand&>(thread) = {};
  const std::size_t index = taken.item.execution.index();
  executions_.enter(index);
  executions_.accept(t, index, {Decision::Kind::run, taken.item, taken.overhead});
  thread.task = taken.task;
}

void TaskEvents::complete(std::size_t t) {
  const Thread& thread = threads_[t];
  pool_.complete(thread.task, ThreadId{t}, threads_.now);
  executions_[thread.handed_out.execution.index()].end = threads_.now;
  wake_waiters();
}

void TaskEvents::wait(std::size_t t) {
  if (pool_.active()) waiters_.insert(t);
}

// Whatever changed, each looks for itself.
void TaskEvents::wake_waiters() {
  for (const std::size_t t : waiters_) threads_.make_ready(t, threads_.now);
  waiters_.clear();
}

}  // namespace homenode
