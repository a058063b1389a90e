// A core and those that queue for it: who has it, how much of its slice is left, who comes next; after Linux's pick_next_entity,
// update_curr and sched_slice.
#include <algorithm>
#include <utility>

#include "sim/scheduler/scheduler.hpp"

namespace homenode {

// A holder that has spun long enough sleeps. With nobody queued that is found out when somebody looks.
void Scheduler::settle(CoreId id, Time now) {
  Core& core = of(id);
  if (core.holder.is_none() || core.computing) return;
  Thread& holder = of(core.holder);
  if (!holder.spinning || holder.spin_end > now) return;
  account(core, std::max(core.accounted, holder.spin_end));
  holder.state = State::asleep;
  holder.last_ran = std::max(core.since, holder.spin_end);
  core.idle_since = holder.last_ran;
  core.holder = ThreadId::none();
}

bool Scheduler::idle(CoreId id, Time now) {
  settle(id, now);
  const Core& core = of(id);
  return core.holder.is_none() && !core.daemon && core.queue.empty();
}

std::size_t Scheduler::running(CoreId id, Time now) {
  settle(id, now);
  const Core& core = of(id);
  return core.queue.size() + (core.holder.is_none() ? 0 : 1) + (core.daemon ? 1 : 0);
}

void Scheduler::account(Core& core, Time now) {
  Thread& holder = of(core.holder);
  holder.virtual_time += now - core.accounted;
  core.accounted = now;
  Time least = holder.virtual_time;
  for (const ThreadId queued : core.queue) least = std::min(least, of(queued).virtual_time);
  core.least_virtual_time = std::max(core.least_virtual_time, least);
}

// sched_slice, for threads of equal weight
Time Scheduler::slice(const Core& core) const {
  const auto threads = static_cast<std::int64_t>(core.queue.size() + 1);
  return std::max(Time::picoseconds(settings_.latency.count() / threads), settings_.least_slice);
}

// For less an idle core is not sent into a state that takes energy and long to leave.
bool Scheduler::is_deep(const Core& core, Time now) const { return core.last.is_none() || now - core.idle_since >= settings_.residency; }

void Scheduler::take(CoreId id, ThreadId thread, Time now) {
  Core& core = of(id);
  if (core.queue.empty()) {
    const Time idle = now - core.idle_since, most = settings_.cache_hot * 2;
    core.average_idle = Time::picoseconds(core.average_idle.count() + (std::min(idle, most).count() - core.average_idle.count()) / 8);
  }
  if (!std::exchange(of(thread).awake, false) && is_deep(core, now)) ++core.wakeups;
  core.holder = thread;
  core.computing = core.preempt = false;
  core.since = core.accounted = now;
  if (!core.last.is_none() && core.last != thread) {
    of(thread).delay += settings_.context_switch;
    ++core.switches;
  }
  core.last = thread;
  of(thread).state = State::on_core;
  of(thread).ran = true;
  arm(id, now);
}

// The holder gives the core up; what becomes of it is for the caller.
void Scheduler::leave(CoreId id, Time now) {
  Core& core = of(id);
  account(core, now);
  of(core.holder).last_ran = now;
  core.holder = ThreadId::none();
  core.computing = core.preempt = false;
  core.idle_since = now;
}

void Scheduler::enqueue(CoreId id, ThreadId thread, Time now) {
  of(thread).core = id;
  of(thread).state = State::queued;
  of(id).queue.push_back(thread);
  ++queued_;
  arm(id, now);
  arm_tick(now);
}

void Scheduler::unqueue(ThreadId thread) {
  std::erase(of(of(thread).core).queue, thread);
  --queued_;
}

ThreadId Scheduler::first_in(const Core& core) const {
  return *std::min_element(core.queue.begin(), core.queue.end(), [this](ThreadId a, ThreadId b) {
    return std::pair{threads_[a.index()].virtual_time, a} < std::pair{threads_[b.index()].virtual_time, b};
  });
}

// The core is free: a daemon that waits for it, then the thread that has run least, then one of another core.
void Scheduler::pass_on(CoreId id, Time now) {
  Core& core = of(id);
  if (!core.holder.is_none() || core.daemon) return;
  if (core.daemons_due > Time{}) {
    core.daemon = true;
    core.daemon_until = now + std::exchange(core.daemons_due, Time{});
    arm(id, now);
    return;
  }
  while (!core.queue.empty()) {
    const ThreadId next = first_in(core);
    unqueue(next);
    if (of(next).spinning && of(next).spin_end <= now) {  // slept in the queue
      of(next).state = State::asleep;
      continue;
    }
    take(id, next, now);
    granted_.push_back(next);
    return;
  }
  core.idle_since = now;
  if (core.average_idle >= settings_.cache_hot) pull_when_idle(id, now);
}

// A holder that does not compute makes room if its slice is over or somebody goes first.
void Scheduler::yield_if_due(CoreId id, Time now) {
  Core& core = of(id);
  settle(id, now);
  if (core.holder.is_none()) {
    pass_on(id, now);
    return;
  }
  if (core.computing) return;
  const bool over = !core.queue.empty() && (core.preempt || now - core.since >= slice(core));
  if (!over && core.daemons_due == Time{}) return;
  const ThreadId holder = core.holder;
  leave(id, now);
  enqueue(id, holder, now);
  pass_on(id, now);
}

}  // namespace homenode
