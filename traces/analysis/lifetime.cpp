#include "traces/analysis/lifetime.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>

#include "traces/analysis/addresses.hpp"
#include "traces/analysis/library_calls.hpp"

namespace homenode::analysis {

namespace {

using Recurrence = llvm::SCEVAddRecExpr;

// A join that awaits threads of one creation.
struct Join {
  const llvm::CallBase* call;
  const llvm::Loop* loop = nullptr;  // set when each turn joins the thread that the same turn of the creating loop made
  bool all = false;                  // when it, or its loop, is over, none of them runs
};

// The address of the joined thread's handle.
llvm::Value* joined_handle(const llvm::CallBase& call) {
  auto* handle = handle_operand(call);
  if (is_std_thread(call)) return handle;
  auto* load = llvm::dyn_cast<llvm::LoadInst>(handle);
  return load ? load->getPointerOperand() : nullptr;
}

std::vector<Join> joins_of(const llvm::CallBase& creation, const CreationAddresses& addresses, llvm::FunctionAnalysisManager& analyses) {
  std::vector<Join> result;
  auto& function = *const_cast<llvm::Function*>(creation.getFunction());
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  for (const auto& each : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&each);
    if (!call || thread_call(*call) != ThreadCall::join) continue;
    auto* pointer = joined_handle(*call);
    if (!pointer) continue;
    const auto* handle = evolution.getSCEV(pointer);
    const auto* loop = loops.getLoopFor(call->getParent());
    const auto* created = llvm::dyn_cast<Recurrence>(addresses.handle);
    const auto* joined = llvm::dyn_cast<Recurrence>(handle);
    if (loop == addresses.loop && handle == addresses.handle) {
      result.push_back({call, nullptr, true});
    } else if (!joined && loop && addresses.handle == handle &&
               loop->contains(addresses.loop ? addresses.loop->getHeader() : creation.getParent())) {
      result.push_back({call, nullptr, !addresses.loop});
    } else if (created && joined && created->getLoop() == addresses.loop && joined->getLoop() == loop &&
               created->getStart() == joined->getStart() && created->getStepRecurrence(evolution) == joined->getStepRecurrence(evolution)) {
      const auto* turns = evolution.getBackedgeTakenCount(loop);
      const bool all = !llvm::isa<llvm::SCEVCouldNotCompute>(turns) && turns == evolution.getBackedgeTakenCount(addresses.loop);
      result.push_back({call, loop, all});
    }
  }
  return result;
}

class Walk {
public:
  Walk(llvm::Function& routine, Summaries& summaries, Lifetime& result) : routine_(routine), summaries_(summaries), result_(result) {}

  // Everything that may come after the instruction, until a join of all.
  void after(const llvm::Instruction& from, const std::vector<Join>& joins) {
    std::vector<const llvm::Instruction*> open{from.getNextNode() ? from.getNextNode() : nullptr};
    if (!open.front()) {
      open.clear();
      for (const auto* next : llvm::successors(from.getParent())) open.push_back(&next->front());
    }
    bool ends = false;
    while (!open.empty()) {
      const auto* at = open.back();
      open.pop_back();
      if (!result_.beside.insert(at).second) continue;
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(at); call && call != &from) {
        if (is_last(*call, joins)) continue;
        for (auto* callee : summaries_.points_to().callees(call)) enter(*call, *callee);
      }
      ends = ends || llvm::isa<llvm::ReturnInst>(at);
      if (const auto* next = at->getNextNode())
        open.push_back(next);
      else
        for (const auto* block : llvm::successors(at->getParent()))
          if (!leaves_join_loop(at->getParent(), block, joins)) open.push_back(&block->front());
    }
    if (ends) return_from(*const_cast<llvm::Function*>(from.getFunction()));
  }

private:
  static bool is_last(const llvm::CallBase& call, const std::vector<Join>& joins) {
    for (const auto& join : joins)
      if (join.call == &call && !join.loop && join.all) return true;
    return false;
  }
  static bool leaves_join_loop(const llvm::BasicBlock* from, const llvm::BasicBlock* to, const std::vector<Join>& joins) {
    for (const auto& join : joins)
      if (join.loop && join.all && join.loop->contains(from) && !join.loop->contains(to)) return true;
    return false;
  }
  void enter(const llvm::CallBase& call, llvm::Function& callee) {
    if (thread_call(call) == ThreadCall::create) return;
    for (const auto& [function, certain] : summaries_.closure(callee)) result_.whole.insert(function);
  }
  void return_from(llvm::Function& function) {
    if (&function == &routine_) {
      result_.outlives = true;
      return;
    }
    if (!returned_.insert(&function).second) return;
    for (const auto& [caller, certain] : summaries_.closure(routine_))
      for (const auto& called : summaries_.of(*caller).called)
        if (called.function == &function) after(*called.call, {});
  }

  llvm::Function& routine_;
  Summaries& summaries_;
  Lifetime& result_;
  std::set<llvm::Function*> returned_;
};

bool inside(ByteRange range, std::int64_t stride) { return range.begin >= 0 && range.end <= stride; }

}  // namespace

Lifetime lifetime(const llvm::CallBase& creation, llvm::Function& routine, Summaries& summaries) {
  Lifetime result;
  const auto addresses = creation_addresses(creation, summaries.analyses());
  const auto joins = joins_of(creation, addresses, summaries.analyses());
  Walk(routine, summaries, result).after(creation, joins);
  return result;
}

std::optional<ByteRange> handed_over(const Access& access, const llvm::CallBase& creation, Summaries& summaries) {
  if (!access.address || access.at->getFunction() != creation.getFunction()) return std::nullopt;
  auto& analyses = summaries.analyses();
  auto& function = *const_cast<llvm::Function*>(creation.getFunction());
  const auto addresses = creation_addresses(creation, analyses);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  const auto bytes_from = [&](const llvm::SCEV* address, const llvm::SCEV* start) {
    if (evolution.getPointerBase(address) != evolution.getPointerBase(start)) return everywhere;
    const auto range = value_range(evolution, evolution.getMinusSCEV(address, start));
    return range.end >= everywhere.end || !access.size ? everywhere : ByteRange{range.begin, range.end - 1 + *access.size};
  };
  const auto* argument = llvm::dyn_cast_or_null<Recurrence>(addresses.argument);
  const bool before = dominators.dominates(access.at, &creation) && (!addresses.loop || addresses.loop->contains(access.at));
  if (before && addresses.fresh && evolution.getPointerBase(access.address) == evolution.getPointerBase(addresses.argument))
    return bytes_from(access.address, addresses.argument);
  if (!argument || argument->getLoop() != addresses.loop || !addresses.stride || *addresses.stride <= 0) return std::nullopt;
  if (before) {
    const auto bytes = bytes_from(access.address, argument);
    if (inside(bytes, *addresses.stride)) return bytes;
  }
  const auto* moving = llvm::dyn_cast<Recurrence>(access.address);
  for (const auto& join : joins_of(creation, addresses, analyses)) {
    if (!moving || !join.loop || moving->getLoop() != join.loop || !dominators.dominates(join.call, access.at)) continue;
    if (moving->getStepRecurrence(evolution) != argument->getStepRecurrence(evolution)) continue;
    const auto bytes = bytes_from(moving->getStart(), argument->getStart());
    if (inside(bytes, *addresses.stride)) return bytes;
  }
  return std::nullopt;
}

}  // namespace homenode::analysis
