// A resource that serves one at a time, each for the same width of time: a channel's data bus by bursts, a rank by activations. Whoever
// asks gets the first time, from when it is ready on, at which the resource is free for a whole width. So who is ready later may go first
// where nobody was ready.
//
// Time is kept in halves of a width. A use may begin within its first half, so that nobody waits for a clock where nobody else is: n uses
// take at least n - 1/2 widths.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace homenode {

class TimeSlots {
public:
  // Picoseconds; an odd width counts as one more.
  explicit TimeSlots(std::int64_t width) : half_{std::max<std::int64_t>((width + 1) / 2, 1)} {}

  std::int64_t width() const { return 2 * half_; }

  // When the use begins: not before `ready`. What is before `now` may be forgotten.
  std::int64_t take(std::int64_t ready, std::int64_t now) {
    ready = std::max(ready, late_);
    const std::int64_t first = ready / half_;
    std::int64_t word = std::max(first / bits, first_word_);
    std::uint64_t usable = word == first / bits ? ~std::uint64_t{0} << (first % bits) : ~std::uint64_t{0};
    while (true) {
      if (word + 1 - first_word_ >= words) {
        forget(now);
        if (word + 1 - first_word_ >= words) return beyond(ready, word == first / bits);
      }
      const std::uint64_t here = taken_[place(word)];
      const std::uint64_t free = ~(here | here >> 1 | taken_[place(word + 1)] << 63) & usable;
      if (free != 0) {
        const std::int64_t half = word * bits + std::countr_zero(free);
        taken_[place(half / bits)] |= bit(half);
        taken_[place((half + 1) / bits)] |= bit(half + 1);
        return std::max(ready, half * half_);
      }
      ++word;
      usable = ~std::uint64_t{0};
    }
  }

  // The use that begins then, as taken last, is none.
  void give_back(std::int64_t begin) {
    const std::int64_t half = begin / half_;
    if (half / bits < first_word_ || half / bits + 1 - first_word_ >= words) return;
    taken_[place(half / bits)] &= ~bit(half);
    taken_[place((half + 1) / bits)] &= ~bit(half + 1);
  }

private:
  static constexpr std::int64_t bits = 64, words = 256;

  static std::size_t place(std::int64_t word) { return static_cast<std::size_t>(word) % words; }
  static std::uint64_t bit(std::int64_t half) { return std::uint64_t{1} << (half % bits); }

  void forget(std::int64_t now) {
    const std::int64_t word = std::max(now / half_ / bits, first_word_);
    for (std::int64_t old = first_word_; old < std::min(word, first_word_ + words); ++old) taken_[place(old)] = 0;
    first_word_ = word;
  }

  // More wait than is kept: one behind the other. Who is not ready before takes none of it: what keeps it is something else.
  std::int64_t beyond(std::int64_t ready, bool not_ready_before) {
    if (not_ready_before && ready > late_) return ready;
    const std::int64_t begins = std::max(ready, (first_word_ + words) * bits * half_);
    late_ = begins + width();
    return begins;
  }

  std::int64_t half_;
  std::int64_t first_word_ = 0, late_ = 0;
  std::array<std::uint64_t, words> taken_{};
};

}  // namespace homenode
