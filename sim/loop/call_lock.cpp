#include "sim/loop/call_lock.hpp"

#include <algorithm>

namespace homenode {

bool CallLock::ask(const Place& place) {
  if (held_) {
    waiting_.push_back({place, place.now});
    return false;
  }
  return held_ = true;
}

bool CallLock::look(const Place& place) {
  const auto self = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.place.thread == place.thread; });
  if (!held_) {
    waiting_.erase(self);
    return held_ = true;
  }
  if (self->sleeps) self->since = place.now;  // it is awake, and spins anew
  self->looks = self->sleeps = false;
  return false;
}

std::optional<ThreadId> CallLock::pass_on() {
  held_ = !waiting_.empty();
  if (!held_) return std::nullopt;
  const ThreadId next = waiting_.front().place.thread;
  waiting_.pop_front();
  return next;
}

std::vector<CallLock::Look> CallLock::give_up(const Place& place, const SpinLockTimes& times, std::mt19937_64& random) {
  held_ = false;
  for (Waiting& one : waiting_)
    if (!one.looks && place.now - one.since >= spins_) one.sleeps = true;
  std::vector<Look> looks;
  if (const auto first = winner(place, times, random)) looks.push_back(*first);
  if (const auto later = woken(place, times)) looks.push_back(*later);
  return looks;
}

std::optional<CallLock::Look> CallLock::winner(const Place& place, const SpinLockTimes& times, std::mt19937_64& random) {
  std::vector<std::pair<std::size_t, double>> chances;  // of those that spin, up to each
  double all = 0;
  for (std::size_t w = 0; w < waiting_.size(); ++w) {
    const Waiting& one = waiting_[w];
    if (one.sleeps) continue;
    if (one.looks) return std::nullopt;  // the line is on its way to that one
    all += 1 / std::max(times.way(place.core, one.place.core), Time::picoseconds(1)).seconds();
    chances.emplace_back(w, all);
  }
  if (chances.empty()) return std::nullopt;
  const double drawn = all * (static_cast<double>(random() >> 11) * 0x1p-53);
  const auto found = std::find_if(chances.begin(), chances.end() - 1, [drawn](const auto& one) { return drawn < one.second; });
  Waiting& first = waiting_[found->first];
  first.looks = true;
  return Look{first.place.thread, place.now + times.way(place.core, first.place.core)};
}

std::optional<CallLock::Look> CallLock::woken(const Place& place, const SpinLockTimes& times) {
  const auto first = std::find_if(waiting_.begin(), waiting_.end(), [](const Waiting& one) { return one.sleeps && !one.looks; });
  if (first == waiting_.end()) return std::nullopt;
  first->looks = true;
  return Look{first->place.thread, place.now + times.wakeup};
}

}  // namespace homenode
