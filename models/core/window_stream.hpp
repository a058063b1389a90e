// A window as one stream of instructions: what the simulations of it go through.
#pragma once

#include <llvm/MCA/Instruction.h>

#include <cstdint>
#include <vector>

#include "models/core/core_target.hpp"
#include "models/core/load_store_unit.hpp"
#include "models/core/window_simulation.hpp"

namespace homenode {

struct WindowStream {
  std::vector<const CoreInstruction*> code;
  // Of `code`, what LLVM simulates: without the load where a store says when its data arrive, and where it is issued early.
  std::vector<const llvm::mca::Instruction*> instructions;
  std::vector<std::uint32_t> first;  // by execution of a block, and the end
  Forwarding forwarding;
};

WindowStream window_stream(const CoreTarget&, const WindowOfBlocks&, const ForwardingLatency&);

// The last instruction of each execution that ends with a wrong branch.
std::vector<std::uint32_t> wrong_instructions(const WindowStream&, const WindowOfBlocks&);

// Operations that the core holds.
std::uint32_t reorder_buffer(const llvm::MCSchedModel&);

}  // namespace homenode
