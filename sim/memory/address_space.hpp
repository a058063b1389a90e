// Object -> virtual addresses -> pages -> home nodes. Every memory model and every placement goes through it. A read of a page
// that nobody has written maps the shared zero page; the first write takes the first-touch page fault that places the page.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/addresses.hpp"
#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/memory/node_memory.hpp"
#include "sim/memory/object_pages.hpp"
#include "sim/memory/page_watch.hpp"
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
  // Pages that were the object's own are unmapped: their next user faults again.
  AddressRange release_object(ObjectId);
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
  // The lines by home node. Pages on the zero page count as local to `reader`.
  void homes(LineRange, NodeId reader, std::vector<HomeShare>& shares) const;

  NodeId home_of(Address) const;  // none() if not placed
  NodeId home_of_page(PageNumber page) const {
    return page_table_.at(page.value()) < pending ? NodeId{page_table_[page.value()]} : NodeId::none();
  }
  std::uint64_t pages() const { return page_table_.size(); }
  PageNumber page_of(Address) const;
  Address first_byte(PageNumber) const;
  AddressRange bytes_of(PageNumber page) const { return AddressRange::of(first_byte(page), page_bytes_); }
  std::size_t nodes() const { return pages_by_node_.size(); }
  // For placements that watch pages; the memory model drives it.
  PageWatch& watch() { return watch_; }
  // A page stays if it is not placed, is there already, or finds no room. Migrating part of a huge page splits it first. Returns whether
  // the page moved.
  bool migrate(PageNumber, NodeId to);

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
  static constexpr std::uint8_t unmapped = 255, zero_page = 254, pending = 253;  // pending: noted, to be settled
  struct Placement {  // of one object for one thread (private objects) or for all
    Address base;     // 0 = not placed
    std::uint64_t bytes = 0;
    bool mapped_alone = false;  // own pages, given back on release
  };
  Placement& placement_of(ObjectId, ThreadId);
  struct Located {
    ObjectId object = ObjectId::none();
    Address base;
  };
  // The object that [first, last) of one page belongs to; the range may be rounded to lines.
  Located object_in(AddressRange) const;
  void keep_placed(PageNumber, ObjectId, ThreadId, NodeId home);
  Address reserve_pages(std::uint64_t bytes);
  std::uint64_t forget_frames(AddressRange);
  void note_mapping(Address base, std::uint64_t pages) {
    if (pages_per_huge_ != 0) mapped_[page_of(base)] = page_of(base) + pages;
  }
  void split_huge(PageNumber);
  // Notes the first write to a page; the fault may map the huge page around it.
  void note_fault(PageNumber, AddressRange touched, const Place&);
  bool can_be_huge(std::uint64_t block) const;
  std::optional<NodeId> bound_node(PageNumber) const;
  Address pack(std::uint64_t bytes, std::uint64_t alignment, std::size_t owner);

  const Machine& machine_;
  const Workload& workload_;
  PagePlacement& policy_;
  PageWatch watch_;
  std::uint64_t page_bytes_, line_bytes_;           // powers of two
  int page_shift_ = std::countr_zero(page_bytes_);  // a 64-bit division would take longer than the rest of a look-up
  int page_lines_shift_ = page_shift_ - std::countr_zero(line_bytes_);
  std::vector<std::uint8_t> page_table_;         // by page from first_page: home node, zero_page or unmapped
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
  std::uint64_t pages_per_huge_ = 0;
  std::vector<std::uint8_t> huge_;           // by block of pages_per_huge_ pages: mapped by one huge page
  std::map<PageNumber, PageNumber> mapped_;  // first page -> last page + 1 of each mapping; with huge pages only
  std::uint64_t huge_pages_ = 0;
  std::vector<std::uint64_t> settled_pages_;  // by node
  std::vector<PageFault> faults_;             // noted, not yet settled
  std::vector<NodeId> homes_;
  std::vector<std::uint64_t> pages_by_node_;
  ObjectPages object_pages_;
  bool keeps_placed_ = false;
  std::vector<PlacedPage> placed_;
  std::vector<bool> ran_on_;  // by core
  std::size_t cores_run_ = 0;
  std::uint64_t page_faults_ = 0, remote_pages_ = 0, migrated_pages_ = 0;
};

}  // namespace homenode
