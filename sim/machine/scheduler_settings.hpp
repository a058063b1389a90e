// How an operating system runs threads, as the scheduler (scheduler.hpp) sees it. Read from TOML in models/systems; each number there
// has a source. Times marked "scaled" are multiplied by 1 + floor(log2(min(cores, 8))), as Linux does at its start.
#pragma once

#include "sim/base/units.hpp"

namespace homenode {

struct SchedulerSettings {
  // Time slices: n runnable threads of one core each run max(latency / n, least_slice) in turn.
  Time latency = Time::from_seconds(6e-3);             // scaled
  Time least_slice = Time::from_seconds(0.75e-3);      // scaled
  Time wakeup_granularity = Time::from_seconds(1e-3);  // scaled; a waking thread preempts one that is ahead by this much
  Time tick = Time::from_seconds(4e-3);                // queues are looked at this often
  // Balancing of queues: a core looks at a domain of w cores every w to 2 w balance_interval, busy_factor times as rarely while it has
  // work.
  Time balance_interval = Time::from_seconds(1e-3);
  double busy_factor = 32;
  double imbalance = 1.25;  // act if the load of the busiest group exceeds one's own by this factor
  // A new thread goes to the group with the least load (0), or to the one with most idle cores while one has any (1; Linux since 5.5).
  double new_by_idle_cores = 1;
  Time cache_hot = Time::from_seconds(0.5e-3);     // a thread that ran this recently is not migrated at first
  Time context_switch = Time::from_seconds(2e-6);  // a core switches to another thread
  // An idle core begins to run a thread that had gone to sleep; the deep one if it was idle for longer than the residency.
  Time wakeup = Time::from_seconds(3e-6), deep_wakeup = Time::from_seconds(20e-6), residency = Time::from_seconds(80e-6);
  Time migration = Time::from_seconds(5e-6);      // a thread moves to another core; cold caches come on top
  double disturbances = 10;                       // by daemons, a core and second
  Time disturbance = Time::from_seconds(100e-6);  // mean length of one, distributed exponentially
};

}  // namespace homenode
