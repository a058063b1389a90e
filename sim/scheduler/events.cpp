// What happens at a time of its own: ends of slices and daemons, the tick that balances queues, daemons that come.
#include <algorithm>

#include "sim/scheduler/scheduler.hpp"

namespace homenode {

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

}  // namespace homenode
