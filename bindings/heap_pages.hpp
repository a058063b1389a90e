// The pages that a heap written in Python has from the system, and the blocks that live on them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/policy/heap_manager.hpp"

namespace homenode::python {

// Keeps the accounts of a heap and holds it to its contract: blocks lie aligned on pages that it has, and on no other block; pages that a
// block lies on stay. Throws PolicyError; `who`: "heap 'mine'".
class HeapPages {
public:
  HeapPages(std::string who, AddressSpace& addresses) : who_{std::move(who)}, addresses_{&addresses} {}
  // The run is over: Python may keep this longer than the address space lives.
  void end() { addresses_ = nullptr; }

  // For the heap. Whole pages with consecutive addresses; returns the first.
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment);
  // Gives whole pages back, addresses included, when the present call has ended.
  void unmap(std::uint64_t first, std::uint64_t bytes);
  // Whole pages are on this node whatever the placement says (mbind), until they are unmapped.
  void bind(std::uint64_t first, std::uint64_t bytes, std::uint32_t node);
  std::uint64_t page_bytes() const { return space().page_bytes(); }
  std::uint64_t reserved_bytes() const { return reserved_bytes_; }

  // For the adapter.
  AddressRange add_block(std::uint64_t first, const AllocationRequest&);
  std::uint64_t bytes_of_block(std::uint64_t first) const { return blocks_.at(first) - first; }
  std::uint64_t remove_block(std::uint64_t first);  // returns its bytes
  std::vector<PageOperation> take_operations();     // of the present call

private:
  AddressSpace& space() const;
  // The pages that the heap has and that hold the range.
  std::map<std::uint64_t, std::uint64_t>::iterator pages_with(std::uint64_t first, std::uint64_t last);
  void require_pages(std::uint64_t first, std::uint64_t bytes, const char* what);

  std::string who_;
  AddressSpace* addresses_;
  std::map<std::uint64_t, std::uint64_t> pages_, blocks_;  // first address -> end
  std::uint64_t reserved_bytes_ = 0;
  std::vector<PageOperation> operations_;
};

void bind_heap_pages(pybind11::module_&);

}  // namespace homenode::python
