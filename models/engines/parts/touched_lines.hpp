// The lines that a slice has touched, to tell how many of a range are new to it. Exact; a range costs a step for every 64 lines.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/hardware/cache_model.hpp"

namespace homenode {

class TouchedLines {
public:
  void clear();
  // Numbers of lines, or of pages, [first, last). Returns how many of them were not there.
  std::uint64_t add(std::uint64_t first, std::uint64_t last);

private:
  static constexpr std::uint64_t chunk = 64;
  struct Entry {
    std::uint64_t number = 0;  // of the chunk
    std::uint64_t lines = 0;
    std::uint64_t slice = 0;  // that it was filled in; an older one is free
  };
  Entry& entry(std::uint64_t number);
  void grow();

  std::vector<Entry> entries_ = std::vector<Entry>(1024);  // a power of two, open addressing, at most half full
  std::uint64_t slice_ = 1;
  std::size_t used_ = 0;
};

inline void TouchedLines::clear() {
  ++slice_;
  used_ = 0;
}

inline std::uint64_t TouchedLines::add(std::uint64_t first, std::uint64_t last) {
  std::uint64_t added = 0;
  for (std::uint64_t line = first; line < last;) {
    const std::uint64_t number = line / chunk, end = std::min(last, (number + 1) * chunk);
    const std::uint64_t mask = ~std::uint64_t{0} >> (chunk - (end - line)) << line % chunk;
    Entry& known = entry(number);
    line = end;
    if ((known.lines & mask) == mask) continue;
    added += static_cast<std::uint64_t>(std::popcount(mask & ~known.lines));
    known.lines |= mask;
  }
  return added;
}

inline TouchedLines::Entry& TouchedLines::entry(std::uint64_t number) {
  constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;  // Knuth, The Art of Computer Programming 3, section 6.4
  if (2 * used_ >= entries_.size()) grow();
  const std::size_t mask = entries_.size() - 1;
  for (std::size_t at = (number * golden_ratio) >> 32 & mask;; at = (at + 1) & mask) {
    Entry& entry = entries_[at];
    if (entry.slice == slice_ && entry.number == number) return entry;
    if (entry.slice == slice_) continue;
    ++used_;
    entry = {number, 0, slice_};
    return entry;
  }
}

inline void TouchedLines::grow() {
  std::vector<Entry> before(2 * entries_.size());
  before.swap(entries_);
  used_ = 0;
  for (const Entry& old : before) {
    if (old.slice == slice_) entry(old.number).lines = old.lines;
  }
}

}  // namespace homenode
