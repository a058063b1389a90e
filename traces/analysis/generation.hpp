// The generation tree of a program (S3, section 3): the main thread, below it the routines that its code hands to new threads, below
// them what their code creates, and so on.
#pragma once

#include "traces/analysis/accesses.hpp"
#include "traces/analysis/classification.hpp"

namespace homenode::analysis {

// One node of the tree; `creation` is null for the main thread.
struct ThreadNode {
  std::optional<std::size_t> generator;
  const llvm::CallBase* creation = nullptr;
  llvm::Function* routine = nullptr;
  bool several = false;    // one generator creates more than one
  bool many = false;       // the program has more than one: several, or several of an ancestor
  bool recursive = false;  // other threads of the generator's routine make it, too; all stand for one node
};

// Node 0 is main; a generator stands before what it generates, in the order of the code. Empty without a main function.
std::vector<ThreadNode> generation_tree(llvm::Module&, Summaries&);

// How the argument and the handle of a creation move from one thread to the next.
struct CreationAddresses {
  const llvm::SCEV* argument = nullptr;
  const llvm::SCEV* handle = nullptr;
  const llvm::Loop* loop = nullptr;    // the innermost around the creation
  std::optional<std::int64_t> stride;  // bytes between the arguments of two turns of `loop`; 0: the same for all
  const llvm::Value* fresh = nullptr;  // the allocation, anew for each creation, whose start is the argument
};
CreationAddresses creation_addresses(const llvm::CallBase&, llvm::FunctionAnalysisManager&);

}  // namespace homenode::analysis
