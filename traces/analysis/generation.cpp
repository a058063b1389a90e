#include "traces/analysis/generation.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>

#include "traces/analysis/library_calls.hpp"

namespace homenode::analysis {

namespace {

bool in_loop(const llvm::Instruction* at, Summaries& summaries) {
  auto& function = *const_cast<llvm::Function*>(at->getFunction());
  return summaries.analyses().getResult<llvm::LoopAnalysis>(function).getLoopFor(at->getParent()) != nullptr;
}

// Whether one run of the routine may come to `function` more than once.
bool runs_again(llvm::Function& function, llvm::Function& routine, Summaries& summaries, std::set<const llvm::Function*>& above) {
  if (&function == &routine) return false;
  if (!above.insert(&function).second) return true;  // recursive
  unsigned calls = 0;
  bool again = false;
  for (const auto& [caller, certain] : summaries.closure(routine))
    for (const auto& called : summaries.of(*caller).called) {
      if (called.function != &function) continue;
      again = again || ++calls > 1 || in_loop(called.call, summaries) || runs_again(*caller, routine, summaries, above);
    }
  above.erase(&function);
  return again;
}

class Builder {
public:
  Builder(llvm::Module& module, Summaries& summaries) : module_(module), summaries_(summaries) {}

  std::vector<ThreadNode> build() {
    auto* main = module_.getFunction("main");
    if (!main || main->isDeclaration()) return {};
    tree_.push_back({.generator = std::nullopt, .routine = main});
    below(0);
    return std::move(tree_);
  }

private:
  void below(std::size_t generator) {
    auto& routine = *tree_[generator].routine;
    const auto& closure = summaries_.closure(routine);
    for (auto& function : module_) {
      if (closure.count(&function) == 0) continue;
      for (const auto* creation : summaries_.of(function).creations)
        for (auto* started : summaries_.points_to().routines(creation)) add(generator, *creation, *started);
    }
  }

  void add(std::size_t generator, const llvm::CallBase& creation, llvm::Function& routine) {
    // Where a routine of the same name creates it once more, perhaps without end, it is one node.
    for (std::size_t node = 1; node < tree_.size(); ++node) {
      auto& known = tree_[node];
      if (known.creation != &creation || known.routine != &routine || tree_[*known.generator].routine != tree_[generator].routine) continue;
      known.recursive = known.several = known.many = true;
      return;
    }
    std::set<const llvm::Function*> above;
    const bool several = in_loop(&creation, summaries_) ||
                         runs_again(*const_cast<llvm::Function*>(creation.getFunction()), *tree_[generator].routine, summaries_, above);
    tree_.push_back(
        {.generator = generator, .creation = &creation, .routine = &routine, .several = several, .many = several || tree_[generator].many});
    below(tree_.size() - 1);
  }

  llvm::Module& module_;
  Summaries& summaries_;
  std::vector<ThreadNode> tree_;
};

}  // namespace

std::vector<ThreadNode> generation_tree(llvm::Module& module, Summaries& summaries) { return Builder(module, summaries).build(); }

CreationAddresses creation_addresses(const llvm::CallBase& creation, llvm::FunctionAnalysisManager& analyses) {
  CreationAddresses result;
  auto& function = *const_cast<llvm::Function*>(creation.getFunction());
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  result.loop = analyses.getResult<llvm::LoopAnalysis>(function).getLoopFor(creation.getParent());
  result.handle = evolution.getSCEV(handle_operand(creation));
  if (is_std_thread(creation)) return result;
  auto* argument = creation.getArgOperand(3);
  result.argument = evolution.getSCEV(argument);
  const auto* value = argument->stripPointerCasts();
  if (const auto* made = llvm::dyn_cast<llvm::Instruction>(value); made && is_allocation(*value))
    if (!result.loop || result.loop->contains(made)) result.fresh = value;
  if (!result.loop || result.loop->isLoopInvariant(argument)) {
    if (!result.fresh) result.stride = 0;
  } else if (const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(result.argument);
             recurrence && recurrence->getLoop() == result.loop) {
    if (const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(recurrence->getStepRecurrence(evolution)))
      result.stride = step->getAPInt().getSExtValue();
  }
  return result;
}

}  // namespace homenode::analysis
