// Cycles of blocks on a core, in the sequences in which they were executed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/core/bottlenecks.hpp"
#include "models/core/core_request.hpp"
#include "models/core/load_waits.hpp"

namespace homenode {

struct BlockTime {
  double cycles = 0;             // of one execution, the mean
  bool alone = false;            // in no sequence
  std::uint64_t executions = 0;  // that the mean is of
  std::string bound;
  // Of a block whose branch is predicted wrong now and then: cycles that this takes, each time, beyond those of a branch whose condition
  // was just computed (negative: other work goes on meanwhile). `wrong`: how many of them this is the mean of; 0: the mean of all blocks.
  double resolution = 0;
  std::uint64_t wrong = 0;
  std::vector<LoadWaits> waits;  // of one execution, by its instructions; empty if alone
  std::uint64_t instructions = 0;
  std::uint64_t wide_256 = 0, wide_512 = 0;  // of them, that ask for the clock of such vectors (vector_clock.hpp)
  SharedUse use;                             // of its sequences
};

struct BlockTimes {
  std::map<std::uint64_t, BlockTime> blocks;
  std::map<std::string, std::uint64_t> unknown;  // places of instructions without a cost, by mnemonic
  // Executions of blocks that are no part of a warm-up, and the time from the first's begin to the last's end, over all sequences. The
  // cycles of all blocks that such executions have sum up to it.
  double measured_cycles = 0;
};

// Throws UsageError for a CPU that LLVM does not know, Error if LLVM cannot go on.
BlockTimes core_times(const CoreRequest&);

// homenode-mca's answer: one line of JSON.
std::string core_times_json(const CoreRequest&, const BlockTimes&);

}  // namespace homenode
