// Where a thread runs best and how it gets there: task_numa_migrate, task_numa_find_cpu and task_numa_compare.
#include <algorithm>

#include "models/placement/balanced_threads.hpp"

namespace homenode {
namespace {

constexpr std::int64_t whole = 1000;     // task_weight and group_weight count in thousandths
constexpr std::int64_t least_gain = 30;  // SMALLIMP, since 4.20: exchanges for less are not worth it
constexpr std::int64_t hysteresis = 16;  // an exchange within a group counts for that part less

}  // namespace

std::int64_t BalancedThreads::task_weight(const Thread& thread, NodeId node) const {
  return thread.total > 0 ? whole * at(thread.memory, node) / thread.total : 0;
}

std::int64_t BalancedThreads::group_weight(const Thread& thread, NodeId node) const {
  if (thread.group == none) return 0;
  const Group& group = groups_[thread.group];
  return group.total > 0 ? whole * at(group.memory, node) / group.total : 0;
}

BalancedThreads::Gain BalancedThreads::gain(const Thread& thread, NodeId from, NodeId to) const {
  return {task_weight(thread, to) - task_weight(thread, from), group_weight(thread, to) - group_weight(thread, from)};
}

BalancedThreads::Exchange BalancedThreads::best_exchange(ThreadId id, const Thread& self, NodeId from, NodeId to,
                                                         const PageActions& actions) const {
  const Gain own = gain(self, from, to);
  Exchange best;
  if (settings_.kernel != BalancingKernel::linux_4_4) best.gain = least_gain - 1;
  for (const ThreadId other : actions.threads_on(to)) {
    if (other == id || other.index() >= threads_.size()) continue;
    const Thread& there = threads_[other.index()];
    const Gain back = gain(there, to, from);
    std::int64_t both = 0;
    if (there.group == self.group) {
      both = own.task + back.task;
      if (there.group != none) both -= both / hysteresis;
    } else {
      both = (self.group != none ? own.group : own.task) + (there.group != none ? back.group : back.task);
    }
    if (both > best.gain) best = {other, both};
  }
  return best;
}

bool BalancedThreads::move_or_exchange(ThreadId id, const Thread& self, NodeId from, NodeId to, PageActions& actions) const {
  const Gain own = gain(self, from, to);
  const Exchange exchange = best_exchange(id, self, from, to, actions);
  const bool found = !exchange.with.is_none();
  if (found && exchange.gain > (self.group != none ? own.group : own.task) && actions.exchange_threads(id, exchange.with)) return true;
  if (actions.move_thread(id, to)) return true;
  return found && actions.exchange_threads(id, exchange.with);
}

// numa_migrate_preferred: the preferred node first, then every other one where the thread or its group gains.
void BalancedThreads::move_to_preferred(ThreadId id, Thread& self, const Place& place, PageActions& actions) {
  if (self.preferred.is_none()) return;
  self.retry = place.now + std::min(Time::from_seconds(1), Time::picoseconds(self.period.count() / 16));
  if (self.preferred == place.node) return;
  NodeId went = place.node;
  if (move_or_exchange(id, self, place.node, self.preferred, actions)) went = self.preferred;
  for (std::size_t n = 0; n < nodes_ && went == place.node; ++n) {
    const NodeId node{n};
    if (node == place.node || node == self.preferred) continue;
    const Gain gained = gain(self, place.node, node);
    if (gained.task < 0 && gained.group < 0) continue;
    if ((self.group != none ? gained.group : gained.task) <= 0) continue;
    if (move_or_exchange(id, self, place.node, node, actions)) went = node;
  }
  if (went != place.node && settings_.kernel == BalancingKernel::linux_4_4) self.period = shortest_period();
  if (self.group != none) self.preferred = went;
}

}  // namespace homenode
