#include "sim/loop/sync_events.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "sim/base/errors.hpp"
#include "sim/loop/constructs.hpp"

namespace homenode {

bool SyncEvents::pass(std::size_t t, SyncEvent event) {
  if (pays_charges(t)) return false;
  const Thread& thread = threads_[t];
  const bool is_ordered = event.operation == SyncOperation::ordered_enter || event.operation == SyncOperation::ordered_leave;
  if (event.operation == SyncOperation::create) create(event);
  if (is_ordered) {
    event.object = thread.handed_out.execution.value();
    event.match = static_cast<std::uint64_t>(thread.next);
  }
  released_.clear();
  const std::vector<Execution>& executions = threads_.in.workload.executions;
  const bool sleeps = thread.execution < executions.size() && executions[thread.execution].parallel == 0;  // a team polls for a while
  const bool goes_on = synchronisation_.pass(ThreadId{t}, event, released_, sleeps);
  if (!goes_on) threads_[t].sleeps_since.reset();
  if (!goes_on && !is_ordered) {
    threads_[t].state.become(ThreadState::asleep);
    if (event.operation == SyncOperation::atomic_wait)
      threads_[t].sleeps_since = Time::max();  // never: it polls
    else if (sleeps)
      threads_[t].sleeps_since = threads_.now + (event.operation == SyncOperation::wait ? Time{} : threads_.in.map_costs.call);
  }
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
    wake(other.index(), heard.value_or(threads_.now + way));
  }
  const std::vector<ThreadId> woken = synchronisation_.take_woken();
  for (const ThreadId other : woken) wake(other.index(), threads_.now);
  const auto slept = [this](ThreadId other) { return threads_[other.index()].sleeps_since.value_or(Time::max()) != Time::max(); };
  if (std::any_of(released_.begin(), released_.end(), slept) || !woken.empty())
    threads_.scheduler.delay(ThreadId{by}, threads_.in.map_costs.call);
}

// A thread goes to sleep in a call of the system, which looks once more whether there is something to wait for: if not, it was never
// asleep. Not so at conditions, semaphores and futexes: natively two threads in turn sleep at each turn, and calls that all take equally
// long would let both come within the other's call, for ever (docs/decisions/0089).
void SyncEvents::wake(std::size_t t, Time time) {
  const Time asleep = threads_[t].sleeps_since.value_or(Time{});
  if (time < asleep) {
    threads_.scheduler.stay_awake(ThreadId{t});
    if (asleep != Time::max()) time = asleep;
  }
  threads_.make_ready(t, time);
}

// Pays what the scheduler charges the thread (waking up, a call of the system, a change of threads) before its next event: a thread looks
// at a lock when it is awake, and gives it up after the call that woke another. True if there was something: the thread is ready after it.
bool SyncEvents::pays_charges(std::size_t t) {
  const Time delay = threads_.scheduler.take_delay(ThreadId{t});
  if (delay <= Time{}) return false;
  const Time until = threads_.now + delay;
  accounts_.busy(ThreadActivity::runtime, ThreadId{t}, threads_.core_of(t), threads_[t].handed_out, threads_.now, until);
  accounts_.shares().hand_out(ThreadId{t}, threads_.now, until);
  threads_.make_ready(t, until);
  return true;
}

void SyncEvents::create(const SyncEvent& event) {
  const Workload& workload = threads_.in.workload;
  const auto created = static_cast<std::size_t>(event.object), routine = static_cast<std::size_t>(event.match);
  if (created == master || created >= threads_.size() || routine >= workload.executions.size() ||
      !is_thread_routine(workload, workload.executions[routine]) || threads_[created].is_created)
    throw PolicyError("an event creates thread " + std::to_string(created) + " with execution " + std::to_string(routine) +
                      ", which is no routine of a new thread");
  if (threads_.on_core != nobody && threads_[threads_.on_core].role == TeamRole::member)
    throw UsageError("a thread of a team creates thread " + std::to_string(created) +
                     "; allowed: threads of the program's own that begin and end outside of parallel regions of OpenMP");
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
