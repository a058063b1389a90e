// The latency database of S2 (section 4): every memory block from every core, measured one access at a time on an idle machine by the
// engine `line`, as S2's benchmark measures it on the card: from memory, caches empty, nothing else under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/machine/machine.hpp"

namespace homenode {

struct BlockLatencies {
  std::uint64_t address = 0;  // physical, of its first byte
  std::size_t directory = 0, controller = 0;
  std::vector<Time> latency;  // by core
};

// `blocks` lines from the one at physical address `first` on. Throws UsageError for a machine without a ring (there latency depends on the
// node, not on the block) and for blocks that lie beyond its memory.
std::vector<BlockLatencies> latency_map(const Machine&, std::uint64_t first, std::uint64_t blocks);

}  // namespace homenode
