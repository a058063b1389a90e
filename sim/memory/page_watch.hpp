// Between the page table and a placement that watches pages (page_placement.hpp); placements that only answer faults do not pay for
// it. The memory model collects what the placement did and charges its time and traffic.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/policy/page_placement.hpp"

namespace homenode {

class AddressSpace;

struct PageMove {
  PageNumber page;
  NodeId from, to;
};

// Since it was last asked for.
struct PageWork {
  std::vector<PageMove> moves;
  std::uint64_t unmapped = 0, hinting_faults = 0;  // pages
  std::uint64_t replicated = 0;                    // pages
  std::vector<PageMove> copies;                    // of these, one for each node that had none
  std::vector<PageNumber> collapsed;               // by a write
};

// How the run migrates threads; empty where it does not.
struct ThreadMoves {
  std::function<bool(ThreadId, NodeId)> move;
  std::function<bool(ThreadId, ThreadId)> exchange;
  std::function<std::vector<ThreadId>(NodeId)> on;
};

class PageWatch final : public PageActions {
public:
  PageWatch(AddressSpace& addresses, PagePlacement& policy);

  Watch watches() const { return watches_; }
  // Calls the placement's `wake` if it is due.
  void begin_slice(const Place&);
  // Pages [first, last] are touched: those that are unmapped become hinting faults, to be told.
  void touched(PageNumber first, PageNumber last) {
    if (unmapped_ != 0) note_faults(first, last);
  }
  // Something is to be told, or done before the caches see more: a hinting fault, a page that collapsed.
  bool faulted() const { return !uses_.empty() || !work_.collapsed.empty(); }
  void tell_faults(const Place&);
  // Pages [first, last) are written.
  void stored(PageNumber first, PageNumber last) {
    if (replicates_) set_dirty(first, last);
  }
  void collapsed(PageNumber page) { work_.collapsed.push_back(page); }
  bool replicates() const { return replicates_; }
  // The bytes went to memory, or came from there.
  void exchanged(AddressRange, bool written);
  void tell_traffic(const Place&);
  // Forgets earlier pages with the numbers [first, last).
  void placed(PageNumber first, PageNumber last) {
    for (PageNumber page = first; unmapped_ != 0 && page < last; ++page) map(page);
  }
  PageWork take_work();
  // Of the whole run.
  std::uint64_t hinting_faults() const { return all_hinting_faults_; }
  void set_thread_mover(ThreadMoves moves) { moves_ = std::move(moves); }

  std::uint64_t pages() const override;
  std::uint64_t page_bytes() const override;
  NodeId home(PageNumber) const override;
  void migrate(PageNumber, NodeId to) override;
  bool unmap(PageNumber) override;
  bool clear_accessed(PageNumber) override;
  bool replicate(PageNumber) override;
  bool replicated(PageNumber) const override;
  std::uint64_t collapses(PageNumber) const override;
  bool clear_dirty(PageNumber) override;
  std::uint64_t free_pages(NodeId) const override;
  bool move_thread(ThreadId thread, NodeId to) override { return moves_.move && moves_.move(thread, to); }
  bool exchange_threads(ThreadId a, ThreadId b) override { return moves_.exchange && moves_.exchange(a, b); }
  std::vector<ThreadId> threads_on(NodeId node) const override { return moves_.on ? moves_.on(node) : std::vector<ThreadId>{}; }

private:
  enum State : std::uint8_t { mapped, unmapped, not_accessed };

  void note_faults(PageNumber first, PageNumber last);
  bool can_be_watched(PageNumber);
  void map(PageNumber);
  void set_dirty(PageNumber first, PageNumber last);

  AddressSpace& addresses_;
  PagePlacement& policy_;
  Watch watches_;
  bool replicates_;
  std::vector<State> states_;   // by page
  std::uint64_t unmapped_ = 0;  // pages that are not `mapped`
  std::vector<PageUse> uses_;   // to be told
  std::vector<bool> dirty_;     // by page; where the placement replicates
  std::vector<NodeId> copies_;  // scratch
  PageWork work_;
  std::uint64_t all_hinting_faults_ = 0;
  ThreadMoves moves_;
};

}  // namespace homenode
