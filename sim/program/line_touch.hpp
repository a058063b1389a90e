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
  float parallelism = 1;       // outstanding misses of this stream
  std::uint64_t accesses = 0;  // words behind it, for hit rates
};

}  // namespace homenode
