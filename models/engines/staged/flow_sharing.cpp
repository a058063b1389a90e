#include "models/engines/staged/flow_sharing.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "models/engines/parts/event_time.hpp"

namespace homenode {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double saturated = 1e-12;  // of a resource: nothing left
// Equal parts approach saturation geometrically when mixes differ. Once the step that saturates a resource is within this factor
// of the equal one, it is taken, so that saturated means exactly used up. Bounds the deviation from plain filling.
constexpr double last_step = 1.001;
constexpr int plain_rounds = 64;

}  // namespace

FlowSharing::FlowSharing(std::size_t resources) : resources_(resources) {}

ActivityId FlowSharing::start(const Activity& activity) {
  if (activity.uses.size() > stride_) widen(activity.uses.size());
  std::uint32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(running_.size());
    running_.emplace_back();
    uses_.resize(running_.size() * stride_);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  Running& added = running_[slot];
  added = {};
  added.id = ActivityId{next_id_++};
  added.bound = activity.minimum > Time{} ? 1 / activity.minimum.seconds() : infinite;
  added.since = added.end = now_;
  Use* use = uses_.data() + slot * stride_;
  for (const ResourceUse& wanted : activity.uses) {
    if (wanted.resource.index() >= resources_.size() || !(wanted.seconds > 0))
      throw std::invalid_argument("an activity must use known resources for more than no time");
    *use++ = {wanted.seconds, 1 / wanted.seconds, wanted.resource.value()};
    added.resource_set |= std::uint64_t{1} << (wanted.resource.index() % 64);
  }
  added.use_count = static_cast<std::uint32_t>(activity.uses.size());
  if (added.use_count == 0) {
    if (added.bound < infinite) set_rate(added, added.bound);
  } else {
    changed_ |= added.resource_set;
  }
  active_.push_back(slot);
  return added.id;
}

void FlowSharing::widen(std::size_t wanted) {
  const std::size_t wider = (wanted + 7) / 8 * 8;
  std::vector<Use> moved(running_.size() * wider);
  for (std::size_t slot = 0; slot < running_.size(); ++slot)
    std::copy_n(uses_.begin() + static_cast<std::ptrdiff_t>(slot * stride_), running_[slot].use_count,
                moved.begin() + static_cast<std::ptrdiff_t>(slot * wider));
  uses_ = std::move(moved);
  stride_ = wider;
}

std::optional<Time> FlowSharing::next_event() {
  if (active_.empty()) return std::nullopt;
  if (changed_) solve();
  Time first = Time::max();
  for (const auto slot : active_) first = std::min(first, running_[slot].end);
  return first;
}

void FlowSharing::advance(Time to, std::vector<ActivityEnd>& ended) {
  if (changed_) solve();
  now_ = to;
  std::size_t kept = 0;
  for (const auto slot : active_) {
    const Running& activity = running_[slot];
    if (activity.end > to) {
      active_[kept++] = slot;
      continue;
    }
    ended.push_back({activity.id, activity.end});
    changed_ |= activity.resource_set;
    free_slots_.push_back(slot);
  }
  active_.resize(kept);
  if (active_.empty()) changed_ = 0;
}

double FlowSharing::rate(ActivityId id) {
  if (changed_) solve();
  for (const auto slot : active_)
    if (running_[slot].id == id) return running_[slot].rate;
  throw std::out_of_range("no such activity runs");
}

void FlowSharing::set_rate(Running& activity, double rate) {
  activity.rate = rate;
  activity.end = activity.since + round_up(activity.remaining / rate);
}

// New rates for every activity that shares, directly or through others, a resource on which something changed.
void FlowSharing::solve() {
  connected_.clear();
  others_ = active_;
  for (bool found = true; found;) {
    found = false;
    std::size_t kept = 0;
    for (const auto slot : others_) {
      if (running_[slot].resource_set & changed_) {
        changed_ |= running_[slot].resource_set;
        connected_.push_back(slot);
        found = true;
      } else {
        others_[kept++] = slot;
      }
    }
    others_.resize(kept);
  }
  changed_ = 0;
  if (connected_.empty()) return;
  for (const auto slot : connected_) {
    Running& activity = running_[slot];
    if (activity.since < now_) {
      activity.remaining = std::max(0.0, activity.remaining - activity.rate * (now_ - activity.since).seconds());
      activity.since = now_;
    }
  }
  if (!all_at_bound()) fill();
}

// The frequent case of an idle memory system: everything runs as fast as it can alone, if that saturates nothing.
bool FlowSharing::all_at_bound() {
  ++stamp_;
  touched_.clear();
  bool unbounded = false;
  for (const auto slot : connected_) {
    const Running& activity = running_[slot];
    for (const Use& use : uses(slot)) {
      Resource& resource = resources_[use.resource];
      if (resource.stamp != stamp_) {
        resource = {1, 0, 0, 0, stamp_};
        touched_.push_back(use.resource);
      }
      resource.used += use.seconds * activity.bound;
    }
    unbounded = unbounded || activity.bound == infinite;
  }
  if (unbounded) return false;
  std::erase_if(touched_, [&](std::uint32_t index) { return resources_[index].used <= 1; });
  if (!touched_.empty()) return false;
  for (const auto slot : connected_) set_rate(running_[slot], running_[slot].bound);
  return true;
}

// touched_ holds the resources that can be used up; the others hold nobody back and are left out.
void FlowSharing::fill() {
  growing_.clear();
  growing_uses_.clear();
  for (const auto slot : connected_) {
    Growing activity{.slot = slot, .first_use = static_cast<std::uint32_t>(growing_uses_.size()), .bound = running_[slot].bound};
    for (const Use& use : uses(slot)) {
      if (!(resources_[use.resource].used > 1)) continue;
      growing_uses_.push_back(use);
      ++resources_[use.resource].growing;
    }
    activity.last_use = static_cast<std::uint32_t>(growing_uses_.size());
    growing_.push_back(activity);
  }
  const auto uses_of = [this](const Growing& activity) {
    return std::span<const Use>{growing_uses_}.subspan(activity.first_use, activity.last_use - activity.first_use);
  };
  for (int round = 0; !growing_.empty(); ++round) {
    for (const auto index : touched_) {
      Resource& resource = resources_[index];
      resource.share = resource.left / resource.growing;
      resource.used = 0;
    }
    double step = infinite;  // times the equal increments, until something is used up
    for (Growing& activity : growing_) {
      const double room = activity.bound - activity.rate;
      double increment = room;
      for (const Use& use : uses_of(activity)) increment = std::min(increment, resources_[use.resource].share * use.inverse);
      for (const Use& use : uses_of(activity)) resources_[use.resource].used += use.seconds * increment;
      activity.increment = increment;
      if (room < step * increment) step = room / increment;
    }
    for (const auto index : touched_) {
      const Resource& resource = resources_[index];
      if (resource.left < step * resource.used) step = resource.left / resource.used;
    }
    if (step > last_step && round < plain_rounds) step = 1;
    bool used_up = false;
    for (const auto index : touched_) {
      Resource& resource = resources_[index];
      resource.left -= step * resource.used;
      if (resource.left > saturated) continue;
      resource.left = 0;
      used_up = true;
    }
    std::size_t kept = 0;
    for (Growing& activity : growing_) {
      activity.rate += step * activity.increment;
      bool grows = activity.rate < activity.bound * (1 - saturated);
      if (!grows) activity.rate = activity.bound;
      if (used_up) {
        for (const Use& use : uses_of(activity)) grows = grows && resources_[use.resource].left > 0;
      }
      if (grows) {
        growing_[kept++] = activity;
        continue;
      }
      for (const Use& use : uses_of(activity)) --resources_[use.resource].growing;
      set_rate(running_[activity.slot], activity.rate);
    }
    if (kept == growing_.size()) continue;
    growing_.resize(kept);
    std::erase_if(touched_, [&](std::uint32_t index) { return resources_[index].growing == 0; });
  }
}

}  // namespace homenode
