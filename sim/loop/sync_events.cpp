#include "sim/loop/sync_events.hpp"

#include <string>

#include "sim/base/errors.hpp"
#include "sim/loop/constructs.hpp"

namespace homenode {

bool SyncEvents::pass(std::size_t t, SyncEvent event) {
  const Thread& thread = threads_[t];
  const bool is_ordered = event.operation == SyncOperation::ordered_enter || event.operation == SyncOperation::ordered_leave;
  if (event.operation == SyncOperation::create) create(event);
  if (is_ordered) {
    event.object = thread.handed_out.execution.value();
    event.match = static_cast<std::uint64_t>(thread.next);
  }
  released_.clear();
  const bool goes_on = synchronisation_.pass(ThreadId{t}, event, released_);
  if (!goes_on && !is_ordered) threads_[t].state.become(ThreadState::asleep);
  wake_released(t);
  return goes_on;
}

void SyncEvents::end_turn(std::size_t t, std::int64_t iteration) {
  released_.clear();
  synchronisation_.turn_done(threads_[t].handed_out.execution.value(), static_cast<std::uint64_t>(iteration), released_);
  wake_released(t);
}

void SyncEvents::end_thread(std::size_t t) {
  threads_[t].state.become(ThreadState::ended);
  released_.clear();
  synchronisation_.thread_ended(ThreadId{t}, released_);
  wake_released(t);
}

void SyncEvents::wake_released(std::size_t by) {
  const Machine& machine = threads_.in.machine;
  for (const ThreadId other : released_) {
    ++threads_[other.index()].sync_events;
    const CoreId here = threads_.core_of(by), there = threads_.core_of(other.index());
    const Time way = here == there ? Time{} : machine.core_to_core(here, there);
    const std::optional<Time> heard = threads_.in.memory.signal(threads_.place_of(by), threads_.place_of(other.index()));
    threads_.make_ready(other.index(), heard.value_or(threads_.now + way));
  }
}

void SyncEvents::create(const SyncEvent& event) {
  const Workload& workload = threads_.in.workload;
  const auto created = static_cast<std::size_t>(event.object), routine = static_cast<std::size_t>(event.match);
  if (created == master || created >= threads_.size() || routine >= workload.executions.size() ||
      !is_thread_routine(workload, workload.executions[routine]) || threads_[created].is_created)
    throw PolicyError("an event creates thread " + std::to_string(created) + " with execution " + std::to_string(routine) +
                      ", which is no routine of a new thread");
  threads_[created].is_created = true;
  threads_[created].execution = routine;
  if (threads_.on_core != nobody) {
    threads_.scheduler.add_created(ThreadId{created}, threads_.core_of(threads_.on_core), threads_.now);
    threads_.scheduler.delay(ThreadId{threads_.on_core}, threads_.in.mapping.pinning_cost());
  }
  const Time begins = threads_.now + threads_.in.machine.fork_base;
  accounts_.shares().fork(workload.executions[routine].region, threads_.now, begins);
  threads_.make_ready(created, begins);
}

}  // namespace homenode
