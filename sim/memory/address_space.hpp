// Object -> virtual addresses -> pages -> home nodes. Every memory model and every placement goes through it. A read of a page
// that nobody has written maps the shared zero page; the first write takes the first-touch page fault that places the page.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/base/addresses.hpp"
#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/memory/fault_run.hpp"
#include "sim/memory/node_memory.hpp"
#include "sim/memory/object_pages.hpp"
#include "sim/memory/page_table.hpp"
#include "sim/memory/page_watch.hpp"
#include "sim/memory/replicas.hpp"
#include "sim/policy/page_placement.hpp"
#include "sim/report/report.hpp"

namespace homenode {

struct HomeShare {
  NodeId home;
  std::uint64_t lines = 0;
};

class AddressSpace {
public:
  // `huge`: size of transparent huge pages, 0 B without. The first write to an aligned block of that size maps the whole block on one
  // node, if mappings cover it without a gap (Linux joins neighbours into one) and none of its pages is placed yet. Mappings lie side by
  // side, the first one `base_pages` pages behind a multiple of `huge`: address space layout randomization gives any number.
  AddressSpace(const Machine&, const Workload&, PagePlacement&, Bytes page, Bytes huge = Bytes{}, std::uint64_t base_pages = 0);

  // From this size on a heap object gets pages of its own, given back on release (glibc's mmap threshold, malloc(3)).
  static constexpr std::uint64_t own_pages_from = 128 * 1024;
  // glibc's header in front of a block that has pages of its own: such arrays start 16 bytes into a page.
  static constexpr std::uint64_t heap_header = 16;

  // Gives an object its addresses: pages of its own when large, else packed with the owner's other small objects.
  AddressRange place_object(ObjectId, ThreadId owner);
  // Pages that were the object's own are unmapped: their next user faults again. `given_back`: how many had a frame.
  struct Released {
    AddressRange range, pages{};  // of the object; those that were its own
    std::uint64_t given_back = 0;
  };
  Released release_object(ObjectId);
  bool placed(ObjectId object) const { return shared_[object.index()].base != Address{}; }
  Address base_of(ObjectId object) const { return shared_[object.index()].base; }  // of one that is placed for all threads
  bool placed(ObjectId object, ThreadId thread) { return placement_of(object, thread).base != Address{}; }

  // For heap managers. Whole pages with consecutive addresses, none of them mapped; alignment: a power of two.
  AddressRange reserve(std::uint64_t bytes, std::uint64_t alignment = 1);
  // Frees the frames of whole pages; the next write faults again. `unmap` also gives the addresses back. Return how many pages had one.
  std::uint64_t discard(AddressRange);
  std::uint64_t unmap(AddressRange);
  // A thread of the program runs on the core. TLB shootdowns go to all of these, each counted once.
  void runs_on(CoreId core) {
    if (ran_on_.size() <= core.index()) ran_on_.resize(core.index() + 1, false);
    cores_run_ += !ran_on_[core.index()];
    ran_on_[core.index()] = true;
  }
  std::size_t cores_run() const { return cores_run_; }
  // Pages of the range are on this node whatever the placement says (mbind), until they are unmapped.
  void bind_pages(AddressRange, NodeId);
  bool bound(PageNumber page) const { return bound_node(page).has_value(); }
  // The object lies in `range` of a heap; `owner`: node of the thread that it is for.
  void bind_object(ObjectId, ThreadId, AddressRange range, NodeId owner);
  void unbind_object(ObjectId, ThreadId);
  // How many pages of a bound object (those of its bytes 0, page, 2 page, ...) lie on another node than its owner's.
  std::uint64_t remote_pages_of(ObjectId, ThreadId);
  // Heap pages that blocks for different nodes shared at some time.
  std::uint64_t mixed_owner_pages() const { return mixed_pages_.size(); }
  // Bytes of pages that place_object took for heap objects and release_object did not give back.
  std::uint64_t heap_bytes_placed() const { return heap_bytes_placed_; }

  // Virtual address of byte 0 of an object, as `thread` sees it (private objects have one copy a thread).
  // Objects that the trace never allocates (globals, stacks) are placed on first use.
  Address address(ObjectId, ThreadId);

  // Makes [first, last) accessible: faults on pages not there yet are decided by the placement, in address order.
  // Returns how many pages faulted.
  std::uint64_t touch(AddressRange, bool write, const Place&);
  // The same for several ranges, so that the placement is asked once for all of them: note each, then settle.
  void note_touch(AddressRange, bool write, const Place&);
  std::uint64_t settle();
  // Pages that the last `settle` placed, by node; a huge page counts as many.
  const std::vector<std::uint64_t>& settled_pages() const { return settled_pages_; }
  // Of these, small pages on frames that no cache held (warm_frames.hpp).
  std::uint64_t settled_cold() const { return settled_cold_; }
  // The lines by home node. Pages on the zero page, and replicated ones, count as local to `reader`.
  void homes(LineRange, NodeId reader, std::vector<HomeShare>& shares) const;
  // The home of all of the lines, likewise; none() if they have several.
  NodeId home_of_all(LineRange lines, NodeId reader) const {
    const PageNumber first = page_of(lines.first), last = page_of(lines.last - 1);
    check_page(last);
    if (first != last && page_table_.end_of_equal(first, last + 1) <= last) return NodeId::none();
    return PageTable::home_for(reader, page_table_[first]);
  }

  // Of one line or byte, likewise: as a core of `reader` sees it.
  NodeId home_for(Address, NodeId reader) const;
  NodeId home_of(Address) const;  // none() if not placed; of a replicated page as Replicas::home
  NodeId home_of_page(PageNumber page) const {
    check_page(page);
    return replicated(page) ? replicas_.home(page) : page_table_.home(page);
  }
  std::uint64_t pages() const { return page_table_.size(); }
  PageNumber page_of(Address address) const { return PageNumber{(address - first_address) >> page_shift_}; }
  Address first_byte(PageNumber page) const { return first_address + page.value() * page_bytes_; }
  AddressRange bytes_of(PageNumber page) const { return AddressRange::of(first_byte(page), page_bytes_); }
  std::size_t nodes() const { return pages_by_node_.size(); }
  // For placements that watch pages; the memory model drives it.
  PageWatch& watch() { return watch_; }
  // A page stays if it is not placed, is there already, or finds no room. Migrating part of a huge page splits it first. Of a replicated
  // page all copies go but its home's. Returns whether the page moved.
  bool migrate(PageNumber, NodeId to);
  // As PageActions::replicate; appends the nodes that got a copy.
  bool replicate(PageNumber, std::vector<NodeId>& copies);
  bool replicated(PageNumber page) const { return page_table_[page] == PageTable::replicated; }
  const Replicas& replicas() const { return replicas_; }

  bool in_huge_page(PageNumber page) const {
    return pages_per_huge_ != 0 && page.value() / pages_per_huge_ < huge_.size() && huge_[page.value() / pages_per_huge_] != 0;
  }
  std::uint64_t pages_per_huge() const { return pages_per_huge_; }  // 0 without transparent huge pages
  std::uint64_t huge_pages() const { return huge_pages_; }          // placed during the run
  const NodeMemory& memory() const { return memory_; }
  std::uint64_t page_bytes() const { return page_bytes_; }
  std::uint64_t line_bytes() const { return line_bytes_; }
  std::uint64_t page_faults() const { return page_faults_; }  // that placed a page
  std::uint64_t migrated_pages() const { return migrated_pages_; }
  // Pages placed on another node than that of the thread that first wrote them.
  std::uint64_t remote_pages() const { return remote_pages_; }
  // Pages placed during the run by where they are, or were when they were given back.
  const std::vector<std::uint64_t>& pages_by_node() const { return pages_by_node_; }
  const ObjectPages& object_pages() const { return object_pages_; }
  // From now on every placing of a page is kept; by default none is.
  void keep_placed_pages() { keeps_placed_ = true; }
  const std::vector<PlacedPage>& placed_pages() const { return placed_; }

private:
  static constexpr Address first_address{std::uint64_t{1} << 32};
  struct Placement {  // of one object for one thread (private objects) or for all
    Address base;     // 0 = not placed
    std::uint64_t bytes = 0;
    bool mapped_alone = false;  // own pages, given back on release
  };
  PageNumber page_of(LineNumber line) const { return PageNumber{(line - line_of_first_page_) >> page_lines_shift_}; }
  LineNumber first_line(PageNumber page) const { return line_of_first_page_ + (page.value() << page_lines_shift_); }
  void check_page(PageNumber page) const {
    if (page.value() >= page_table_.size()) throw std::out_of_range("a page beyond the last one");
  }
  Placement& placement_of(ObjectId, ThreadId);
  struct Located {
    ObjectId object = ObjectId::none();
    Address base;
    Address until;  // from the range's first byte to here every byte is the object's; none known where the object begins behind it
  };
  // The object that [first, last) of one page belongs to; the range may be rounded to lines.
  Located object_in(AddressRange) const;
  Located touched_object(PageNumber, AddressRange touched) const;
  void keep_placed(PageNumber, ObjectId, ThreadId, NodeId home);
  Address reserve_pages(std::uint64_t bytes);
  std::uint64_t forget_frames(AddressRange);
  void note_mapping(Address base, std::uint64_t pages) {
    if (pages_per_huge_ != 0) mapped_[page_of(base)] = page_of(base) + pages;
  }
  void split_huge(PageNumber);
  // A write to pages [first, last): of those that are replicated the writer's copy is left.
  void collapse(PageNumber first, PageNumber last, NodeId writer);
  void count_move(PageNumber, NodeId from, NodeId to);
  // Notes the first write to pages [first, last); a fault may map the huge page around one.
  void note_faults(PageNumber first, PageNumber last, AddressRange touched, const Place&);
  void note_small(PageNumber first, PageNumber last, AddressRange touched, const Place&);
  void note_huge(std::uint64_t block, PageNumber touched_page, AddressRange touched, const Place&);
  void note_run(PageNumber first, std::uint64_t pages, std::uint64_t count, const Located&, const Place&);
  bool can_be_huge(std::uint64_t block) const;
  // Runs of `runs_` that heaps bound to a node move to `bound_runs_`, cut where that changes.
  void take_bound_runs();
  // Asks the placement for the homes of all runs.
  void place_free_runs();
  // Fault n of its size goes to wanted[n % size], or where there is room.
  void place(const FaultRun&, std::span<const NodeId> wanted);
  void count_by_node(const FaultRun&, std::span<const NodeId> homes);
  void placed(const FaultRun&, std::span<const NodeId> homes);
  std::optional<NodeId> bound_node(PageNumber) const;
  Address pack(std::uint64_t bytes, std::uint64_t alignment, std::size_t owner);

  const Machine& machine_;
  const Workload& workload_;
  PagePlacement& policy_;
  PageWatch watch_;
  std::uint64_t page_bytes_, line_bytes_;           // powers of two
  int page_shift_ = std::countr_zero(page_bytes_);  // a 64-bit division would take longer than the rest of a look-up
  int page_lines_shift_ = page_shift_ - std::countr_zero(line_bytes_);
  LineNumber line_of_first_page_ = line_of(first_address, line_bytes_);
  PageTable page_table_;
  std::vector<Placement> shared_;                // by object
  std::vector<std::vector<Placement>> private_;  // by object, thread; for thread-private objects only
  struct Arena {
    Address next, end;
  };                                                           // pages that small objects of one owner share
  std::vector<Arena> arenas_;                                  // [0] globals, [1 + thread] heap and stack of a thread
  std::map<std::uint64_t, std::vector<Address>> free_ranges_;  // reusable address ranges by size in pages
  std::map<Address, std::pair<Address, ObjectId>> object_at_;  // first address -> end and object
  struct Owned {
    Address end;
    NodeId owner;
  };
  std::map<Address, Owned> owned_;                             // blocks of heap managers by first address
  std::map<PageNumber, std::pair<PageNumber, NodeId>> bound_;  // first page -> last page + 1 and node
  std::set<PageNumber> mixed_pages_;
  std::uint64_t heap_bytes_placed_ = 0;
  NodeMemory memory_;
  Replicas replicas_;
  std::uint64_t pages_per_huge_ = 0;
  std::vector<std::uint8_t> huge_;           // by block of pages_per_huge_ pages: mapped by one huge page
  std::map<PageNumber, PageNumber> mapped_;  // first page -> last page + 1 of each mapping; with huge pages only
  std::uint64_t huge_pages_ = 0;
  std::vector<std::uint64_t> settled_pages_;  // by node
  std::uint64_t settled_cold_ = 0;
  std::vector<FaultRun> runs_;                           // noted, not yet settled
  std::vector<std::pair<FaultRun, NodeId>> bound_runs_;  // scratch of settling, as the next three
  std::vector<PageFault> faults_;
  std::vector<NodeId> homes_;
  std::vector<std::uint64_t> by_node_;
  std::vector<std::uint64_t> pages_by_node_;
  ObjectPages object_pages_;
  bool keeps_placed_ = false;
  std::vector<PlacedPage> placed_;
  std::vector<bool> ran_on_;  // by core
  std::size_t cores_run_ = 0;
  std::uint64_t page_faults_ = 0, remote_pages_ = 0, migrated_pages_ = 0;
};

}  // namespace homenode
