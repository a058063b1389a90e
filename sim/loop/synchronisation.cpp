#include "sim/loop/synchronisation.hpp"

#include <utility>

#include "sim/base/errors.hpp"

namespace homenode {

namespace {
constexpr int mutex = 0, critical = 1;

std::string name(ThreadId thread) { return "thread " + std::to_string(thread.value()); }
}  // namespace

bool Synchronisation::pass(ThreadId thread, const SyncEvent& event, std::vector<ThreadId>& released, bool sleeps) {
  const std::string number = std::to_string(event.object);
  switch (event.operation) {
    case SyncOperation::lock: return acquire(thread, {mutex, event.object}, "lock " + number, sleeps);
    case SyncOperation::try_lock: return event.match == 0 || acquire(thread, {mutex, event.object}, "lock " + number, sleeps);
    case SyncOperation::critical_enter: return acquire(thread, {critical, event.object}, "critical section " + number, sleeps);
    case SyncOperation::unlock: give_up(thread, {mutex, event.object}, "lock " + number, released); return true;
    case SyncOperation::critical_leave: give_up(thread, {critical, event.object}, "critical section " + number, released); return true;
    case SyncOperation::signal:
    case SyncOperation::broadcast:
      signalled_.insert(event.match);
      release_all(waiting_for_signal_, event.match, released);
      return true;
    case SyncOperation::wait:
    case SyncOperation::atomic_wait:
      if (event.match == 0 || signalled_.contains(event.match)) return true;
      return wait_for(thread, waiting_for_signal_, event.match, {"signal " + std::to_string(event.match), ThreadId::none()});
    case SyncOperation::barrier: {
      auto& here = at_barrier_[event.object];
      if (here.size() + 1 < event.match) return wait_for(thread, at_barrier_, event.object, {"barrier " + number, ThreadId::none()});
      release_all(at_barrier_, event.object, released);
      return true;
    }
    case SyncOperation::join: {
      const ThreadId other{static_cast<std::size_t>(event.object)};
      if (ended_.contains(other)) return true;
      return wait_for(thread, waiting_for_end_, event.object, {"the end of " + name(other), other});
    }
    case SyncOperation::ordered_enter: {
      Turns& turns = turns_[event.object];
      if (event.match <= turns.next) return true;
      turns.waiting[event.match] = thread;
      waits_[thread] = {"turn " + std::to_string(event.match) + " of ordered region " + number, ThreadId::none()};
      return false;
    }
    case SyncOperation::ordered_leave: turn_done(event.object, event.match, released); return true;
    case SyncOperation::create:
    case SyncOperation::task_submit:
    case SyncOperation::task_wait:
    case SyncOperation::depend:
    case SyncOperation::task_group_begin:
    case SyncOperation::task_group_end: return true;
  }
  return true;
}

void Synchronisation::thread_ended(ThreadId thread, std::vector<ThreadId>& released) {
  ended_.insert(thread);
  release_all(waiting_for_end_, thread.value(), released);
}

void Synchronisation::turn_done(std::uint64_t object, std::uint64_t turn, std::vector<ThreadId>& released) {
  Turns& turns = turns_[object];
  if (turn < turns.next) return;
  turns.later.insert(turn);
  while (!turns.later.empty() && *turns.later.begin() == turns.next) {
    turns.later.erase(turns.later.begin());
    ++turns.next;
  }
  const auto waiting = turns.waiting.find(turns.next);
  if (waiting == turns.waiting.end()) return;
  waits_.erase(waiting->second);
  released.push_back(waiting->second);
  turns.waiting.erase(waiting);
}

bool Synchronisation::acquire(ThreadId thread, Object object, const std::string& what, bool sleeps) {
  Lock& lock = locks_[object];
  if (lock.holder.is_none()) {
    lock.holder = thread;
    for (const Lock::Waiting& other : lock.queue) waits_[other.thread].holder = thread;
    return true;
  }
  lock.queue.push_back({thread, sleeps});
  waits_[thread] = {what, lock.holder};
  return false;
}

void Synchronisation::give_up(ThreadId thread, Object object, const std::string& what, std::vector<ThreadId>& released) {
  Lock& lock = locks_[object];
  if (lock.holder != thread)
    throw PolicyError(name(thread) + " releases " + what + ", which " +
                      (lock.holder.is_none() ? std::string("nobody") : name(lock.holder)) + " holds");
  lock.holder = ThreadId::none();
  if (lock.queue.empty()) return;
  const Lock::Waiting next = lock.queue.front();
  lock.queue.pop_front();
  waits_.erase(next.thread);
  if (next.sleeps) {
    woken_.push_back(next.thread);
  } else {
    lock.holder = next.thread;
    released.push_back(next.thread);
  }
  for (const Lock::Waiting& other : lock.queue) waits_[other.thread].holder = lock.holder;
}

bool Synchronisation::wait_for(ThreadId thread, std::map<std::uint64_t, std::vector<ThreadId>>& waiting, std::uint64_t key, Wait wait) {
  waiting[key].push_back(thread);
  waits_[thread] = std::move(wait);
  return false;
}

void Synchronisation::release_all(std::map<std::uint64_t, std::vector<ThreadId>>& waiting, std::uint64_t key,
                                  std::vector<ThreadId>& released) {
  const auto found = waiting.find(key);
  if (found == waiting.end()) return;
  for (const ThreadId thread : found->second) {
    waits_.erase(thread);
    released.push_back(thread);
  }
  waiting.erase(found);
}

std::string Synchronisation::describe_waits() const {
  const auto say = [&](ThreadId thread) {
    const Wait& wait = waits_.at(thread);
    std::string text = name(thread) + " waits for " + wait.what;
    if (!wait.holder.is_none() && wait.what.find("the end of") == std::string::npos) text += ", held by " + name(wait.holder);
    return text;
  };
  // Follow the holders from each thread: whoever comes twice lies on a cycle.
  for (const auto& start : waits_) {
    std::vector<ThreadId> path;
    for (ThreadId at = start.first; !at.is_none();) {
      for (std::size_t i = 0; i < path.size(); ++i) {
        if (path[i] != at) continue;
        std::string text = "cycle: ";
        for (; i < path.size(); ++i) text += say(path[i]) + (i + 1 < path.size() ? "; " : "");
        return text;
      }
      path.push_back(at);
      const auto found = waits_.find(at);
      if (found == waits_.end()) break;
      at = found->second.holder;
    }
  }
  std::string text;
  for (const auto& entry : waits_) text += (text.empty() ? "" : "; ") + say(entry.first);
  return text;
}

}  // namespace homenode
