// Threads that are told where to go, as NUMA balancing does: to an idle core of a node, or in exchange for another thread.
#include <algorithm>
#include <utility>

#include "sim/scheduler/scheduler.hpp"

namespace homenode {

bool Scheduler::move(ThreadId id, NodeId node, Time now) {
  Thread& thread = of(id);
  for (const CoreId core : thread.allowed) {
    if (machine_.node_of(core) != node || !idle(core, now)) continue;
    const bool awaited = std::any_of(threads_.begin(), threads_.end(), [&](const Thread& other) { return other.wish == core; });
    if (awaited) continue;
    thread.wish = core;
    return true;
  }
  return false;
}

bool Scheduler::exchange(ThreadId a, ThreadId b, Time now) {
  const CoreId of_a = core_of(a), of_b = core_of(b);
  if (a == b || of_a == of_b || !may_run(of(a), of_b) || !may_run(of(b), of_a)) return false;
  of(a).wish = of_b;
  of(b).wish = of_a;
  for (const ThreadId id : {a, b}) {
    const Core& core = of(core_of(id));
    if (core.holder != id || !core.computing) follow_wish(id, now);
  }
  return true;
}

// The thread is at a boundary: it goes where it was told to. False: it stays.
bool Scheduler::follow_wish(ThreadId id, Time now) {
  Thread& thread = of(id);
  const CoreId from = thread.core, to = std::exchange(thread.wish, CoreId::none());
  if (to == from) return false;
  const State state = thread.state;
  if (state == State::on_core) leave(from, now);
  if (state == State::queued) unqueue(id);
  relocate(id, to, now);
  if (state == State::asleep) return true;
  if (idle(to, now)) {
    take(to, id, now);
    if (state == State::queued) granted_.push_back(id);
  } else {
    enqueue(to, id, now);
    yield_if_due(to, now);
  }
  pass_on(from, now);
  return true;
}

// Only the numbers of a thread that neither runs nor queues.
void Scheduler::relocate(ThreadId id, CoreId to, Time) {
  Thread& thread = of(id);
  thread.virtual_time += of(to).least_virtual_time - of(thread.core).least_virtual_time;
  thread.core = to;
  if (thread.ran) {
    ++moves_;
    thread.delay += settings_.migration;
  }
}

std::vector<ThreadId> Scheduler::threads_on(NodeId node) const {
  std::vector<ThreadId> threads;
  for (std::size_t t = 0; t < threads_.size(); ++t)
    if (machine_.node_of(threads_[t].core) == node) threads.emplace_back(t);
  return threads;
}

}  // namespace homenode
