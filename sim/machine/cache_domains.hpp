// Outermost caches of a machine as 64 bits: which of them hold a line. Where there are more than 64, neighbours share a bit.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/machine/machine.hpp"

namespace homenode {

class CacheDomains {
public:
  explicit CacheDomains(const Machine& machine) : cores_of_one_{machine.caches.empty() ? 1 : machine.caches.back().cores_per_cache} {
    const std::size_t domains = (machine.cores() + cores_of_one_ - 1) / cores_of_one_;
    cores_a_bit_ = (domains + 63) / 64 * cores_of_one_;
  }

  std::uint64_t bit_of(CoreId core) const { return std::uint64_t{1} << (core.index() / cores_a_bit_); }
  std::uint64_t bit_of_cache(std::size_t cache) const { return bit_of(CoreId{cache * cores_of_one_}); }
  // `each`: of every set bit, the first core that it stands for.
  template <class Each>
  void for_each(std::uint64_t bits, const Each& each) const {
    for (; bits != 0; bits &= bits - 1) each(CoreId{static_cast<std::size_t>(std::countr_zero(bits)) * cores_a_bit_});
  }

private:
  std::size_t cores_of_one_, cores_a_bit_ = 1;
};

}  // namespace homenode
