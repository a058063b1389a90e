// What automatic NUMA balancing knows of its threads: where their hinting faults fall, which threads share pages, on which node each
// would run best, how often to scan. After Linux's kernel/sched/fair.c (v4.4 and v6.1); its names stand at the functions, its integer
// arithmetic is kept. Simplified: a thread that faults has run all the time since its last placement; every two nodes count as
// directly connected (NUMA_DIRECT); a move to an idle core is never refused for the load that it leaves behind.
#pragma once

#include <cstdint>
#include <vector>

#include "models/placement/balancing_settings.hpp"
#include "sim/policy/page_placement.hpp"

namespace homenode {

// Who touched a page at its last hinting fault: page->_last_cpupid.
struct LastTouch {
  ThreadId thread = ThreadId::none();  // none(): nobody yet
  NodeId node;
};

struct HintingFault {
  Place place;
  NodeId home;          // after the migration if there was one
  bool local = false;   // before it
  bool failed = false;  // should have been migrated and was not
  LastTouch last;
};

class BalancedThreads {
public:
  BalancedThreads(const BalancingSettings&, std::size_t nodes);

  // should_numa_migrate_memory: does a fault there move a page that is at home there?
  bool moves_page(const Place&, NodeId home, const LastTouch&) const;
  // task_numa_fault. Returns when the next scan is due if the thread puts it off.
  std::optional<Time> fault(const HintingFault&, std::uint64_t scan_sequence, PageActions&);
  // The period of the scan that this thread does now (task_numa_work).
  Time period_to_scan(ThreadId);
  // Resident pages decide how many scans see all of them.
  void resident(Bytes memory) { resident_ = memory; }

  Time period(ThreadId) const;
  NodeId preferred(ThreadId) const;
  bool grouped(ThreadId a, ThreadId b) const;

private:
  // By node and kind, 2 x node + (1 for private, 0 for shared faults).
  using Faults = std::vector<std::int64_t>;
  struct Thread {
    Time period;  // zero: not yet known
    NodeId preferred = NodeId::none();
    std::uint64_t seen_scan = 0;
    Time retry;  // not before it another try to move to the preferred node
    Faults memory, memory_now, cpu, cpu_now;
    std::int64_t total = 0;
    std::int64_t remote = 0, local = 0, failed = 0;  // since the period was set
    std::size_t group = none;
  };
  struct Group {
    std::size_t threads = 0;
    Faults memory, cpu;
    std::int64_t total = 0, max_cpu = 0;
    std::size_t active_nodes = 1;
    std::vector<bool> active;  // linux_4_4's set
  };
  static constexpr std::size_t none = ~std::size_t{0};

  Thread& thread(ThreadId);
  std::int64_t at(const Faults& faults, NodeId node) const { return faults[2 * node.index()] + faults[2 * node.index() + 1]; }
  bool active(const Group&, NodeId) const;
  void join_group(std::size_t self, const LastTouch&);
  std::optional<Time> place(Thread&, std::uint64_t scan_sequence, Time now);
  void count_active_nodes(Group&);
  std::optional<Time> adapt_period(Thread&, std::int64_t shared, std::int64_t own, Time now);
  // Choice of a core for a thread (balanced_threads_moves.cpp).
  struct Gain {  // what a move to a node adds to the share of faults that are local, in thousandths
    std::int64_t task = 0, group = 0;
  };
  struct Exchange {
    ThreadId with = ThreadId::none();
    std::int64_t gain = 0;
  };
  void move_to_preferred(ThreadId, Thread&, const Place&, PageActions&);
  bool move_or_exchange(ThreadId, const Thread&, NodeId from, NodeId to, PageActions&) const;
  Exchange best_exchange(ThreadId, const Thread&, NodeId from, NodeId to, const PageActions&) const;
  std::int64_t task_weight(const Thread&, NodeId) const;
  std::int64_t group_weight(const Thread&, NodeId) const;
  Gain gain(const Thread&, NodeId from, NodeId to) const;
  Time shortest_period() const;
  Time longest_period(const Thread&) const;
  Time first_period(const Thread&) const;
  Time scaled_by_sharing(const Group&, Time) const;
  double windows() const;

  BalancingSettings settings_;
  std::size_t nodes_;
  std::vector<Thread> threads_;
  std::vector<Group> groups_;
  Bytes resident_;
};

}  // namespace homenode
