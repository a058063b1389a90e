// TCMalloc's central free list of one size class (gperftools 2.x, central_freelist.cc): whole transfers that caches gave back, to be
// handed on as they are, and spans cut into blocks; a span all of whose blocks came back goes to the page heap. Simplified: the room
// for transfers stays at its start of 16, it is not moved between classes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/heap/span_heap.hpp"

namespace homenode {

class CentralList {
public:
  CentralList(const SizeClasses::Class& size, SpanHeap& pages);

  struct Moved {
    std::vector<Address> blocks;
    bool used_page_heap = false, grown = false;
  };
  // Up to `count` blocks, at least one.
  Moved remove(std::size_t count, std::vector<PageOperation>&);
  // True if a span went back to the page heap.
  bool insert(const std::vector<Address>& blocks, std::vector<PageOperation>&);
  // Whether `remove` can do without the page heap.
  bool has_blocks(std::size_t count) const { return !open_.empty() || (count == size_.batch && !transfers_.empty()); }

private:
  struct Span {
    std::uint64_t pages = 0;
    std::size_t used = 0;
    std::vector<Address> free;  // the next one last
  };
  Address fetch();

  SizeClasses::Class size_;
  SpanHeap& pages_;
  std::size_t room_;
  std::vector<std::vector<Address>> transfers_;
  std::map<std::uint64_t, Span> spans_;  // by first page
  std::vector<std::uint64_t> open_;      // spans with free blocks, the first in the list last
};

}  // namespace homenode
