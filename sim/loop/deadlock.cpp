#include "sim/loop/deadlock.hpp"

#include "sim/loop/constructs.hpp"

namespace homenode {

std::string describe_deadlock(const Threads& threads, const Synchronisation& synchronisation, const TaskEvents& task_events) {
  const Workload& workload = threads.in.workload;
  const TaskPool& pool = task_events.pool();
  const bool tasks = pool.active() && pool.unfinished() > 0, waits = synchronisation.anybody_waits();
  std::string text = "deadlock in simulated time at " + to_string(threads.now) + ":";
  if (waits) text.append(" ").append(synchronisation.describe_waits()).append(tasks ? ";" : "");
  if (waits && !tasks) return text;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const Thread& thread = threads[t];
    if (tasks && task_events.waits(t) && !thread.idle()) {
      text += " thread " + std::to_string(t) + " waits in " + pool.describe(thread.task) + " for " +
              pool.describe_wait(thread.task, task_events.awaited_by(thread)) + ";";
      continue;
    }
    if (waits && thread.role != TeamRole::at_barrier) continue;
    if (thread.execution >= workload.executions.size()) continue;
    text += " thread " + std::to_string(t) + " waits in region '" + region_of(workload, workload.executions[thread.execution]).label + "';";
  }
  return text;
}

}  // namespace homenode
