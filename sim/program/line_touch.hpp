// What a core does to cache lines, as the inner loops of a program do it.
#pragma once

#include <cstdint>

#include "sim/base/addresses.hpp"

namespace homenode {

// Streams of one lockstep group advance together (the operands of an inner loop), line by line.
struct LineTouch {
  LineRange lines;
  bool reads = false, writes = false;
  bool non_temporal = false;   // non-temporal store: no allocation, written to memory at once
  bool atomic = false;         // atomic read-modify-writes are among them
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
