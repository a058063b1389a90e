// One cycle through all of so many lines, in an order that no prefetcher follows.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace homenode::native {

// T. E. Hull, A. R. Dobell, Random number generators, SIAM Review 4(3), 1962: the period modulo a power of two is full where the multiplier
// is 1 mod 4 and the increment is odd. Multiplier and increment are D. E. Knuth's (MMIX).
constexpr std::uint64_t cycle_multiplier = 6364136223846793005u, cycle_increment = 1442695040888963407u;

// The line behind `line` < `lines`. Numbers from `lines` to the next power of two are passed over: a cycle without them is one still. Fewer
// than one in two are, on average.
inline std::size_t next_in_cycle(std::size_t line, std::size_t lines) {
  const std::uint64_t mask = std::bit_ceil(lines) - 1;
  std::uint64_t next = line;
  do next = (cycle_multiplier * next + cycle_increment) & mask;
  while (next >= lines);
  return next;
}

}  // namespace homenode::native
