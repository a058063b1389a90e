#include "models/placement/balanced_threads.hpp"

#include <algorithm>
#include <cmath>

#include "models/placement/scan_limits.hpp"

namespace homenode {
namespace {

constexpr std::int64_t active_node_fraction = 3;          // ACTIVE_NODE_FRACTION
constexpr std::int64_t period_slots = 10, threshold = 7;  // NUMA_PERIOD_SLOTS, NUMA_PERIOD_THRESHOLD: aim for 70 % local faults
constexpr std::uint64_t early_scans = 4;                  // should_numa_migrate_memory
constexpr std::int64_t running_all_the_time = 1 << 16;    // weight of CPU faults in task_numa_placement

Time scaled(Time time, double by) { return Time::picoseconds(std::llround(static_cast<double>(time.count()) * by)); }

}  // namespace

BalancedThreads::BalancedThreads(const BalancingSettings& settings, std::size_t nodes) : settings_{settings}, nodes_{nodes} {}

BalancedThreads::Thread& BalancedThreads::thread(ThreadId id) {
  while (threads_.size() <= id.index()) {
    const Faults nothing(2 * nodes_, 0);
    threads_.push_back({.period = {}, .retry = {}, .memory = nothing, .memory_now = nothing, .cpu = nothing, .cpu_now = nothing});
  }
  return threads_[id.index()];
}

Time BalancedThreads::period(ThreadId id) const { return id.index() < threads_.size() ? threads_[id.index()].period : Time{}; }

NodeId BalancedThreads::preferred(ThreadId id) const {
  return id.index() < threads_.size() ? threads_[id.index()].preferred : NodeId::none();
}

bool BalancedThreads::grouped(ThreadId a, ThreadId b) const {
  if (std::max(a, b).index() >= threads_.size()) return false;
  return threads_[a.index()].group != none && threads_[a.index()].group == threads_[b.index()].group;
}

// task_nr_scan_windows
double BalancedThreads::windows() const {
  return std::max(1.0, std::ceil(static_cast<double>(resident_.count()) / static_cast<double>(settings_.scan_size.count())));
}

// task_scan_min
Time BalancedThreads::shortest_period() const {
  const double scans_a_second =
      std::max(1.0, static_cast<double>(most_scanned_a_second) / static_cast<double>(settings_.scan_size.count()));
  return std::max(Time::from_seconds(1 / scans_a_second), scaled(settings_.scan_period_min, 1 / windows()));
}

Time BalancedThreads::scaled_by_sharing(const Group& group, Time period) const {
  std::int64_t shared = 0, own = 0;
  for (std::size_t node = 0; node < nodes_; ++node) {
    shared += group.memory[2 * node];
    own += group.memory[2 * node + 1];
  }
  const double factor = static_cast<double>(group.threads) * static_cast<double>(shared + 1) / static_cast<double>(own + shared + 1);
  return scaled(period, factor);
}

// task_scan_start; linux_4_4 starts with the shortest period.
Time BalancedThreads::first_period(const Thread& thread) const {
  const Time shortest = shortest_period();
  if (settings_.kernel == BalancingKernel::linux_4_4 || thread.group == none) return shortest;
  return std::max(shortest, scaled_by_sharing(groups_[thread.group], shortest));
}

// task_scan_max
Time BalancedThreads::longest_period(const Thread& thread) const {
  Time longest = scaled(settings_.scan_period_max, 1 / windows());
  if (settings_.kernel != BalancingKernel::linux_4_4 && thread.group != none)
    longest = std::max(longest, scaled_by_sharing(groups_[thread.group], longest));
  return std::max(shortest_period(), longest);
}

Time BalancedThreads::period_to_scan(ThreadId id) {
  Thread& self = thread(id);
  if (self.period == Time{}) self.period = first_period(self);
  return self.period;
}

bool BalancedThreads::active(const Group& group, NodeId node) const {
  if (settings_.kernel == BalancingKernel::linux_4_4) return group.active[node.index()];
  return at(group.cpu, node) * active_node_fraction > group.max_cpu;  // numa_is_active_node
}

bool BalancedThreads::moves_page(const Place& place, NodeId home, const LastTouch& last) const {
  static const Thread unknown;
  const Thread& self = place.thread.index() < threads_.size() ? threads_[place.thread.index()] : unknown;
  const bool first = last.thread.is_none(), own = last.thread == place.thread;
  if (settings_.kernel == BalancingKernel::linux_6_1 && (self.preferred.is_none() || self.seen_scan <= early_scans) && (first || own))
    return true;
  if (!first && last.node != place.node) return false;  // two faults in a row from one node
  if (own || self.group == none) return true;
  const Group& group = groups_[self.group];
  if (settings_.kernel == BalancingKernel::linux_4_4) {
    if (!active(group, place.node)) return false;
    if (!active(group, home)) return true;
    return at(group.memory, place.node) < at(group.memory, home) * 3 / 4;
  }
  const std::int64_t cpu_here = at(group.cpu, place.node), cpu_home = at(group.cpu, home);
  if (cpu_here > cpu_home * active_node_fraction) return true;
  return cpu_here * at(group.memory, home) * 3 > cpu_home * at(group.memory, place.node) * 4;
}

// task_numa_group: the thread founds a group of its own and joins that of the last one if that is larger.
void BalancedThreads::join_group(std::size_t self, const LastTouch& last) {
  if (threads_[self].group == none) {
    Group alone;
    alone.threads = 1;
    alone.memory = threads_[self].memory;
    alone.cpu = threads_[self].cpu;
    alone.total = threads_[self].total;
    alone.active.assign(nodes_, false);
    threads_[self].group = groups_.size();
    groups_.push_back(std::move(alone));
  }
  const std::size_t mine = threads_[self].group, other = thread(last.thread).group;
  if (other == none || other == mine) return;
  if (groups_[mine].threads > groups_[other].threads) return;
  if (groups_[mine].threads == groups_[other].threads && mine > other) return;
  const Thread& joins = threads_[self];
  for (std::size_t i = 0; i < 2 * nodes_; ++i) {
    groups_[mine].memory[i] -= joins.memory[i];
    groups_[other].memory[i] += joins.memory[i];
    groups_[mine].cpu[i] -= joins.cpu[i];
    groups_[other].cpu[i] += joins.cpu[i];
  }
  groups_[mine].total -= joins.total;
  groups_[other].total += joins.total;
  --groups_[mine].threads;
  ++groups_[other].threads;
  threads_[self].group = other;
}

std::optional<Time> BalancedThreads::fault(const HintingFault& fault, std::uint64_t scan_sequence, PageActions& actions) {
  const std::size_t index = fault.place.thread.index();
  thread(std::max(fault.place.thread, fault.last.thread.is_none() ? fault.place.thread : fault.last.thread));
  const bool own = fault.last.thread.is_none() || fault.last.thread == fault.place.thread;
  if (!own) {
    const bool founded = threads_[index].group == none;
    join_group(index, fault.last);
    if (founded) groups_[threads_[index].group].active[fault.place.node.index()] = true;
  }
  Thread& self = threads_[index];
  if (self.period == Time{}) self.period = first_period(self);
  bool local = fault.local;
  // A shared fault between nodes that the group uses anyway counts as local, so that scans slow down when all has settled.
  if (!own && !local && self.group != none) {
    const Group& group = groups_[self.group];
    const bool several = settings_.kernel == BalancingKernel::linux_4_4 || group.active_nodes > 1;
    local = several && active(group, fault.place.node) && active(group, fault.home);
  }
  const bool retry = fault.place.now > self.retry;
  std::optional<Time> put_off;
  if (retry || settings_.kernel == BalancingKernel::linux_4_4) put_off = place(self, scan_sequence, fault.place.now);
  if (retry) move_to_preferred(fault.place.thread, self, fault.place, actions);
  ++self.memory_now[2 * fault.home.index() + (own ? 1 : 0)];
  ++self.cpu_now[2 * fault.place.node.index() + (own ? 1 : 0)];
  if (fault.failed) ++self.failed;
  ++(local ? self.local : self.remote);
  return put_off;
}

// task_numa_placement: once for each pass over all pages. Returns when the next scan is due if the thread puts it off.
std::optional<Time> BalancedThreads::place(Thread& self, std::uint64_t scan_sequence, Time now) {
  if (self.seen_scan == scan_sequence) return std::nullopt;
  self.seen_scan = scan_sequence;
  const std::int64_t all = self.remote + self.local;
  Group* const group = self.group == none ? nullptr : &groups_[self.group];
  std::int64_t most = 0, by_kind[2] = {0, 0};
  NodeId best = NodeId::none();
  for (std::size_t node = 0; node < nodes_; ++node) {
    std::int64_t here = 0;
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const std::size_t i = 2 * node + kind;
      by_kind[kind] += self.memory_now[i];
      const std::int64_t change = self.memory_now[i] - self.memory[i] / 2;
      const std::int64_t cpu_change = running_all_the_time * self.cpu_now[i] / (all + 1) - self.cpu[i] / 2;
      self.memory_now[i] = self.cpu_now[i] = 0;
      self.memory[i] += change;
      self.cpu[i] += cpu_change;
      self.total += change;
      if (group != nullptr) {
        group->memory[i] += change;
        group->cpu[i] += cpu_change;
        group->total += change;
      }
      here += group != nullptr ? group->memory[i] : self.memory[i];
    }
    if (here > most) {
      most = here;
      best = NodeId{node};
    }
  }
  if (group != nullptr) count_active_nodes(*group);
  if (most > 0) self.preferred = best;
  return adapt_period(self, by_kind[0], by_kind[1], now);
}

// numa_group_count_active_nodes; update_numa_active_node_mask in linux_4_4.
void BalancedThreads::count_active_nodes(Group& group) {
  group.max_cpu = 0;
  for (std::size_t node = 0; node < nodes_; ++node) group.max_cpu = std::max(group.max_cpu, at(group.cpu, NodeId{node}));
  group.active_nodes = 0;
  for (std::size_t node = 0; node < nodes_; ++node) {
    const std::int64_t here = at(group.cpu, NodeId{node});
    if (here * active_node_fraction > group.max_cpu) ++group.active_nodes;
    if (!group.active[node] && here > group.max_cpu * 6 / 16) group.active[node] = true;
    if (group.active[node] && here < group.max_cpu * 3 / 16) group.active[node] = false;
  }
}

// update_task_scan_period
std::optional<Time> BalancedThreads::adapt_period(Thread& self, std::int64_t shared, std::int64_t own, Time now) {
  const Time longest = longest_period(self);
  if (self.local + shared == 0 || self.failed != 0) {
    self.period = std::min(longest, self.period * 2);
    self.failed = 0;
    return now + self.period;
  }
  const std::int64_t slot = (self.period.count() + period_slots - 1) / period_slots;
  const std::int64_t local_share = self.local * period_slots / (self.local + self.remote);
  std::int64_t change = 0;
  if (settings_.kernel == BalancingKernel::linux_4_4) {
    change = local_share >= threshold ? std::max<std::int64_t>(local_share - threshold, 1) * slot : -(threshold - local_share) * slot;
    // Little is gained by faster scans when shared faults dominate.
    if (change < 0) change = change * ((own * period_slots + own + shared) / (own + shared + 1)) / period_slots;
  } else {
    const std::int64_t own_share = own * period_slots / std::max<std::int64_t>(own + shared, 1);
    const std::int64_t share = own_share >= threshold ? own_share : local_share;
    change =
        share >= threshold ? std::max<std::int64_t>(share - threshold, 1) * slot : -(threshold - std::max(local_share, own_share)) * slot;
  }
  self.period = std::clamp(self.period + Time::picoseconds(change), shortest_period(), longest);
  self.remote = self.local = self.failed = 0;
  return std::nullopt;
}

}  // namespace homenode
