// What a core does to cache lines, as the inner loops of a program do it.
#pragma once

#include <cstdint>

#include "sim/base/addresses.hpp"

namespace homenode {

// Streams of one lockstep group advance together (the operands of an inner loop), line by line.
struct LineTouch {
  LineRange lines;
  // non_temporal: a store without allocation, written to memory at once. atomic: atomic read-modify-writes are among them. Bits, so that
  // a touch takes 32 bytes.
  bool reads : 1 = false, writes : 1 = false, non_temporal : 1 = false, atomic : 1 = false;
  std::uint8_t waited = 0;     // of 255 loads, those that the core waits for before it goes on (code_cycles.hpp)
  float parallelism = 1;       // outstanding misses of this stream
  std::uint64_t accesses = 0;  // words behind it, for hit rates
};

// Lines that are followed where a model of the caches takes a sample: of each 64 neighbours the same ones.
struct KeptLines {
  unsigned one_in = 1;
  std::uint64_t of_64 = ~std::uint64_t{0};
  bool all() const { return one_in == 1; }
  bool has(LineNumber line) const { return (of_64 >> (line.value() & 63) & 1) != 0; }
};

}  // namespace homenode
