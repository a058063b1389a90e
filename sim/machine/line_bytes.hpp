// The length of a cache line: that of the first level, 64 bytes on a machine without caches.
#pragma once

#include <cstdint>

#include "sim/machine/machine.hpp"

namespace homenode {

inline std::uint64_t line_bytes(const Machine& machine) {
  return static_cast<std::uint64_t>(machine.caches.empty() ? 64 : machine.caches.front().line.count());
}

}  // namespace homenode
