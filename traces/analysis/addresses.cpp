#include "traces/analysis/addresses.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "traces/analysis/library_calls.hpp"

namespace homenode::analysis {

std::optional<std::int64_t> first_value(const llvm::SCEV* expression) {
  if (const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(expression)) return constant->getAPInt().getSExtValue();
  if (const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(expression)) return first_value(recurrence->getStart());
  if (const auto* cast = llvm::dyn_cast<llvm::SCEVCastExpr>(expression)) return first_value(cast->getOperand());
  const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(expression);
  const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(expression);
  if (!sum && !product) return std::nullopt;
  std::int64_t result = sum ? 0 : 1;
  for (const auto* operand : llvm::cast<llvm::SCEVNAryExpr>(expression)->operands()) {
    const auto value = first_value(operand);
    if (!value) return std::nullopt;
    if (sum ? __builtin_add_overflow(result, *value, &result) : __builtin_mul_overflow(result, *value, &result)) return std::nullopt;
  }
  return result;
}

ByteRange value_range(llvm::ScalarEvolution& evolution, const llvm::SCEV* expression) {
  if (llvm::isa<llvm::SCEVCouldNotCompute>(expression)) return everywhere;
  const auto range = evolution.getSignedRange(expression);
  const std::int64_t low = range.getSignedMin().getSExtValue(), high = range.getSignedMax().getSExtValue();
  return {std::max(low, everywhere.begin), std::min(high, everywhere.end - 1) + 1};
}

std::vector<ObjectId> Addresses::objects(const std::vector<Target>& targets) {
  std::set<ObjectId> result;
  for (const auto& target : targets) {
    const auto* allocation = points_to_.allocation(target.object);
    if (target.object == outside) {
      if (!held_outside_) held_outside_ = points_to_.held_outside();
      result.insert(held_outside_->begin(), held_outside_->end());
    } else if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(allocation)) {
      if (!variable->isConstant() && !variable->isThreadLocal()) result.insert(target.object);
    } else if (!llvm::isa<llvm::Function>(allocation)) {
      result.insert(target.object);
    }
  }
  return {result.begin(), result.end()};
}

Access::Base Addresses::base(const llvm::Value* value, const std::vector<Target>& targets) const {
  if (llvm::isa<llvm::AllocaInst>(value) || is_allocation(*value)) return Access::Base::own;
  if (function_.arg_size() > 0 && value == function_.getArg(0)) return Access::Base::argument;
  return targets.size() == 1 && targets.front().at_start ? Access::Base::object : Access::Base::unknown;
}

Access Addresses::access(llvm::Value* pointer, std::optional<std::uint64_t> bytes) {
  Access result;
  if (!evolution_.isSCEVable(pointer->getType())) {
    result.objects = objects(points_to_.targets(pointer));
    return result;
  }
  result.address = evolution_.getSCEV(pointer);
  const auto* base = llvm::dyn_cast<llvm::SCEVUnknown>(evolution_.getPointerBase(result.address));
  const auto targets = points_to_.targets(base ? base->getValue() : pointer);
  result.objects = objects(targets);
  if (!base) return result;
  result.base = this->base(base->getValue(), targets);
  const auto* offset = evolution_.getMinusSCEV(result.address, base);
  const auto starts = value_range(evolution_, offset);
  const auto length = static_cast<std::int64_t>(bytes.value_or(0));
  if (bytes) result.size = length;
  result.bytes = {starts.begin, bytes && starts.end < everywhere.end ? starts.end - 1 + length : everywhere.end};
  if (bytes && !llvm::isa<llvm::SCEVCouldNotCompute>(offset))
    if (const auto first = first_value(offset)) result.first = ByteRange{*first, *first + length};
  return result;
}

}  // namespace homenode::analysis
