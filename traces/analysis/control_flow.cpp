#include "traces/analysis/control_flow.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "traces/analysis/library_calls.hpp"

namespace homenode::analysis {

namespace {

bool ends_thread(const llvm::BasicBlock& block) {
  return std::any_of(block.begin(), block.end(), [](const llvm::Instruction& each) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&each);
    return call && name_of_callee(*call) == "pthread_exit";
  });
}

}  // namespace

ControlFlow::ControlFlow(llvm::Function& function, const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops)
    : dominators_(dominators), loops_(loops) {
  for (const auto& block : function) {
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) ends_.push_back(&block);
    if (!llvm::isa<llvm::UnreachableInst>(block.getTerminator())) continue;
    if (ends_thread(block))
      ends_.push_back(&block);
    else
      doomed_.insert(&block);
  }
  for (bool changed = !doomed_.empty(); changed;) {
    changed = false;
    for (const auto& block : function) {
      if (llvm::succ_empty(&block) || doomed_.count(&block)) continue;
      if (std::all_of(llvm::succ_begin(&block), llvm::succ_end(&block), [&](const auto* next) { return doomed_.count(next) != 0; }))
        changed = doomed_.insert(&block).second;
    }
  }
}

bool ControlFlow::is_certain(const llvm::BasicBlock* block) const {
  if (ends_.empty() || !dominators_.isReachableFromEntry(block)) return false;
  for (const auto* loop = loops_.getLoopFor(block); loop; loop = loop->getParentLoop()) {
    llvm::SmallVector<llvm::BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    for (const auto* latch : latches)
      if (!is_doomed(latch) && !dominators_.dominates(block, latch)) return false;
    block = loop->getHeader();
  }
  return std::all_of(ends_.begin(), ends_.end(), [&](const auto* end) { return dominators_.dominates(block, end); });
}

}  // namespace homenode::analysis
