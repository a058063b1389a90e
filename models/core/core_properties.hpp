// What was measured of a core and LLVM's tables have no place for: how data go from stores to loads, how stores leave, how the front end
// finds the code behind taken branches.
#pragma once

#include <cstdint>

#include "models/core/core_target.hpp"

namespace homenode {

// Cycles from a store until its data can be used by what loads them, in total; 0: what LLVM's latencies of the two add up to.
struct ForwardingLatency {
  unsigned renamed = 0;  // of four and eight bytes of general registers, where the core renames memory
  unsigned general = 0;  // to general registers, else
  unsigned vector = 0;   // to vectors
  unsigned merged = 0;   // a load of which no store has all bytes; 0: not known, and it is as the others
  enum class Renames : std::uint8_t {
    all,
    without_index,  // addresses without one, and nothing for CoreInstruction::computes_with_memory
    stack,          // addresses of a constant beside the stack pointer or rbp, and no load with its operation
  };
  Renames renames = Renames::all;
};

// A front end that predicts ahead of the code, `ahead` cycles at most before what is dispatched. It hands over the code up to a taken
// branch line by line, a cycle each, and one more for each `operations` beyond the first ones of a line; after a branch that is none of
// the `entries` last ones that differ it begins later.
struct BranchTargets {
  unsigned entries = 0;        // 0: not known, and nothing waits for it
  unsigned line = 64;          // bytes
  unsigned operations = 0;     // 0: as many as a line has
  unsigned aligned = 16;       // bytes, to which compilers align loops and functions
  double far = 1, call = 0.3;  // cycles more; call: of a call or a return
  unsigned ahead = 32;
};

struct CoreProperties {
  ForwardingLatency forwarding;
  unsigned store_buffer = 0;  // entries, from which stores leave one a cycle, and two to one line; 0: how they leave is not known
  BranchTargets branch_targets;
};

// Measured, where it was; else what LLVM has.
CoreProperties properties_of(const CoreTarget&);

}  // namespace homenode
