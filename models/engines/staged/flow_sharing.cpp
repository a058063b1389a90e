#include "models/engines/staged/flow_sharing.hpp"

#include <Eigen/Core>
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
        resource = {0, 0, stamp_};
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

// touched_ holds the resources that can be used up; the others hold nobody back and are left out. Activities are rows and resources columns
// of full matrices: most activities use most of the resources that are scarce.
void FlowSharing::fill() {
  begin_filling();
  const auto width = static_cast<Eigen::Index>(filling_.left.size());
  using Columns = Eigen::Map<Eigen::ArrayXd>;
  Columns left{filling_.left.data(), width}, share{filling_.share.data(), width}, used{filling_.used.data(), width},
      users{filling_.users.data(), width};
  const auto row = [width](std::vector<double>& matrix, const Growing& activity) {
    return Columns{matrix.data() + static_cast<Eigen::Index>(activity.row) * width, width};
  };
  for (int round = 0; !growing_.empty(); ++round) {
    share = (users > 0).select(left / users, 1.0);  // what is used up has no users left
    used.setZero();
    double step = infinite;  // times the equal increments, until something is used up
    for (Growing& activity : growing_) {
      const double room = activity.bound - activity.rate;
      activity.increment = std::min(room, (share * row(filling_.inverse, activity)).minCoeff());
      used += row(filling_.seconds, activity) * activity.increment;
      if (room < step * activity.increment) step = room / activity.increment;
    }
    for (Eigen::Index column = 0; column < width; ++column)
      if (left(column) < step * used(column)) step = left(column) / used(column);
    if (step > last_step && round < plain_rounds) step = 1;
    bool used_up = false;
    for (Eigen::Index column = 0; column < width; ++column) {
      if (users(column) == 0) continue;
      left(column) -= step * used(column);
      if (left(column) > saturated) continue;
      left(column) = 0;
      used_up = true;
    }
    auto kept = growing_.begin();
    for (Growing& activity : growing_) {
      activity.rate += step * activity.increment;
      bool grows = activity.rate < activity.bound * (1 - saturated);
      if (!grows) activity.rate = activity.bound;
      const Columns seconds = row(filling_.seconds, activity);
      if (grows && used_up) grows = !(seconds > 0 && left == 0).any();
      if (grows) {
        if (&activity != &*kept) *kept = activity;
        ++kept;
        continue;
      }
      users -= (seconds > 0).cast<double>();
      set_rate(running_[activity.slot], activity.rate);
    }
    growing_.erase(kept, growing_.end());
  }
}

// Columns beyond the resources, up to a whole number of what a processor takes at once, are never used up.
void FlowSharing::begin_filling() {
  constexpr std::size_t at_once = 4;
  constexpr double nothing = 1e300;  // the inverse of no seconds; shares are at most 1
  const std::size_t width = (touched_.size() + at_once - 1) / at_once * at_once;
  filling_.left.assign(width, 1);
  filling_.share.assign(width, 0);
  filling_.used.assign(width, 0);
  filling_.users.assign(width, 0);
  filling_.seconds.assign(connected_.size() * width, 0);
  filling_.inverse.assign(connected_.size() * width, nothing);
  for (std::uint32_t column = 0; column < touched_.size(); ++column) resources_[touched_[column]].column = column;
  growing_.clear();
  for (const auto slot : connected_) {
    const auto row = static_cast<std::uint32_t>(growing_.size());
    growing_.push_back({.slot = slot, .row = row, .bound = running_[slot].bound});
    for (const Use& use : uses(slot)) {
      const Resource& resource = resources_[use.resource];
      if (!(resource.used > 1)) continue;
      filling_.seconds[row * width + resource.column] = use.seconds;
      filling_.inverse[row * width + resource.column] = use.inverse;
      ++filling_.users[resource.column];
    }
  }
}

}  // namespace homenode
