// Simulates a window, blocks as they were executed one after the other, on a core: LLVM-MCA with the window as one stream of instructions,
// so that registers are renamed, and dependences carried, across blocks. Branches are predicted right but for those that are said.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/core/bottlenecks.hpp"
#include "models/core/core_block.hpp"
#include "models/core/core_properties.hpp"
#include "models/core/core_target.hpp"
#include "models/core/load_store_unit.hpp"

namespace homenode {

struct WindowOfBlocks {
  std::vector<const CoreBlock*> blocks;
  bool is_cut = false;  // no block knows what memory and registers held before it
  // Executions whose branch at the end was predicted wrong, growing: what follows is dispatched `refill` cycles after it has executed.
  std::vector<std::size_t> wrong{};
  unsigned refill = 0;
  // Bytes behind the begin of its line where code behind a taken branch begins; none: not known, and the front end takes what it takes on
  // average of all places.
  std::optional<unsigned> begin{};
};

struct WindowTimes {
  std::vector<std::uint64_t> retired;  // by execution of a block: the cycle in which its last instruction retired
  std::size_t measured_from = 0;       // the first execution after the warm-up
  double fetching = 0;                 // of the front end, most_cycles()
  // By block: after the warm-up and until the last instruction is dispatched, and all cycles.
  std::map<std::uint64_t, CoreActivity> steady, whole;
};

// The first quarter is the warm-up, or as much as the reorder buffer holds where this is more and at most half of the window. Throws Error
// if LLVM cannot go on.
WindowTimes simulate(const CoreTarget&, const WindowOfBlocks&, const CoreProperties&);

}  // namespace homenode
