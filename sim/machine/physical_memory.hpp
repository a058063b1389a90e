// Virtual line -> physical line, for what depends on physical addresses: directories and controllers of a ring. Either each page gets
// a frame drawn by a seed, as from a system without order; or physical addresses are the virtual ones shifted by some lines.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/base/addresses.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

class PhysicalMemory {
public:
  // `page`: a power of two of bytes. No two of a machine's pages share a frame.
  PhysicalMemory(const Machine& machine, Bytes page, std::uint64_t seed)
      : lines_shift_{std::countr_zero(static_cast<std::uint64_t>(page.count() / machine.caches.front().line.count()))},
        frames_{std::max<std::uint64_t>(static_cast<std::uint64_t>(machine.nodes.front().memory.count() / page.count()), 1)},
        mask_{std::bit_ceil(frames_) - 1},
        key_{(seed + 1) * 0x9e3779b97f4a7c15ULL},
        shift_{static_cast<int>(std::bit_width(mask_)) / 2 + 1} {}
  static PhysicalMemory shifted(std::uint64_t lines) { return PhysicalMemory{lines}; }

  LineNumber line(LineNumber virtual_line) const {
    if (frames_ == 0) return virtual_line + shifted_by_;
    const std::uint64_t page = virtual_line.value() >> lines_shift_,
                        within = virtual_line.value() & ((std::uint64_t{1} << lines_shift_) - 1);
    return LineNumber{frame(page % frames_) << lines_shift_ | within};
  }

private:
  explicit PhysicalMemory(std::uint64_t lines) : shifted_by_{lines} {}

  // Odd factors and right shifts permute the numbers of so many bits. A number beyond the last frame is permuted again.
  std::uint64_t frame(std::uint64_t page) const {
    do {
      page = (page + key_) * 0xbf58476d1ce4e5b9ULL & mask_;
      page ^= page >> shift_;
      page = (page * 0x94d049bb133111ebULL + (key_ >> 32)) & mask_;
      page ^= page >> shift_;
    } while (page >= frames_);
    return page;
  }

  int lines_shift_ = 0;
  std::uint64_t frames_ = 0;  // 0: shifted
  std::uint64_t mask_ = 0, key_ = 0;
  int shift_ = 1;
  std::uint64_t shifted_by_ = 0;
};

}  // namespace homenode
