// Between an endless supply of instructions and the core: what follows a branch that was predicted wrong is not fetched before that branch
// has executed, and what follows a taken one not before the front end has found it. Without such branches it lets everything pass.
#pragma once

#include <llvm/MCA/HWEventListener.h>
#include <llvm/MCA/Stages/Stage.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/core/taken_branches.hpp"

namespace homenode {

class FetchStage final : public llvm::mca::Stage, public llvm::mca::HWEventListener {
public:
  // `wrong`: by instruction of the stream, growing. `refill`: cycles from a wrong one's execution to the dispatch of what follows it.
  FetchStage(std::vector<std::uint32_t> wrong, unsigned refill, std::vector<TakenBranch> taken, const BranchTargets& targets)
      : wrong_{std::move(wrong)}, refill_{refill}, taken_{std::move(taken)}, targets_{targets} {}

  bool hasWorkToComplete() const override { return false; }
  bool isAvailable(const llvm::mca::InstRef& reference) const override {
    return !waits_ && cycle_ >= resumes_ && static_cast<double>(cycle_) >= found_ && checkNextStage(reference);
  }
  llvm::Error cycleStart() override {
    ++cycle_;
    return llvm::ErrorSuccess();
  }
  llvm::Error execute(llvm::mca::InstRef& reference) override {
    // It may execute at once.
    if (next_ < wrong_.size() && reference.getSourceIndex() == wrong_[next_]) waits_ = true;
    for (; next_taken_ < taken_.size() && reference.getSourceIndex() == taken_[next_taken_].instruction; ++next_taken_) {
      const std::uint64_t earliest = cycle_ > targets_.ahead ? cycle_ - targets_.ahead : 0;
      found_ = std::max(found_, static_cast<double>(earliest)) + taken_[next_taken_].cycles;
      fetching_ += taken_[next_taken_].cycles;
    }
    return moveToTheNextStage(reference);
  }

  // In the cycle that ends: whether what follows a taken branch had not been found.
  bool looks_for_code() const { return !waits_ && cycle_ >= resumes_ && static_cast<double>(cycle_) < found_; }

  // Cycles that the front end takes for the code so far, up to the last taken branch.
  double fetching() const { return fetching_; }

  using HWEventListener::onEvent;
  // Executed instructions are told before this stage's cycle begins: the stages behind it begin theirs first.
  void onEvent(const llvm::mca::HWInstructionEvent& event) override {
    if (!waits_ || event.Type != llvm::mca::HWInstructionEvent::Executed || event.IR.getSourceIndex() != wrong_[next_]) return;
    waits_ = false;
    ++next_;
    resumes_ = cycle_ + 1 + refill_;
    found_ = std::max(found_, static_cast<double>(resumes_));
  }

private:
  std::vector<std::uint32_t> wrong_;
  unsigned refill_;
  std::vector<TakenBranch> taken_;
  BranchTargets targets_;
  std::size_t next_ = 0, next_taken_ = 0;
  bool waits_ = false;
  std::uint64_t cycle_ = 0, resumes_ = 0;
  double fetching_ = 0;
  double found_ = 0;  // the cycle from which the code behind the last taken branch can come
};

}  // namespace homenode
