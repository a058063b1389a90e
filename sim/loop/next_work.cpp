#include "sim/loop/next_work.hpp"

#include "sim/loop/constructs.hpp"

namespace homenode {

bool NextWork::find(std::size_t t) {
  Thread& thread = parts_.threads[t];
  while (thread.idle()) {
    const Found found = look(t);
    if (found != Found::next_place) return found == Found::work;
  }
  return true;
}

NextWork::Found NextWork::look(std::size_t t) {
  Thread& thread = parts_.threads[t];
  const Workload& workload = parts_.threads.in.workload;
  if (!thread.put_aside.empty()) {
    static_cast<ItemsInHand&>(thread) = thread.put_aside.back();
    thread.put_aside.pop_back();
    return Found::next_place;
  }
  if (thread.role == TeamRole::at_barrier) return look_at_barrier(t);
  // A thread of the team that got its core too late for the task that it was woken for: what follows the construct is not for it.
  if (thread.role == TeamRole::outside && t != master && !thread.is_created) return Found::none;
  if (thread.execution == workload.executions.size()) return Found::none;
  const Execution& execution = workload.executions[thread.execution];
  if ((is_thread_routine(workload, execution) && !thread.is_created) || is_tasks(workload, execution)) {
    ++thread.execution;
    return Found::next_place;
  }
  if (execution.parallel == 0) return look_in_serial(t);
  if (thread.role == TeamRole::member) return look_in_construct(t);
  parts_.team.fork(thread.execution);  // only the first thread comes here on its own
  return Found::none;
}

NextWork::Found NextWork::look_at_barrier(std::size_t t) {
  if (parts_.team.release_barrier(t)) return Found::none;
  if (parts_.tasks.run_next(t)) return Found::work;
  parts_.tasks.wait(t);
  return Found::none;
}

NextWork::Found NextWork::look_in_serial(std::size_t t) {
  Thread& thread = parts_.threads[t];
  const Workload& workload = parts_.threads.in.workload;
  const std::int64_t iterations = workload.executions[thread.execution].iterations;
  if (parts_.executions.enter(thread.execution).handed_out == 0 && iterations != 0) {
    parts_.executions.accept(t, thread.execution, {Decision::Kind::run, {ExecutionId{thread.execution}, 0, iterations}, Time{}});
    return Found::work;
  }
  parts_.executions.leave(thread.execution);
  parts_.executions.close(thread.execution, parts_.threads.now);
  ++thread.execution;
  if (!thread.is_created) return Found::next_place;
  thread.execution = workload.executions.size();
  thread.has_ended = true;
  parts_.sync.end_thread(t);
  return Found::none;
}

NextWork::Found NextWork::look_in_construct(std::size_t t) {
  Threads& threads = parts_.threads;
  Thread& thread = threads[t];
  const std::size_t index = thread.execution;
  ExecutionState& state = parts_.executions.enter(index);
  const Decision decision = parts_.executions.decide(t, index);
  switch (decision.kind) {
    case Decision::Kind::run: parts_.executions.accept(t, index, decision); return Found::work;
    case Decision::Kind::wait: state.waiting.push_back(t); return Found::none;
    case Decision::Kind::busy: {
      const Time until = threads.now + decision.overhead;
      accounts_.busy(ThreadActivity::runtime, ThreadId{t}, threads.core_of(t), {ExecutionId{index}, 0, 0}, threads.now, until);
      accounts_.shares().hand_out(ThreadId{t}, threads.now, until);
      parts_.executions.wake_waiting(state);
      threads.make_ready(t, until);
      return Found::none;
    }
    case Decision::Kind::finished: break;
  }
  const Workload& workload = threads.in.workload;
  parts_.executions.leave(index);
  if (workload.executions[index].barrier_after || is_last_of_construct(workload, index)) {
    thread.role = TeamRole::at_barrier;
    ++state.at_barrier;
  } else {
    ++thread.execution;
  }
  return Found::next_place;
}

}  // namespace homenode
