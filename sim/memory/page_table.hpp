// What each page is: its home node, replicated, or not placed yet. A byte a page, so that runs of pages are found eight at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sim/base/addresses.hpp"
#include "sim/base/ids.hpp"

namespace homenode {

class PageTable {
public:
  // pending: its fault is noted, to be settled; replicated: every node with cores has a copy (replicas.hpp).
  static constexpr std::uint8_t unmapped = 255, zero_page = 254, pending = 253, replicated = 252;
  static constexpr std::size_t most_nodes = replicated;

  std::uint64_t size() const { return homes_.size() - at_once; }
  void grow(std::uint64_t pages) { homes_.resize(homes_.size() + pages, unmapped); }
  std::uint8_t operator[](PageNumber page) const { return homes_[page.value()]; }
  void fill(PageNumber first, PageNumber last, std::uint8_t home) {
    std::memset(homes_.data() + first.value(), home, static_cast<std::size_t>(last - first));
  }
  void set(PageNumber page, std::uint8_t home) { homes_[page.value()] = home; }
  // none() of a replicated page, too.
  NodeId home(PageNumber page) const { return homes_[page.value()] < replicated ? NodeId{homes_[page.value()]} : NodeId::none(); }
  // The node whose memory `reader` reads: its own, where the page is the zero page or replicated.
  static NodeId home_for(NodeId reader, std::uint8_t home) { return home < replicated ? NodeId{home} : reader; }

  // Of pages [first, last) the first that an access has to map, `last` if there is none: a write those on the zero page, too.
  PageNumber first_to_map(PageNumber first, PageNumber last, bool write) const {
    const std::uint64_t differing = write ? ~ones : ~std::uint64_t{0};
    return find(first, last, [differing](std::uint64_t homes) {
      const std::uint64_t placed = ~homes & differing;  // a byte of zero: to be mapped
      return (placed - ones) & ~placed & (ones << 7);
    });
  }
  // Of pages [first, last) the first that it does not have to map.
  PageNumber end_to_map(PageNumber first, PageNumber last, bool write) const {
    const std::uint64_t differing = write ? ~ones : ~std::uint64_t{0};
    return find(first, last, [differing](std::uint64_t homes) { return ~homes & differing; });
  }
  // Of pages [first, last) the first that is not what page `first` is.
  PageNumber end_of_equal(PageNumber first, PageNumber last) const {
    const std::uint64_t same = ones * homes_[first.value()];
    return find(first, last, [same](std::uint64_t homes) { return homes ^ same; });
  }

private:
  static constexpr std::uint64_t ones = 0x0101010101010101, at_once = sizeof(std::uint64_t);
  static_assert(std::endian::native == std::endian::little);

  // The first page of [first, last) that `differs` tells: of eight pages, the lowest first, the lowest bit that is set lies in its byte.
  template <class Differs>
  PageNumber find(PageNumber first, PageNumber last, Differs&& differs) const {
    for (std::uint64_t page = first.value(); page < last.value(); page += at_once) {
      std::uint64_t homes = 0;
      std::memcpy(&homes, homes_.data() + page, at_once);
      const std::uint64_t found = differs(homes);
      if (found != 0) return std::min(PageNumber{page + static_cast<std::uint64_t>(std::countr_zero(found)) / 8}, last);
    }
    return last;
  }

  std::vector<std::uint8_t> homes_ = std::vector<std::uint8_t>(at_once, unmapped);  // by page, and as many behind the last as are read
};

}  // namespace homenode
