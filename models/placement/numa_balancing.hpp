// Automatic NUMA balancing of pages, after Linux's task_numa_work (scans), do_numa_page (hinting faults) and, for linux_3_10,
// mpol_misplaced of that version. One address space; all of its pages take part.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/placement/balanced_threads.hpp"

namespace homenode {

class NumaBalancing {
public:
  NumaBalancing(const BalancingSettings&, std::size_t nodes);

  Time next_scan() const { return next_scan_; }
  // By the thread at `place`, if it is its turn: its period says when the next one is due. A scan unmaps pages up to the scan size, and
  // goes on where the last one ended. The thread that scanned last leaves its next turn to another (node_stamp += 2 ticks).
  void scan(const Place&, PageActions&);
  void fault(const Place&, std::span<const PageUse>, PageActions&);
  // A new page at this number: nobody has faulted there.
  void forget(PageNumber);

  const BalancedThreads& threads() const { return threads_; }

private:
  bool misplaced(const Place&, NodeId home, const LastTouch&) const;
  bool over_rate_limit(NodeId to, Time now, std::uint64_t page_bytes);
  bool may_scan(const Place&);
  Time period_to_scan(const Place&);
  static Bytes resident(const PageActions&);
  void unmap_pages(PageActions&);
  void lengthen_period(ThreadId, bool migrated);

  struct Window {
    Time end;
    std::uint64_t bytes = 0;
  };

  BalancingSettings settings_;
  BalancedThreads threads_;
  Time next_scan_;
  PageNumber offset_;             // mm->numa_scan_offset
  std::uint64_t passes_ = 0;      // mm->numa_scan_seq
  std::vector<LastTouch> last_;   // by page
  std::vector<Window> migrated_;  // by node
  ThreadId last_scanner_ = ThreadId::none();
  // linux_3_10 only.
  NodeId first_node_ = NodeId::none();
  bool several_nodes_ = false;
  Time next_reset_;
  std::vector<Time> periods_;  // by thread
};

}  // namespace homenode
