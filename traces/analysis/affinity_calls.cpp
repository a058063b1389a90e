#include "traces/analysis/affinity_calls.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <algorithm>
#include <map>

#include "traces/analysis/library_calls.hpp"

namespace homenode::analysis {

namespace {

constexpr unsigned bytes_of_cpu_set = 128;  // cpu_set_t of the GNU C library: 1024 processors

llvm::Type* byte_pointer(llvm::LLVMContext& context) { return llvm::PointerType::getUnqual(llvm::Type::getInt8Ty(context)); }

class Inserter {
public:
  Inserter(llvm::Module& module, const Result& result, Summaries& summaries)
      : module_(module), context_(module.getContext()), result_(result), summaries_(summaries) {
    auto* nothing = llvm::Type::getVoidTy(context_);
    auto* word = llvm::Type::getInt64Ty(context_);
    expect_ = module.getOrInsertFunction("homenode_expect_threads", nothing, word);
    cores_ = module.getOrInsertFunction("homenode_cores_of_thread", nothing, llvm::Type::getInt32Ty(context_), byte_pointer(context_));
    is_bound_ = module.getOrInsertFunction("homenode_thread_is_bound", nothing);
    bind_ = module.getOrInsertFunction("pthread_setaffinity_np", llvm::Type::getInt32Ty(context_), word, word, byte_pointer(context_));
    for (std::size_t node = 1; node < result.tree.size(); ++node) {
      auto* creation = const_cast<llvm::CallBase*>(result.tree[node].creation);
      auto& kinds = kinds_[creation];
      if (kinds.empty()) order_.push_back(creation);
      kinds.push_back(node);
    }
  }

  unsigned insert() {
    tables();
    // Before the flow of control changes, on which the counts rest.
    for (auto* creation : order_) expectation(*creation);
    for (auto* creation : order_) follow_up(*creation);
    return static_cast<unsigned>(order_.size());
  }

private:
  void table(const char* name, llvm::Constant* values, bool constant) {
    auto* made = new llvm::GlobalVariable(module_, values->getType(), constant, llvm::GlobalValue::ExternalLinkage, values, name);
    made->setAlignment(llvm::Align(16));
  }

  // As affinity.h declares them.
  void tables() {
    std::vector<std::uint32_t> kinds, fathers;
    for (std::size_t node = 0; node < result_.tree.size(); ++node) {
      const auto& thread = result_.threads[node];
      kinds.push_back(static_cast<std::uint32_t>(thread.type));
      kinds.push_back(static_cast<std::uint32_t>(fathers.size()));
      for (const auto father : thread.communicates_below)
        if (std::any_of(thread.partners.begin(), thread.partners.end(), [&](const Partner& partner) { return partner.node == father; }))
          fathers.push_back(static_cast<std::uint32_t>(father));
      kinds.push_back(static_cast<std::uint32_t>(fathers.size()));
    }
    fathers.push_back(0);  // an empty table has no address
    table("homenode_kinds", llvm::ConstantDataArray::get(context_, kinds), true);
    table("homenode_fathers", llvm::ConstantDataArray::get(context_, fathers), true);
    auto* sets = llvm::ArrayType::get(llvm::Type::getInt8Ty(context_), bytes_of_cpu_set * result_.tree.size());
    table("homenode_cores_of_kind", llvm::ConstantAggregateZero::get(sets), false);
  }

  // How many autonomous threads a creation makes, told before its loop, or where its function begins.
  void expectation(llvm::CallBase& creation) {
    for (const auto kind : kinds_[&creation])
      if (result_.threads[kind].type != ThreadType::autonomous) return;
    auto& function = *creation.getFunction();
    auto& evolution = summaries_.analyses().getResult<llvm::ScalarEvolutionAnalysis>(function);
    const auto* loop = summaries_.analyses().getResult<llvm::LoopAnalysis>(function).getLoopFor(creation.getParent());
    auto* word = llvm::Type::getInt64Ty(context_);
    if (!loop) {
      llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
      builder.CreateCall(expect_, {llvm::ConstantInt::get(word, 1)});
      return;
    }
    auto* before = loop->getLoopPreheader();
    const auto* turns = evolution.getBackedgeTakenCount(loop);
    const bool told = before && !llvm::isa<llvm::SCEVCouldNotCompute>(turns) && turns->getType()->isIntegerTy() &&
                      !llvm::SCEVExprContains(turns, [](const llvm::SCEV* part) { return llvm::isa<llvm::SCEVUDivExpr>(part); });
    if (!told) return;
    llvm::SCEVExpander expander(evolution, module_.getDataLayout(), "threads");
    auto* count = expander.expandCodeFor(turns, turns->getType(), before->getTerminator());
    llvm::IRBuilder<> builder(before->getTerminator());
    count = builder.CreateZExtOrTrunc(count, word);
    // A loop that is left at its end has run its body once more than it went back.
    if (loop->getExitingBlock() == loop->getLoopLatch()) count = builder.CreateAdd(count, llvm::ConstantInt::get(word, 1));
    builder.CreateCall(expect_, {count});
  }

  void follow_up(llvm::CallBase& creation) {
    llvm::Instruction* before = nullptr;
    if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&creation)) {
      auto* next = invoke->getNormalDest();
      if (!next->getSinglePredecessor()) next = llvm::SplitEdge(invoke->getParent(), next);
      before = &*next->getFirstInsertionPt();
    } else {
      before = creation.getNextNode();
    }
    if (!is_std_thread(creation)) {
      llvm::IRBuilder<> builder(before);
      auto* created = builder.CreateICmpEQ(&creation, llvm::ConstantInt::get(creation.getType(), 0));
      before = llvm::SplitBlockAndInsertIfThen(created, before, false);
    }
    llvm::IRBuilder<> entry(&*creation.getFunction()->getEntryBlock().getFirstInsertionPt());
    auto* sets = llvm::ArrayType::get(llvm::Type::getInt64Ty(context_), bytes_of_cpu_set / 8);
    auto* set = entry.CreateBitCast(entry.CreateAlloca(sets), byte_pointer(context_));
    llvm::IRBuilder<> builder(before);
    auto* word = llvm::Type::getInt64Ty(context_);
    builder.CreateCall(cores_, {kind_of(creation, builder), set});
    // A std::thread is its pthread_t.
    auto* handle = builder.CreateLoad(word, builder.CreateBitCast(handle_operand(creation), llvm::PointerType::getUnqual(word)));
    builder.CreateCall(bind_, {handle, llvm::ConstantInt::get(word, bytes_of_cpu_set), set});
    builder.CreateCall(is_bound_, {});
  }

  // The node of the tree; by the routine, where the call may start one of several.
  llvm::Value* kind_of(llvm::CallBase& creation, llvm::IRBuilder<>& builder) {
    const auto& kinds = kinds_[&creation];
    auto* type = llvm::Type::getInt32Ty(context_);
    llvm::Value* kind = llvm::ConstantInt::get(type, kinds.front());
    if (is_std_thread(creation)) return kind;
    auto* routine = builder.CreateBitCast(creation.getArgOperand(2), byte_pointer(context_));
    for (std::size_t i = 1; i < kinds.size(); ++i) {
      auto* other = builder.CreateBitCast(result_.tree[kinds[i]].routine, byte_pointer(context_));
      kind = builder.CreateSelect(builder.CreateICmpEQ(routine, other), llvm::ConstantInt::get(type, kinds[i]), kind);
    }
    return kind;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const Result& result_;
  Summaries& summaries_;
  llvm::FunctionCallee expect_, cores_, is_bound_, bind_;
  std::map<llvm::CallBase*, std::vector<std::size_t>> kinds_;
  std::vector<llvm::CallBase*> order_;
};

}  // namespace

unsigned insert_affinity_calls(llvm::Module& module, const Result& result, Summaries& summaries) {
  return Inserter(module, result, summaries).insert();
}

}  // namespace homenode::analysis
