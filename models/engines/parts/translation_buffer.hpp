// Which pages a core finds translated. Set-associative with least recently used replacement; page numbers index the sets. Where nothing
// else is described: 4 ways and the number's low bits, as in the second-level buffers of Nehalem (Intel 248966, Nehalem microarchitecture)
// and of AMD's family 10h (AMD 40546, appendix A).
// Intel's later ones XOR two fields of the number (B. Gras, K. Razavi, H. Bos and C. Giuffrida, "Translation leak-aside buffer", USENIX
// Security 2018). A folded index adds them, which spreads pages alike but for strides of one page more or less than there are sets, and
// lets pages that move together stay together in their sets (repeated_rounds.hpp).
// A buffer lives as long as its core, so that what is walked for does not depend on how work is cut. Released pages stay in it: their
// next user faults, which costs far more than a walk.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/machine/machine.hpp"

namespace homenode {

class TranslationBuffer {
public:
  // Entries beyond a power of two of sets make the sets wider.
  TranslationBuffer(std::uint64_t entries, const TlbDescription& tlb)
      : sets_{std::bit_floor(std::max<std::uint64_t>(entries / (tlb.ways > 0 ? tlb.ways : usual_ways), 1))},
        ways_{std::max<std::uint64_t>(entries / sets_, 1)},
        set_bits_{static_cast<unsigned>(std::countr_zero(sets_))},
        folds_{tlb.index == TlbIndex::folded ? ~std::uint64_t{0} : 0},
        pages_(sets_ * ways_, none) {}

  // Makes the page the most recently used one; returns whether it was there.
  bool find(std::uint64_t page) {
    std::uint64_t* const set = pages_.data() + set_of(page) * ways_;
    if (ways_ == usual_ways) {  // Nehalem's and Ivy Bridge's, and where nothing is known. Without branches: no predictor foresees at random
                                // places what is there
      const std::uint64_t first = set[0], second = set[1], third = set[2], fourth = set[3];
      const bool in_first = first == page, in_second = in_first | (second == page), in_third = in_second | (third == page);
      set[0] = page;
      set[1] = either(in_first, second, first);
      set[2] = either(in_second, third, second);
      set[3] = either(in_third, fourth, third);
      return in_third | (fourth == page);
    }
    if (set[0] == page) return true;
    std::uint64_t* const found = std::find(set + 1, set + ways_, page);
    const bool held = found != set + ways_;
    std::copy_backward(set, held ? found : found - 1, held ? found + 1 : found);
    set[0] = page;
    return held;
  }

  std::uint64_t sets() const { return sets_; }
  // Pages that move by a multiple of so many all move by the same number of sets.
  std::uint64_t unit() const { return folds_ != 0 ? sets_ : 1; }
  // By how many sets; nothing where pages do not stay together.
  std::optional<std::uint64_t> sets_moved(std::int64_t pages) const {
    const auto unit = static_cast<std::int64_t>(this->unit());
    if (pages % unit != 0) return std::nullopt;
    return static_cast<std::uint64_t>(pages / unit) & (sets_ - 1);
  }
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
  static constexpr std::uint64_t usual_ways = 4, none = ~std::uint64_t{0};

  static std::uint64_t either(bool a, std::uint64_t if_so, std::uint64_t otherwise) {
    return otherwise ^ ((if_so ^ otherwise) & (std::uint64_t{0} - std::uint64_t{a}));
  }
  std::uint64_t set_of(std::uint64_t page) const { return (page + ((page >> set_bits_) & folds_)) & (sets_ - 1); }

  std::uint64_t sets_, ways_;
  unsigned set_bits_;
  std::uint64_t folds_;               // all bits where the index is folded, else none
  std::vector<std::uint64_t> pages_;  // by set, most recently used first
};

}  // namespace homenode
