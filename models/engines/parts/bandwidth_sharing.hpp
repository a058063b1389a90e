// Activities share resources (controllers, link directions) and progress at one rate over their whole mix:
// an activity at rate x uses x * usage[r] of each resource r, of which one second per second exists, and cannot
// finish before `minimum`. Rates are fair: no activity can gain without one that is no faster losing (bottleneck fairness).
// Two implementations: models/engines/staged/flow_sharing (fast) and models/engines/simgrid/simgrid_sharing (reference, parallel tasks).
#pragma once

#include <optional>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"

namespace homenode {

struct ResourceUse {
  ResourceId resource;
  double seconds = 0;
};  // that the activity needs when alone

struct Activity {
  Time minimum;                   // core and load/store-unit time: private, shared with nobody
  std::vector<ResourceUse> uses;  // each resource at most once, seconds > 0
};

struct ActivityEnd {
  ActivityId activity;
  Time time;
};

class BandwidthSharing {
public:
  virtual ~BandwidthSharing() = default;
  // Starts at the current time (that of the last advance; 0 at first).
  virtual ActivityId start(const Activity&) = 0;
  // When the next activity ends if nothing else starts; nothing when idle.
  virtual std::optional<Time> next_event() = 0;
  // Moves to `to` (not beyond next_event) and appends what ended, by (time, activity). Times are picoseconds,
  // rounded up at this boundary, so that every implementation yields the same order of events.
  virtual void advance(Time to, std::vector<ActivityEnd>& ended) = 0;
};

}  // namespace homenode
