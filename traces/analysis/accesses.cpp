#include "traces/analysis/accesses.hpp"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

#include "traces/analysis/addresses.hpp"
#include "traces/analysis/control_flow.hpp"
#include "traces/analysis/library_calls.hpp"

namespace homenode::analysis {

namespace {

bool is_release(std::string_view name) {
  return name == "free" || name.starts_with("_Zdl") || name.starts_with("_Zda") || name.starts_with("_ZNSt6thread6_StateD");
}

// Collects the accesses of one function.
class Collector {
public:
  Collector(const PointsTo& points_to, llvm::FunctionAnalysisManager& analyses, llvm::Function& function)
      : points_to_(points_to),
        data_layout_(function.getParent()->getDataLayout()),
        addresses_(points_to, analyses.getResult<llvm::ScalarEvolutionAnalysis>(function), function),
        aliases_(analyses.getResult<llvm::AAManager>(function)),
        memory_(analyses.getResult<llvm::MemorySSAAnalysis>(function).getMSSA()),
        flow_(function, analyses.getResult<llvm::DominatorTreeAnalysis>(function), analyses.getResult<llvm::LoopAnalysis>(function)) {
    for (auto& block : function) {
      if (flow_.is_doomed(&block)) continue;
      certain_ = flow_.is_certain(&block);
      for (auto& each : block) add(each);
    }
  }
  FunctionSummary summary;

private:
  void add(llvm::Instruction& each) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&each)) {
      if (!reads_own_store(*load)) add(each, load->getPointerOperand(), data_layout_.getTypeStoreSize(load->getType()), true, false);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&each)) {
      add(each, store->getPointerOperand(), data_layout_.getTypeStoreSize(store->getValueOperand()->getType()), false, true);
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&each)) {
      add(each, update->getPointerOperand(), data_layout_.getTypeStoreSize(update->getValOperand()->getType()), true, true);
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&each)) {
      add(each, exchange->getPointerOperand(), data_layout_.getTypeStoreSize(exchange->getNewValOperand()->getType()), true, true);
    } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&each)) {
      add(*call);
    }
  }

  // A load whose memory this function has just written, with no call and no other thread's turn between.
  bool reads_own_store(llvm::LoadInst& load) {
    if (!load.isUnordered() || !memory_.getMemoryAccess(&load)) return false;
    const auto* clobber = llvm::dyn_cast<llvm::MemoryDef>(memory_.getWalker()->getClobberingMemoryAccess(&load));
    const auto* store = clobber ? llvm::dyn_cast_or_null<llvm::StoreInst>(clobber->getMemoryInst()) : nullptr;
    return store && aliases_.isMustAlias(llvm::MemoryLocation::get(store), llvm::MemoryLocation::get(&load));
  }

  void add(llvm::Instruction& at, llvm::Value* pointer, std::optional<std::uint64_t> bytes, bool reads, bool writes) {
    Access access = addresses_.access(pointer, bytes);
    if (access.objects.empty()) return;
    access.at = &at;
    access.reads = reads;
    access.writes = writes;
    access.certain = certain_;
    summary.accesses.push_back(std::move(access));
  }

  static std::optional<std::uint64_t> length(const llvm::MemIntrinsic& copy) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
    return constant ? std::optional(constant->getZExtValue()) : std::nullopt;
  }

  void add(llvm::CallBase& call) {
    if (thread_call(call) == ThreadCall::create) {
      summary.creations.push_back(&call);
      return;
    }
    if (auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&call)) {
      add(call, copy->getRawDest(), length(*copy), false, true);
      if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(copy)) add(call, transfer->getRawSource(), length(*copy), true, false);
      return;
    }
    const auto& callees = points_to_.callees(&call);
    for (auto* callee : callees) summary.called.push_back({&call, callee, certain_ && callees.size() == 1 && !points_to_.may_leave(&call)});
    const auto* function = llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
    if (function && !function->isDeclaration()) return;
    if (thread_call(call) != ThreadCall::none || is_synchronisation(call) || is_allocation(call) || is_release(name_of_callee(call)))
      return;
    if (llvm::isa<llvm::InlineAsm>(call.getCalledOperand()) || (function && function->isIntrinsic())) return;
    add_callbacks(call);
    if (function && is_known_library(*function))
      add_known(call);
    else if (points_to_.may_leave(&call))
      add_unknown(call);
  }

  void add_callbacks(const llvm::CallBase& call) {
    for (const auto& argument : call.args())
      if (const auto* callback = llvm::dyn_cast<llvm::Function>(argument->stripPointerCasts()); callback && !callback->isDeclaration())
        summary.called.push_back(Called{&call, const_cast<llvm::Function*>(callback), false});
  }

  // A function of the C library works on what its arguments point to; its own state is none of the program's.
  void add_known(llvm::CallBase& call) {
    if (call.doesNotAccessMemory()) return;
    const bool scans = name_of_callee(call).find("scanf") != std::string_view::npos;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      auto* pointer = call.getArgOperand(i);
      if (!pointer->getType()->isPointerTy() || call.doesNotAccessMemory(i)) continue;
      const bool further = i >= call.getFunctionType()->getNumParams();  // of a variable number
      const bool only_reads = call.onlyReadsMemory() || call.onlyReadsMemory(i) || (further && !scans);
      if (is_stream_call(call) && points_outside(pointer)) continue;  // a FILE
      Access access = addresses_.access(pointer, std::nullopt);
      access.objects.erase(std::remove(access.objects.begin(), access.objects.end(), outside), access.objects.end());
      if (access.objects.empty()) continue;
      access.at = &call;
      access.reads = !call.onlyWritesMemory(i);
      access.writes = !only_reads;
      access.through = name_of_callee(call);
      summary.accesses.push_back(std::move(access));
    }
  }

  bool points_outside(const llvm::Value* pointer) const {
    const auto targets = points_to_.targets(pointer);
    return std::any_of(targets.begin(), targets.end(), [](const Target& target) { return target.object == outside; });
  }

  // Nothing is known: it may read and write all that it can reach, and what it keeps itself.
  void add_unknown(llvm::CallBase& call) {
    if (call.doesNotAccessMemory() || call.onlyAccessesInaccessibleMemory()) return;
    std::vector<Target> targets;
    if (!call.onlyAccessesArgMemory()) targets.push_back({outside, false});
    for (const auto& argument : call.args()) {
      if (llvm::isa<llvm::MetadataAsValue>(argument)) continue;
      const auto further = points_to_.targets(argument);
      targets.insert(targets.end(), further.begin(), further.end());
    }
    Access access;
    const auto reached = points_to_.reachable(targets);
    access.objects.assign(reached.begin(), reached.end());
    access.at = &call;
    access.reads = true;
    access.writes = !call.onlyReadsMemory();
    access.through = name_of_callee(call).empty() ? "a function that is not known" : std::string(name_of_callee(call));
    if (!access.objects.empty()) summary.accesses.push_back(std::move(access));
  }

  const PointsTo& points_to_;
  const llvm::DataLayout& data_layout_;
  Addresses addresses_;
  llvm::AAResults& aliases_;
  llvm::MemorySSA& memory_;
  ControlFlow flow_;
  bool certain_ = false;
};

}  // namespace

const FunctionSummary& Summaries::of(llvm::Function& function) {
  const auto found = summaries_.find(&function);
  if (found != summaries_.end()) return found->second;
  return summaries_.emplace(&function, Collector(points_to_, analyses_, function).summary).first->second;
}

const std::map<llvm::Function*, bool>& Summaries::closure(llvm::Function& function) {
  const auto [found, added] = closures_.try_emplace(&function);
  auto& result = found->second;
  if (!added) return result;
  std::vector<llvm::Function*> open{&function};
  result[&function] = true;
  while (!open.empty()) {
    auto* caller = open.back();
    open.pop_back();
    const bool certain = result[caller];
    for (const auto& called : of(*caller).called) {
      const auto [known, fresh] = result.try_emplace(called.function, false);
      const bool raised = certain && called.certain && !known->second;
      if (raised) known->second = true;
      if (fresh || raised) open.push_back(called.function);
    }
  }
  return result;
}

}  // namespace homenode::analysis
