// Numbers into numbers without order: splitmix64's finaliser (G. Steele et al., OOPSLA 2014), a permutation of 64 bits.
#pragma once

#include <cstdint>

namespace homenode {

constexpr std::uint64_t mixed_bits(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace homenode
