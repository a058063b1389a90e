// Between an endless supply of instructions and the core: what follows a branch that was predicted wrong is not fetched before that branch
// has executed. Without such branches it lets everything pass.
#pragma once

#include <llvm/MCA/HWEventListener.h>
#include <llvm/MCA/Stages/Stage.h>

#include <cstdint>
#include <vector>

namespace homenode {

class FetchStage final : public llvm::mca::Stage, public llvm::mca::HWEventListener {
public:
  // `wrong`: by instruction of the stream, growing. `refill`: cycles from a wrong one's execution to the dispatch of what follows it.
  FetchStage(std::vector<std::uint32_t> wrong, unsigned refill) : wrong_{std::move(wrong)}, refill_{refill} {}

  bool hasWorkToComplete() const override { return false; }
  bool isAvailable(const llvm::mca::InstRef& reference) const override {
    return !waits_ && cycle_ >= resumes_ && checkNextStage(reference);
  }
  llvm::Error cycleStart() override {
    ++cycle_;
    return llvm::ErrorSuccess();
  }
  llvm::Error execute(llvm::mca::InstRef& reference) override {
    // It may execute at once.
    if (next_ < wrong_.size() && reference.getSourceIndex() == wrong_[next_]) waits_ = true;
    return moveToTheNextStage(reference);
  }

  using HWEventListener::onEvent;
  // Executed instructions are told before this stage's cycle begins: the stages behind it begin theirs first.
  void onEvent(const llvm::mca::HWInstructionEvent& event) override {
    if (!waits_ || event.Type != llvm::mca::HWInstructionEvent::Executed || event.IR.getSourceIndex() != wrong_[next_]) return;
    waits_ = false;
    ++next_;
    resumes_ = cycle_ + 1 + refill_;
  }

private:
  std::vector<std::uint32_t> wrong_;
  unsigned refill_;
  std::size_t next_ = 0;
  bool waits_ = false;
  std::uint64_t cycle_ = 0, resumes_ = 0;
};

}  // namespace homenode
