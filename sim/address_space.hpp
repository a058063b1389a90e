// Object -> virtual addresses -> pages -> home nodes. The only way to a home: every memory model and every placement goes
// through it. A read of a page that nobody has written maps the shared zero page; the first write places the page.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/hardware/memory_model.hpp"
#include "sim/ids.hpp"
#include "sim/units.hpp"

namespace homenode {

class PagePlacement;
struct Machine;

struct AddressRange { std::uint64_t first = 0, last = 0; };

struct HomeShare { NodeId home; std::uint64_t lines = 0; };

class AddressSpace {
public:
  AddressSpace(const Machine&, const Workload&, PagePlacement&, Bytes page, std::uint64_t seed);

  // Gives an object its addresses (page-aligned from 128 KiB up, else packed by owner); done by the heap manager's default.
  AddressRange place_object(ObjectId, ThreadId owner);
  void release_object(ObjectId);
  bool placed(ObjectId object) const;
  // Virtual address of byte 0 of an object, as `thread` sees it (private objects have one copy a thread).
  // Objects that the trace never allocates (globals, stacks) are placed on first use.
  std::uint64_t address(ObjectId, ThreadId);

  // Makes [first, last) accessible: faults on pages not there yet are decided by the placement, in address order.
  // Returns how many pages faulted.
  std::uint64_t touch(AddressRange, bool write, const Place&);
  // Lines of [first_line, last_line) by home node. Pages on the zero page count as local to `reader`.
  void homes(std::uint64_t first_line, std::uint64_t last_line, NodeId reader, std::vector<HomeShare>& shares) const;

  NodeId home_of(std::uint64_t address) const;    // none() if not placed
  void migrate(std::uint64_t page_index, NodeId to);

  std::uint64_t page_bytes() const { return page_bytes_; }
  std::uint64_t line_bytes() const { return line_bytes_; }
  std::uint64_t page_faults() const { return page_faults_; }
  std::uint64_t migrated_pages() const { return migrated_pages_; }
  std::vector<std::uint64_t> pages_by_node() const;

private:
  static constexpr std::uint8_t unmapped = 255, zero_page = 254;
  struct Segment;                 // one contiguous arena of the virtual address space with its page table
  std::uint8_t& entry(std::uint64_t page) { return page_table_[page - first_page_]; }

  const Machine& machine_;
  const Workload& workload_;
  PagePlacement& placement_;
  std::uint64_t page_bytes_, line_bytes_, seed_;
  std::uint64_t first_page_, next_address_;
  std::vector<std::uint8_t> page_table_;                 // home node by page from first_page_
  std::vector<std::uint64_t> base_;                      // by object; 0 = not placed
  std::vector<std::vector<std::uint64_t>> private_base_; // by object, thread
  std::vector<std::uint64_t> packed_next_, packed_end_;  // by owner: small objects share pages of their owner
  std::uint64_t page_faults_ = 0, migrated_pages_ = 0;
};

}  // namespace homenode
