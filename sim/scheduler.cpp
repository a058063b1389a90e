#include "sim/scheduler.hpp"

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

void Scheduler::created(ThreadId id, CoreId creator, Time now) {
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

void Scheduler::take(CoreId id, ThreadId thread, Time now) {
  Core& core = of(id);
  if (core.queue.empty()) {
    const Time idle = now - core.idle_since, most = settings_.cache_hot * 2;
    core.average_idle = Time::picoseconds(core.average_idle.count() + (std::min(idle, most).count() - core.average_idle.count()) / 8);
  }
  core.holder = thread;
  core.computing = core.preempt = false;
  core.since = core.accounted = now;
  if (!core.last.is_none() && core.last != thread) of(thread).delay += settings_.context_switch;
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

void Scheduler::computes(ThreadId thread) { of(of(thread).core).computing = true; }

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

void Scheduler::waits(ThreadId id, bool spins, Time now) {
  Thread& thread = of(id);
  Core& core = of(thread.core);
  core.computing = false;
  const bool throttled = threads_.size() > cores_.size();  // libgomp and Intel's runtime then give the core up at once
  if (!spins || throttled || waiting_.spin == Time{}) {
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

// When the core is next to be looked at: the daemon's end, or that of a spinner's slice while others queue.
void Scheduler::arm(CoreId id, Time now) {
  Core& core = of(id);
  std::optional<Time> at;
  if (core.daemon) {
    at = core.daemon_until;
  } else if (!core.holder.is_none() && !core.computing && !core.queue.empty()) {
    at = core.since + slice(core);
    if (of(core.holder).spinning) at = std::min(*at, of(core.holder).spin_end);
  }
  ++core.timer;
  if (at) events_.push({std::max(*at, now), Kind::timer, id.index(), core.timer});
}

void Scheduler::arm_tick(Time now) {
  if (ticking_ || !free_) return;
  ticking_ = true;
  const std::int64_t tick = std::max<std::int64_t>(settings_.tick.count(), 1);
  events_.push({Time::picoseconds((now.count() / tick + 1) * tick), Kind::tick, 0, 0});
}

std::optional<Time> Scheduler::next_event() {
  while (!events_.empty() && events_.top().kind == Kind::timer && events_.top().number != cores_[events_.top().core].timer) events_.pop();
  return events_.empty() ? std::nullopt : std::optional{events_.top().time};
}

void Scheduler::advance(Time now) {
  while (const std::optional<Time> next = next_event()) {
    if (*next > now) return;
    const Event event = events_.top();
    events_.pop();
    const CoreId id{event.core};
    if (event.kind == Kind::tick) {
      ticking_ = false;
      balance(now);
      if (queued_ > 0) arm_tick(now);
    } else if (event.kind == Kind::daemon) {
      daemon_comes(id, now);
    } else if (of(id).daemon) {
      of(id).daemon = false;
      pass_on(id, now);
    } else {
      yield_if_due(id, now);
    }
  }
}

void Scheduler::daemon_comes(CoreId id, Time now) {
  events_.push({now + exponential(1 / (settings_.disturbances * waiting_.disturbances)), Kind::daemon, id.index(), 0});
  const Time work = exponential(settings_.disturbance.seconds());
  Core& core = of(id);
  settle(id, now);
  if (core.daemon) {
    core.daemon_until += work;
    arm(id, now);
    return;
  }
  core.daemons_due += work;
  if (core.holder.is_none()) {
    pass_on(id, now);
  } else {
    yield_if_due(id, now);
  }
}

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
