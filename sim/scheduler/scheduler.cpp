#include "sim/scheduler/scheduler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace homenode {

Scheduler::Scheduler(const Machine& machine, const SchedulerSettings& settings, Waiting waiting, std::uint64_t seed)
    : machine_{machine},
      settings_{settings},
      waiting_{waiting},
      domains_{machine},
      cores_(machine.cores()),
      placed_(machine.cores(), 0),
      random_{seed} {
  // get_update_sysctl_factor
  const auto factor = static_cast<std::int64_t>(std::bit_width(std::min(machine.cores(), 8u)));
  settings_.latency = settings_.latency * factor;
  settings_.least_slice = settings_.least_slice * factor;
  settings_.wakeup_granularity = settings_.wakeup_granularity * factor;
  for (std::size_t core = 0; core < cores_.size(); ++core) {
    cores_[core].average_idle = settings_.cache_hot * 2;
    cores_[core].failed.assign(domains_.levels(), 0);
    for (std::size_t level = 0; level < domains_.levels(); ++level) {
      // No two cores look at their domains at the same time: that would only swap their threads.
      const Time interval = balance_interval(CoreId{core}, level, false);
      cores_[core].last_balance.push_back(Time{} - up_to(interval));
    }
  }
}

bool Scheduler::may_run(const Thread& thread, CoreId core) const {
  return std::binary_search(thread.allowed.begin(), thread.allowed.end(), core);
}

void Scheduler::add(std::vector<CoreId> allowed) {
  Thread thread;
  std::sort(allowed.begin(), allowed.end());
  thread.allowed = std::move(allowed);
  const bool may_move = thread.allowed.size() > 1;
  // The first thread comes from outside (exec): on any core that it may use.
  const CoreId creator = threads_.empty() ? thread.allowed[may_move ? random_() % thread.allowed.size() : 0] : threads_.front().core;
  thread.core = threads_.empty() ? creator : for_new(thread, creator, placed_);
  ++placed_[thread.core.index()];
  threads_.push_back(std::move(thread));
  if (!may_move || free_) return;
  free_ = true;
  const double rate = settings_.disturbances * waiting_.disturbances;
  if (!(rate > 0) || settings_.disturbance == Time{}) return;
  for (std::size_t core = 0; core < cores_.size(); ++core) events_.push({exponential(1 / rate), Kind::daemon, core, 0});
}

void Scheduler::add_created(ThreadId id, CoreId creator, Time now) {
  Thread& thread = of(id);
  if (thread.allowed.size() == 1 || thread.ran) return;
  std::vector<unsigned> load;
  for (std::size_t core = 0; core < cores_.size(); ++core) load.push_back(static_cast<unsigned>(running(CoreId{core}, now)));
  thread.core = for_new(thread, creator, load);
}

Time Scheduler::up_to(Time most) {
  const double share = static_cast<double>(random_() >> 11) * 0x1p-53;
  return Time::from_seconds(share * most.seconds());
}

Time Scheduler::exponential(double mean_seconds) {
  const double uniform = static_cast<double>(random_() >> 11) * 0x1p-53;
  return Time::from_seconds(-mean_seconds * std::log1p(-uniform));
}

bool Scheduler::resume(ThreadId id, ThreadId waker, Time now) {
  Thread& thread = of(id);
  settle(thread.core, now);
  if (thread.state == State::queued && thread.spinning && thread.spin_end <= now) {
    unqueue(id);
    thread.state = State::asleep;
  }
  thread.spinning = false;
  if (thread.state == State::on_core) {
    of(thread.core).computing = false;
    return true;
  }
  if (thread.state == State::queued) return false;
  if (!thread.wish.is_none()) follow_wish(id, now);
  const CoreId from = thread.core, to = thread.ran ? for_woken(id, waker, now) : thread.core;
  if (to != from) relocate(id, to, now);
  Core& core = of(to);
  // place_entity: a sleeper is at most half a latency ahead of those that stayed
  thread.virtual_time = std::max(thread.virtual_time, core.least_virtual_time - Time::picoseconds(settings_.latency.count() / 2));
  if (idle(to, now)) {
    // What a thread's first time costs is part of its creation.
    if (thread.ran && !thread.awake && now > core.idle_since) thread.delay += is_deep(core, now) ? settings_.deep_wakeup : settings_.wakeup;
    take(to, id, now);
    return true;
  }
  enqueue(to, id, now);
  if (core.holder.is_none()) return false;
  account(core, now);
  core.preempt |= of(core.holder).virtual_time > thread.virtual_time + settings_.wakeup_granularity;
  yield_if_due(to, now);
  if (thread.state != State::on_core) return false;
  std::erase(granted_, id);
  return true;
}

void Scheduler::start_computing(ThreadId thread) { of(of(thread).core).computing = true; }

bool Scheduler::slice_ended(ThreadId id, Time now) {
  Thread& thread = of(id);
  Core& core = of(thread.core);
  core.computing = false;
  account(core, now);
  if (!thread.wish.is_none() && follow_wish(id, now)) return thread.state == State::on_core;
  yield_if_due(thread.core, now);
  if (thread.state != State::on_core) return false;
  std::erase(granted_, id);
  return true;
}

void Scheduler::start_waiting(ThreadId id, Wait how, Time now) {
  Thread& thread = of(id);
  Core& core = of(thread.core);
  core.computing = false;
  thread.awake = how != Wait::sleeps && !throttled();  // libgomp and Intel's runtime sleep at once if there are more threads than cores
  if (!thread.awake || how == Wait::yields || waiting_.spin == Time{}) {
    leave(thread.core, now);
    thread.state = State::asleep;
    pass_on(thread.core, now);
    return;
  }
  thread.spinning = true;
  thread.spin_end = now + waiting_.spin;
  if (!thread.wish.is_none() && follow_wish(id, now)) return;
  yield_if_due(thread.core, now);
  arm(thread.core, now);
}

std::vector<ThreadId> Scheduler::take_granted() { return std::exchange(granted_, {}); }

Time Scheduler::take_delay(ThreadId thread) { return std::exchange(of(thread).delay, Time{}); }

}  // namespace homenode
