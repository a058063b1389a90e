// Which parts of the creating thread's code, and of its creators', may run while a created thread does: what comes after the creation
// and before the thread has been joined. What passes from one to the other at the creation and at the join depends on nothing else.
#pragma once

#include "traces/analysis/generation.hpp"

namespace homenode::analysis {

struct Lifetime {
  std::set<const llvm::Instruction*> beside;  // of functions that can hold creations
  std::set<llvm::Function*> whole;            // functions called meanwhile
  bool outlives = false;                      // the creating thread may end before
  bool contains(const llvm::Instruction* at) const {
    return beside.count(at) != 0 || whole.count(const_cast<llvm::Function*>(at->getFunction())) != 0;
  }
};

// Of threads that `creation` starts, as part of a thread that runs `routine`.
Lifetime lifetime(const llvm::CallBase& creation, llvm::Function& routine, Summaries&);

// Whether an access of the creating function concerns, each time, the argument of a thread that is not created yet or has been joined
// by then; which bytes, from the start of that argument.
std::optional<ByteRange> handed_over(const Access&, const llvm::CallBase& creation, Summaries&);

}  // namespace homenode::analysis
