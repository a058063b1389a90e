// Sets of cores as 64 bits: one core a bit, beyond 64 cores several neighbouring ones a bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sim/base/ids.hpp"

namespace homenode {

using CoreMask = std::uint64_t;

class CoreBits {
public:
  explicit CoreBits(std::size_t cores) : cores_(cores), cores_a_bit_((cores + 63) / 64) {}

  bool exact() const { return cores_a_bit_ == 1; }
  CoreMask bit(CoreId core) const { return CoreMask{1} << (exact() ? core.index() : core.index() / cores_a_bit_); }
  // The bits that certainly mean nobody else.
  CoreMask only(CoreId core) const { return exact() ? bit(core) : 0; }
  template <class Each>
  void for_each_core(CoreMask mask, Each&& each) const {  // ascending
    for (; mask != 0; mask &= mask - 1) {
      const std::size_t first = static_cast<std::size_t>(std::countr_zero(mask)) * cores_a_bit_;
      for (std::size_t core = first; core < std::min(first + cores_a_bit_, cores_); ++core) each(CoreId{core});
    }
  }

private:
  std::size_t cores_, cores_a_bit_;
};

}  // namespace homenode
