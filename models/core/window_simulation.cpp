#include "models/core/window_simulation.hpp"

#include <llvm/MCA/HWEventListener.h>
#include <llvm/MCA/HardwareUnits/RegisterFile.h>
#include <llvm/MCA/HardwareUnits/RetireControlUnit.h>
#include <llvm/MCA/HardwareUnits/Scheduler.h>
#include <llvm/MCA/Pipeline.h>
#include <llvm/MCA/SourceMgr.h>
#include <llvm/MCA/Stages/DispatchStage.h>
#include <llvm/MCA/Stages/EntryStage.h>
#include <llvm/MCA/Stages/ExecuteStage.h>
#include <llvm/MCA/Stages/RetireStage.h>

#include <algorithm>

#include "models/core/data_flow.hpp"
#include "models/core/fetch_stage.hpp"
#include "models/core/taken_branches.hpp"
#include "models/core/window_stream.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

using llvm::mca::HWInstructionEvent;
using llvm::mca::HWPressureEvent;
using llvm::mca::Instruction;

// EntryStage copies each instruction that it takes, so one of each place in the code serves all executions.
class Source final : public llvm::mca::SourceMgr {
public:
  explicit Source(const std::vector<const Instruction*>& instructions) : instructions_{instructions} {}
  llvm::ArrayRef<UniqueInst> getInstructions() const override { return {}; }
  std::size_t size() const override { return instructions_.size(); }
  bool hasNext() const override { return next_ < instructions_.size(); }
  bool isEnd() const override { return !hasNext(); }
  llvm::mca::SourceRef peekNext() const override { return {next_, *instructions_[next_]}; }
  void updateNext() override { ++next_; }

private:
  const std::vector<const Instruction*>& instructions_;
  unsigned next_ = 0;
};

// Books each cycle on the block whose turn it is to retire.
class Observer final : public llvm::mca::HWEventListener {
public:
  Observer(const WindowStream& stream, const WindowOfBlocks& window, WindowTimes& times) : stream_{stream}, times_{times} {
    times_.retired.assign(window.blocks.size(), 0);
    for (const CoreBlock* block : window.blocks) {
      whole_.push_back(&times_.whole[block->id]);
      steady_.push_back(&times_.steady[block->id]);
    }
    whole_.push_back(&after_);
    steady_.push_back(&after_);
    skip_retired();
  }

  void watch(const FetchStage& fetch) { fetch_ = &fetch; }

  using HWEventListener::onEvent;

  void onCycleBegin() override {
    ++cycle_;
    turn_of_cycle_ = turn_;
  }
  void onCycleEnd() override {
    now_.cycles = 1;
    now_.waits_for_code = fetch_ != nullptr && fetch_->looks_for_code() ? 1 : 0;
    now_.fetching = fetch_ != nullptr ? fetch_->fetching() - fetched_ : 0;
    fetched_ += now_.fetching;
    whole_[turn_of_cycle_]->add(now_);
    if (turn_of_cycle_ >= times_.measured_from && dispatched_ < stream_.instructions.size()) steady_[turn_of_cycle_]->add(now_);
    now_ = {};
  }
  void onEvent(const HWInstructionEvent& event) override {
    if (event.Type == HWInstructionEvent::Retired) {
      ++retired_;
      skip_retired();
    } else if (event.Type == HWInstructionEvent::Dispatched) {
      now_.operations += static_cast<const llvm::mca::HWInstructionDispatchedEvent&>(event).MicroOpcodes;
      dispatched_ = event.IR.getSourceIndex() + 1;
    } else if (event.Type == HWInstructionEvent::Issued) {
      for (const llvm::mca::ResourceUse& use : static_cast<const llvm::mca::HWInstructionIssuedEvent&>(event).UsedResources)
        now_.busy[static_cast<unsigned>(use.first.first)] += static_cast<double>(use.second);
    }
  }
  void onEvent(const HWPressureEvent& event) override {
    (event.Reason == HWPressureEvent::RESOURCES ? now_.waits_for_ports : now_.waits_for_data) = 1;
  }

private:
  // Instructions retire in order.
  void skip_retired() {
    while (turn_ < times_.retired.size() && retired_ >= stream_.first[turn_ + 1]) times_.retired[turn_++] = cycle_;
  }

  const WindowStream& stream_;
  const FetchStage* fetch_ = nullptr;
  WindowTimes& times_;
  std::vector<CoreActivity*> whole_, steady_;  // by execution, and of none
  CoreActivity after_, now_;
  std::uint64_t cycle_ = 0, retired_ = 0, dispatched_ = 0;
  double fetched_ = 0;
  std::size_t turn_ = 0, turn_of_cycle_ = 0;
};

std::size_t end_of_warm_up(const WindowStream& stream, const llvm::MCSchedModel& model) {
  const std::uint32_t instructions = stream.first.back(), buffer = reorder_buffer(model);
  const std::uint32_t warm_up = std::max(instructions / 4, buffer <= instructions / 2 ? buffer : 0);
  const auto found = std::lower_bound(stream.first.begin(), stream.first.end() - 1, warm_up);
  const auto index = static_cast<std::size_t>(found - stream.first.begin());
  return index + 1 < stream.first.size() ? index : 0;  // one long block: all of it
}

// LLVM issues a load together with its operation. The other operand may come later by the load's latency, but LLVM counts no more of this
// than the instruction that makes the operand takes: behind a `mulsd` of 3 cycles, 4 of the load's 7 stay in the chain. So where the other
// operands come last, the load has been issued before, and the operation is simulated alone.
void let_loads_begin_early(const CoreTarget& target, const WindowOfBlocks& window, WindowStream& stream) {
  if (stream.code.empty()) return;
  const DataFlow flow{target, stream, window, 0};
  for (std::size_t i = 0; i < stream.code.size(); ++i) {
    const CoreInstruction& code = *stream.code[i];
    if (flow.has_loaded_early(i) && !code.plain->getMayStore()) stream.instructions[i] = code.arrived.get();
  }
}

ForwardingDelay delay_of(const ForwardingLatency& latency) {
  constexpr unsigned of_store = 1;  // LLVM's latency of a store, after which the delay begins
  const auto rest = [](unsigned total) { return total > of_store ? total - of_store : 0; };
  return {.by_way = {rest(latency.renamed), rest(latency.general), rest(latency.vector), rest(latency.merged)}};
}

}  // namespace

WindowTimes simulate(const CoreTarget& target, const WindowOfBlocks& window, const CoreProperties& core) {
  const llvm::MCSchedModel& model = target.model();
  WindowStream stream = window_stream(target, window, core.forwarding);
  let_loads_begin_early(target, window, stream);
  WindowTimes times;
  times.measured_from = end_of_warm_up(stream, model);
  Observer observer{stream, window, times};
  if (stream.instructions.empty()) return times;

  Source source{stream.instructions};
  llvm::mca::RetireControlUnit retirement{model};
  llvm::mca::RegisterFile registers{model, target.registers(), 0};
  const StoreBuffer buffer{.entries = core.store_buffer, .is_full = core.store_buffer > 0 && !window.is_cut};
  LoadStoreUnit memory{model, stream.forwarding, delay_of(core.forwarding), buffer};
  llvm::mca::Scheduler scheduler{model, memory};
  const BranchTargets& targets = core.branch_targets;
  if (!window.begin && window.wrong.empty()) times.fetching = most_cycles(stream, window, targets);
  auto fetch =
      std::make_unique<FetchStage>(wrong_instructions(stream, window), window.refill, taken_branches(stream, window, targets), targets);
  FetchStage& fetching = *fetch;
  observer.watch(fetching);
  llvm::mca::Pipeline pipeline;
  pipeline.appendStage(std::make_unique<llvm::mca::EntryStage>(source));
  pipeline.appendStage(std::move(fetch));
  pipeline.appendStage(
      std::make_unique<llvm::mca::DispatchStage>(target.subtarget(), target.registers(), model.IssueWidth, retirement, registers));
  pipeline.appendStage(std::make_unique<llvm::mca::ExecuteStage>(scheduler, true));
  pipeline.appendStage(std::make_unique<llvm::mca::RetireStage>(retirement, registers, memory));
  pipeline.addEventListener(&observer);
  pipeline.addEventListener(&fetching);
  auto cycles = pipeline.run();
  if (!cycles) throw Error("LLVM cannot simulate a sequence: " + llvm::toString(cycles.takeError()));
  return times;
}

}  // namespace homenode
