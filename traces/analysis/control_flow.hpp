// Which parts of a function run, and which always.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include <set>

namespace homenode::analysis {

class ControlFlow {
public:
  ControlFlow(llvm::Function&, const llvm::DominatorTree&, const llvm::LoopInfo&);
  // Leads to nothing but an abnormal end of the program (exit after an error, abort).
  bool is_doomed(const llvm::BasicBlock* block) const { return doomed_.count(block) != 0; }
  // On every way to a normal end, each loop around it running at least once.
  bool is_certain(const llvm::BasicBlock*) const;

private:
  const llvm::DominatorTree& dominators_;
  const llvm::LoopInfo& loops_;
  std::set<const llvm::BasicBlock*> doomed_;
  std::vector<const llvm::BasicBlock*> ends_;
};

}  // namespace homenode::analysis
