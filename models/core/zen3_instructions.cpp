#include "models/core/zen3_instructions.hpp"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <array>

namespace homenode {
namespace {

using llvm::mca::InstrDesc;
using Instruction = CorrectedInstruction;

}  // namespace

Zen3Instructions::Zen3Instructions(CoreTarget& target)
    : addition_{target, {0x48, 0x01, 0xd0}},  // add %rdx, %rax
      shift_{target, {0x48, 0xd1, 0xe0}},     // shl %rax
      vector_load_units_{unit_mask(target, "Zn3FP45")},
      store_units_{unit_mask(target, "Zn3Store")},
      memory_units_{unit_mask(target, "Zn3LSU")} {}

void Zen3Instructions::correct(const Instruction& of, InstrDesc& description) const {
  correct_latency(of, description);
  correct_units(of, description);
}

void Zen3Instructions::correct_latency(const Instruction& of, InstrDesc& description) const {
  const auto known = static_cast<int>(description.MaxLatency);
  if (of.loads && !of.stores && of.to_general && of.is_plain_load()) {
    const int scaled = of.effects.memory.index >= 0 && of.effects.memory.scale > 1 ? 1 : 0;
    set_latency(description, known - 1 + scaled);
  }
  constexpr int short_quotient = 9;  // more with more bits; LLVM has the most
  if (of.is_integer_division()) set_latency(description, std::min(known, short_quotient));
  if (of.loads || of.stores) return;
  if (of.begins({"INSERTF128", "INSERTI128", "EXTRACTF128", "EXTRACTI128"})) set_latency(description, known - 1);
  // Beyond what every way between general and vector registers takes longer (crossing_latency in core_block.cpp).
  if (of.begins({"CVTTSD2SI", "CVTSD2SI", "CVTTSS2SI", "CVTSS2SI"})) set_latency(description, known + 2);
  if (of.begins({"CVTSI2SD", "CVTSI2SS", "CVTSI642SD", "CVTSI642SS", "PEXTR"})) set_latency(description, known + 1);
}

void Zen3Instructions::correct_units(const Instruction& of, InstrDesc& description) const {
  if (of.begins({"NOOP"})) {
    description.Resources.clear();
    description.UsedBuffers = description.UsedProcResUnits = description.UsedProcResGroups = 0;
  }
  if (of.is_integer_division()) set_cycles(description, 2, of.name.find("64") != of.name.npos ? 7 : 6);
  if (of.begins({"SET"}) && !of.stores) set_cycles(description, 1, 1);
  if (of.stores && !of.from_vector)
    for (auto& [mask, usage] : description.Resources)
      if (mask == store_units_ || mask == memory_units_) usage.CS = llvm::mca::CycleSegment{0, 1, usage.isReserved()};
  if (of.stores && !of.loads && of.from_vector && !of.to_general) {
    llvm::erase_if(description.Resources, [&](const auto& use) { return use.first == vector_load_units_; });
    description.UsedProcResUnits &= ~vector_load_units_;
    description.UsedProcResGroups &= ~vector_load_units_;
  }
  if (of.begins({"LEA64r", "LEA32r", "LEA64_32r"})) {
    const MemoryOperand& sum = of.effects.memory;
    const bool is_of_three = sum.base >= 0 && sum.index >= 0 && sum.displacement != 0;
    (is_of_three ? shift_ : addition_).give(description);
    set_latency(description, is_of_three ? 2 : 1);
  }
}

bool Zen3Instructions::fuses(const Instruction& first, std::string_view branch) const {
  if (branch.starts_with("loop") || branch.ends_with("cxz") || first.effects.may_load) return false;
  static constexpr std::array<std::string_view, 9> with{"cmp", "test", "add", "sub", "and", "or", "xor", "inc", "dec"};
  return !first.loads && !first.stores && std::find(with.begin(), with.end(), first.mnemonic) != with.end();
}

void Zen3Instructions::fuse(InstrDesc& first, InstrDesc& branch) const {
  first.Resources.clear();
  first.UsedBuffers = first.UsedProcResUnits = first.UsedProcResGroups = 0;
  branch.NumMicroOps = 0;
}

}  // namespace homenode
