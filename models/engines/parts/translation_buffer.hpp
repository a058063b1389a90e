// Which pages a core finds translated. Set-associative with least recently used replacement, page numbers index the sets: 4 ways
// as in the second-level buffers of Nehalem (Intel 248966, Nehalem microarchitecture) and of AMD's family 10h (AMD 40546, appendix A).
// It lives as long as its core, so that what is walked for does not depend on how work is cut. Released pages stay in it: their
// next user faults, which costs far more than a walk.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace homenode {

class TranslationBuffer {
public:
  // Entries beyond a power of two of sets make the sets wider.
  explicit TranslationBuffer(std::uint64_t entries)
      : sets_{std::bit_floor(std::max<std::uint64_t>(entries / least_ways, 1))},
        ways_{std::max<std::uint64_t>(entries / sets_, 1)},
        pages_(sets_ * ways_, none) {}

  // Makes the page the most recently used one; returns whether it was there.
  bool find(std::uint64_t page) {
    std::uint64_t* const set = pages_.data() + (page & (sets_ - 1)) * ways_;
    if (ways_ == least_ways) {  // most are
      const std::array<std::uint64_t, least_ways> before{set[0], set[1], set[2], set[3]};
      if (before[0] == page) return true;
      set[0] = page;
      set[1] = before[0];
      if (before[1] == page) return true;
      set[2] = before[1];
      if (before[2] == page) return true;
      set[3] = before[2];
      return before[3] == page;
    }
    std::uint64_t moved = page;
    for (std::uint64_t way = 0; way < ways_; ++way) {
      std::swap(set[way], moved);
      if (moved == page) return true;
    }
    return false;
  }

  std::uint64_t sets() const { return sets_; }
  // Every page that it holds: each(page).
  template <class Each>
  void for_each(Each&& each) const {
    for (const std::uint64_t page : pages_)
      if (page != none) each(page);
  }
  // Replaces every page by to(page). All pages must move by the same number of sets, `rotation`.
  template <class To>
  void move(std::uint64_t rotation, To&& to) {
    const std::vector<std::uint64_t> before = pages_;
    for (std::uint64_t set = 0; set < sets_; ++set)
      for (std::uint64_t way = 0; way < ways_; ++way) {
        const std::uint64_t page = before[set * ways_ + way];
        pages_[((set + rotation) & (sets_ - 1)) * ways_ + way] = page == none ? none : to(page);
      }
  }
  bool operator==(const TranslationBuffer&) const = default;

private:
  static constexpr std::uint64_t least_ways = 4, none = ~std::uint64_t{0};
  std::uint64_t sets_, ways_;
  std::vector<std::uint64_t> pages_;  // by set, most recently used first
};

}  // namespace homenode
