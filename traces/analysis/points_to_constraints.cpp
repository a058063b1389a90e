#include "traces/analysis/points_to_constraints.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "traces/analysis/library_calls.hpp"

namespace homenode::analysis {

namespace {

bool name_starts(const llvm::Value& value, std::string_view with) {
  return std::string_view(value.getName().data(), value.getName().size()).starts_with(with);
}

}  // namespace

const llvm::Value* Constraints::without_casts(const llvm::Value* value) {
  while (const auto* cast = llvm::dyn_cast<llvm::Operator>(value)) {
    const bool same = llvm::Instruction::isCast(cast->getOpcode());
    if (!same || !llvm::isa<llvm::Constant>(value)) break;
    value = cast->getOperand(0);
  }
  return value;
}

Constraints::Node Constraints::value(const llvm::Value* value) {
  value = without_casts(value);
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  const bool known = points_to_.node_of_.count(value) != 0;
  const Node node = points_to_.node(value);
  if (!constant || known) return node;
  if (const auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(constant)) {
    points_to_.add_copy(this->value(alias->getAliasee()), node);
  } else if (llvm::isa<llvm::GlobalValue>(constant)) {
    points_to_.add_target(node, PointsTo::bit(points_to_.object(constant), true));
  } else if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant)) {
    const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(expression);
    for (const auto& operand : expression->operands()) {
      const Node from = this->value(operand);
      if (gep && !gep->hasAllZeroIndices())
        points_to_.add_shift(from, node);
      else
        points_to_.add_copy(from, node);
    }
  } else {
    for (const auto& operand : constant->operands()) points_to_.add_copy(this->value(operand), node);
  }
  return node;
}

void Constraints::initializer(const llvm::Constant& constant, Node contents) {
  if (llvm::isa<llvm::GlobalValue>(constant) || llvm::isa<llvm::ConstantExpr>(constant)) {
    points_to_.add_copy(value(&constant), contents);
    return;
  }
  for (const auto& operand : constant.operands()) initializer(*llvm::cast<llvm::Constant>(operand), contents);
}

void Constraints::global(const llvm::GlobalVariable& variable) {
  const ObjectId object = points_to_.object(&variable);
  if (variable.hasInitializer()) initializer(*variable.getInitializer(), points_to_.contents(object));
  if (!variable.hasInitializer() || !variable.hasExactDefinition()) {
    points_to_.add_target(points_to_.contents(object), PointsTo::bit(outside, false));
    if (!variable.isConstant()) points_to_.add_target(points_to_.contents(outside), PointsTo::bit(object, true));
  }
}

void Constraints::add(llvm::Module& module) {
  for (const auto& variable : module.globals()) global(variable);
  for (auto& function : module)
    for (const auto& each : llvm::instructions(function)) makes_addresses_ = makes_addresses_ || llvm::isa<llvm::IntToPtrInst>(each);
  for (auto& function : module)
    for (const auto& each : llvm::instructions(function)) instruction(each);
  // The system calls main: its words are the outside's.
  if (const auto* main = module.getFunction("main"))
    for (const auto& argument : main->args()) points_to_.add_target(value(&argument), PointsTo::bit(outside, false));
}

void Constraints::instruction(const llvm::Instruction& each) {
  if (llvm::isa<llvm::AllocaInst>(each)) {
    points_to_.add_target(value(&each), PointsTo::bit(points_to_.object(&each), true));
  } else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&each)) {
    points_to_.add_load(value(load->getPointerOperand()), value(&each));
  } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&each)) {
    points_to_.add_store(value(store->getValueOperand()), value(store->getPointerOperand()));
  } else if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&each)) {
    points_to_.add_store(value(exchange->getNewValOperand()), value(exchange->getPointerOperand()));
    points_to_.add_load(value(exchange->getPointerOperand()), value(&each));
  } else if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&each)) {
    points_to_.add_store(value(update->getValOperand()), value(update->getPointerOperand()));
    points_to_.add_load(value(update->getPointerOperand()), value(&each));
  } else if (const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&each)) {
    const Node from = value(gep->getPointerOperand()), to = value(&each);
    if (gep->hasAllZeroIndices())
      points_to_.add_copy(from, to);
    else
      points_to_.add_shift(from, to);
  } else if (const auto* called = llvm::dyn_cast<llvm::CallBase>(&each)) {
    call(*called);
  } else if (llvm::isa<llvm::BinaryOperator>(each)) {
    // Arithmetic that can leave an address in an integer: none is multiplied, divided or shifted. Where no integer is ever made an
    // address again, integers move as copies of memory do, and sums are numbers.
    const auto code = each.getOpcode();
    const bool keeps = code == llvm::Instruction::Add || code == llvm::Instruction::Sub || code == llvm::Instruction::And ||
                       code == llvm::Instruction::Or || code == llvm::Instruction::Xor;
    if (keeps && makes_addresses_ && each.getType()->isIntegerTy(64))
      for (const auto& operand : each.operands()) points_to_.add_shift(value(operand), value(&each));
  } else if (llvm::isa<llvm::CastInst>(each) || llvm::isa<llvm::PHINode>(each) || llvm::isa<llvm::SelectInst>(each) ||
             llvm::isa<llvm::FreezeInst>(each) || llvm::isa<llvm::ExtractValueInst>(each) || llvm::isa<llvm::InsertValueInst>(each) ||
             llvm::isa<llvm::ExtractElementInst>(each) || llvm::isa<llvm::InsertElementInst>(each) ||
             llvm::isa<llvm::ShuffleVectorInst>(each)) {
    for (const auto& operand : each.operands())
      if (!llvm::isa<llvm::BasicBlock>(operand)) points_to_.add_copy(value(operand), value(&each));
  } else if (llvm::isa<llvm::LandingPadInst>(each)) {
    points_to_.add_target(value(&each), PointsTo::bit(outside, false));
  }
}

void Constraints::pass(const llvm::CallBase& call, const llvm::Function& function) {
  const unsigned count = std::min<unsigned>(call.arg_size(), static_cast<unsigned>(function.arg_size()));
  for (unsigned i = 0; i < count; ++i) points_to_.add_copy(value(call.getArgOperand(i)), value(function.getArg(i)));
  if (function.getReturnType()->isVoidTy() || is_allocation(call)) return;
  for (const auto& block : function)
    if (const auto* back = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()))
      if (back->getReturnValue()) points_to_.add_copy(value(back->getReturnValue()), value(&call));
}

void Constraints::call_target(const llvm::CallBase& call, const llvm::Value* target) {
  const auto* function = target ? llvm::dyn_cast<llvm::Function>(target) : nullptr;
  if (thread_call(call) == ThreadCall::create) {
    if (function && !function->isDeclaration() && !is_std_thread(call)) run_routine(call, const_cast<llvm::Function&>(*function));
    // The state of a std::thread: its table of virtual functions has the routine.
    const auto* table = target ? llvm::dyn_cast<llvm::GlobalVariable>(target) : nullptr;
    if (!table || !table->hasInitializer() || !table->getName().contains("St6thread11_State_impl")) return;
    for (const auto& part : table->getInitializer()->operands())
      for (const auto& entry : llvm::cast<llvm::Constant>(part)->operands())
        if (const auto* method = llvm::dyn_cast<llvm::Function>(without_casts(entry)))
          if (method->getName().contains("6_M_runEv") && !method->isDeclaration()) run_routine(call, const_cast<llvm::Function&>(*method));
    return;
  }
  if (function && !function->isDeclaration()) {
    // One that takes more is none that this call can mean.
    if (function->arg_size() <= call.arg_size()) points_to_.enter(&call, const_cast<llvm::Function*>(function));
  } else if (!target || function) {
    if (points_to_.leaving_.insert(&call).second) library(call, function);
  }
}

void Constraints::run_routine(const llvm::CallBase& call, llvm::Function& routine) {
  auto& known = points_to_.callees_[&call];
  if (std::find(known.begin(), known.end(), &routine) != known.end()) return;
  known.push_back(&routine);
  if (routine.arg_size() > 0) {
    const Node argument = value(routine.getArg(0));
    // std::thread passes the state whose address stands in its second argument.
    if (is_std_thread(call))
      points_to_.add_load(value(call.getArgOperand(1)), argument);
    else
      points_to_.add_copy(value(call.getArgOperand(3)), argument);
  }
  for (const auto& block : routine)
    if (const auto* back = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()))
      if (back->getReturnValue()) points_to_.add_copy(value(back->getReturnValue()), points_to_.returned_by_routines_);
}

void Constraints::creation(const llvm::CallBase& call) {
  points_to_.creations_.push_back(&call);
  if (!is_std_thread(call)) {
    points_to_.add_indirect_call(value(call.getArgOperand(2)), &call);
    return;
  }
  const Node state = points_to_.new_node(), table = points_to_.new_node();
  points_to_.add_load(value(call.getArgOperand(1)), state);
  points_to_.add_load(state, table);
  points_to_.add_indirect_call(table, &call);
}

void Constraints::call(const llvm::CallBase& call) {
  if (thread_call(call) == ThreadCall::create) return creation(call);
  if (thread_call(call) == ThreadCall::join && call.arg_size() == 2)
    return points_to_.add_store(points_to_.returned_by_routines_, value(call.getArgOperand(1)));
  if (is_allocation(call)) points_to_.add_target(value(&call), PointsTo::bit(points_to_.object(&call), true));
  if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&call)) {
    const Node moved = points_to_.new_node();
    points_to_.add_load(value(copy->getRawSource()), moved);
    points_to_.add_store(moved, value(copy->getRawDest()));
    return;
  }
  const auto* operand = without_casts(call.getCalledOperand());
  if (llvm::isa<llvm::InlineAsm>(operand)) {
    for (const auto& argument : call.args()) points_to_.add_copy(value(argument), value(&call));
    return;
  }
  if (const auto* function = llvm::dyn_cast<llvm::Function>(operand)) return call_target(call, function);
  const auto slot = table_slot(operand);
  if (!slot) return points_to_.add_indirect_call(value(operand), &call);
  const Node from_other_tables = points_to_.new_node();
  points_to_.add_indirect_call(from_other_tables, &call);
  points_to_.add_table_call(value(slot->table), {&call, slot->number, from_other_tables});
}

// A function taken from a place in a table whose address comes from memory, as C++'s virtual functions are.
std::optional<Constraints::TableSlot> Constraints::table_slot(const llvm::Value* callee) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(callee);
  if (!load) return std::nullopt;
  const auto* pointer = load->getPointerOperand()->stripPointerCasts();
  std::uint64_t number = 0;
  if (const auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer)) {
    llvm::APInt offset(64, 0);
    if (!gep->accumulateConstantOffset(gep->getModule()->getDataLayout(), offset)) return std::nullopt;
    number = offset.getZExtValue() / sizeof(void*);
    pointer = gep->getPointerOperand()->stripPointerCasts();
  }
  if (!llvm::isa<llvm::LoadInst>(pointer)) return std::nullopt;
  return TableSlot{pointer, number};
}

void Constraints::table_target(const PointsTo::TableCall& table_call, ObjectId object) {
  const auto* allocation = points_to_.allocation(object);
  const auto* table = allocation ? llvm::dyn_cast<llvm::GlobalVariable>(allocation) : nullptr;
  if (!table || !table->hasInitializer() || !name_starts(*table, "_ZTV")) {
    points_to_.add_copy(points_to_.contents(object), table_call.from_other_tables);
    return;
  }
  constexpr unsigned header = 2;  // offset to the top, type information (Itanium C++ ABI)
  for (const auto& part : table->getInitializer()->operands()) {
    if (header + table_call.slot >= llvm::cast<llvm::Constant>(part)->getNumOperands()) continue;
    const auto* entry = llvm::cast<llvm::Constant>(part)->getOperand(static_cast<unsigned>(header + table_call.slot));
    if (const auto* method = llvm::dyn_cast<llvm::Function>(without_casts(entry))) call_target(*table_call.call, method);
  }
}

void Constraints::library(const llvm::CallBase& call, const llvm::Function* function) {
  const Node result = value(&call);
  if (function && function->isIntrinsic()) {
    for (const auto& argument : call.args())
      if (!llvm::isa<llvm::MetadataAsValue>(argument)) points_to_.add_copy(value(argument), result);
    return;
  }
  const bool known = function && (is_known_library(*function) || is_synchronisation(call));
  const bool pointer = call.getType()->isPointerTy() && !is_allocation(call);  // none is taken for an integer
  const auto name = name_of_callee(call);
  for (const auto& argument : call.args()) {
    if (llvm::isa<llvm::MetadataAsValue>(argument)) continue;
    if (known && pointer) points_to_.add_copy(value(argument), result);
    if (!known) points_to_.add_copy(value(argument), points_to_.contents(outside));
    // Whatever takes a function may call it, with anything that it was given or knows.
    if (const auto* callback = llvm::dyn_cast<llvm::Function>(without_casts(argument)); callback && !callback->isDeclaration()) {
      for (const auto& parameter : callback->args()) {
        points_to_.add_target(value(&parameter), PointsTo::bit(outside, false));
        points_to_.add_copy(points_to_.contents(outside), value(&parameter));
        for (const auto& given : call.args())
          if (!llvm::isa<llvm::MetadataAsValue>(given)) points_to_.add_shift(value(given), value(&parameter));
      }
    }
  }
  if (name == "realloc" || name == "memcpy" || name == "memmove") {
    const Node moved = points_to_.new_node();
    points_to_.add_load(value(call.getArgOperand(name == "realloc" ? 0 : 1)), moved);
    points_to_.add_store(moved, name == "realloc" ? result : value(call.getArgOperand(0)));
  }
  if (name == "posix_memalign") {
    const Node block = points_to_.new_node();
    points_to_.add_target(block, PointsTo::bit(points_to_.object(&call), true));
    points_to_.add_store(block, value(call.getArgOperand(0)));
  }
  if (pointer && !returns_own_memory(call)) {
    points_to_.add_target(result, PointsTo::bit(outside, false));
    if (!known) points_to_.add_copy(points_to_.contents(outside), result);
  }
}

}  // namespace homenode::analysis
