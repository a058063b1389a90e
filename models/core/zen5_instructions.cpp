#include "models/core/zen5_instructions.hpp"

#include <llvm/ADT/STLExtras.h>

#include <string_view>

namespace homenode {
namespace {

using llvm::mca::InstrDesc;
using Instruction = CorrectedInstruction;

bool is_division(const Instruction& of) { return of.begins({"DIVSD", "DIVPD"}); }
bool is_square_root(const Instruction& of) { return of.begins({"SQRTSD", "SQRTPD"}); }
// A register's lowest element into another register.
bool is_merge(const Instruction& of) { return of.begins({"MOVSDrr", "MOVSSrr", "MOVSDZrr", "MOVSSZrr"}); }
// Between elements, on any of the four pipes.
bool is_shuffle(const Instruction& of) {
  return of.begins({"PSHUFD", "PSHUFL", "PSHUFH", "PUNPCK", "UNPCK", "SHUFP", "MOVDDUP", "PERMILP", "MOVHLPS", "MOVLHPS"}) || is_merge(of);
}
// LLVM has twice the cycles.
bool is_single_cycle(const Instruction& of) {
  const bool is_fused =
      of.begins({"FMADD", "FMSUB", "FNMADD", "FNMSUB"}) && (of.name.find("SD") != of.name.npos || of.name.find("SS") != of.name.npos);
  return is_fused || of.begins({"CMPSD", "CMPSS", "CMPPD", "CMPPS", "MINS", "MAXS", "MINP", "MAXP", "UCOMIS", "COMIS"});
}
// On two pipes; LLVM has one.
bool is_permutation(const Instruction& of) {
  return of.begins({"INSERTF128",   "EXTRACTF128", "INSERTI128",  "EXTRACTI128",  "INSERTF32X4",  "INSERTF64X2", "EXTRACTF32X4",
                    "EXTRACTF64X2", "INSERTI32X4", "INSERTI64X2", "EXTRACTI32X4", "EXTRACTI64X2", "PERM2F128",   "PERM2I128",
                    "BROADCASTS",   "PALIGNR",     "PSLLDQ",      "PSRLDQ",       "PERMPD",       "PERMQ"});
}
// Conditional moves whose condition reads more than one flag: a cycle more than those of one flag.
bool is_of_two_flags(std::string_view mnemonic) {
  for (const std::string_view each : {"cmovl", "cmovge", "cmovg", "cmovle", "cmova", "cmovbe"})
    if (mnemonic == each) return true;
  return false;
}

void set_operations(InstrDesc& description, unsigned count) {
  description.NumMicroOps = count;
  set_cycles(description, 0, count);
}

}  // namespace

Zen5Instructions::Zen5Instructions(CoreTarget& target)
    : target_{target},
      addition_{target, {0x48, 0x83, 0xc0, 0x01}},           // add $1, %rax
      vector_addition_{target, {0x66, 0x0f, 0xfe, 0xc1}},    // paddd %xmm1, %xmm0
      permutation_{target, {0x66, 0x0f, 0x38, 0x00, 0xc1}},  // pshufb %xmm1, %xmm0
      conversion_{target, {0xf2, 0x48, 0x0f, 0x2c, 0xc0}},   // cvttsd2si %xmm0, %rax
      vector_load_units_{unit_mask(target, "Zn4FP45")} {}

void Zen5Instructions::correct(const Instruction& of, InstrDesc& description) const {
  correct_latency(of, description);
  correct_units(of, description);
  if (of.is_addition()) set_addition(target_, of, description);
}

void Zen5Instructions::correct_latency(const Instruction& of, InstrDesc& description) const {
  const auto known = static_cast<int>(description.MaxLatency);
  if (of.loads && !of.stores && of.is_plain_load() && known > 2) {
    const int scaled = of.effects.memory.index >= 0 && of.effects.memory.scale > 1 ? 1 : 0;
    const int extended = of.begins({"MOVSX"}) ? 1 : 0;
    set_latency(description, of.to_vector ? known - 2 + scaled : known - 1 + scaled + extended);
  }
  // Integers, bits and elements of vectors: 2 cycles, 1 on a Zen 4.
  constexpr int load = 7;
  if (of.to_vector && !of.stores && !of.from_general && !of.loads && !of.clears && known == 1 && !is_merge(of)) set_latency(description, 2);
  const bool works_on_load = of.loads && !of.is_plain_load() && !of.begins({"BROADCAST", "PBROADCAST"});
  if (of.to_vector && works_on_load && !of.stores && known == 1 + load) set_latency(description, 2 + load);
  if (is_of_two_flags(of.mnemonic)) set_latency(description, known + 1);
  if (of.begins({"HADDP", "HSUBP"})) set_latency(description, known + 1);
  if (of.begins({"PERMPDY", "PERMQY"}) && !of.loads && known > 4) set_latency(description, known - 2);
  // By how many bits the quotient has: 10 to 16 cycles of 64 bits, 10 to 13 of 32. Those of a quotient of ten bits are taken.
  if (of.is_integer_division()) set_latency(description, known - (of.name.find("64") != of.name.npos ? 5 : 2));
}

void Zen5Instructions::correct_units(const Instruction& of, InstrDesc& description) const {
  if (of.is_wide) return;
  if (is_shuffle(of) && !of.loads && !of.stores) vector_addition_.give(description);
  if (is_permutation(of) && !of.loads && !of.stores) permutation_.give(description);
  if (is_single_cycle(of)) set_cycles(description, 1, 1);
  if (is_division(of)) set_cycles(description, 2, 4);
  if (is_square_root(of)) set_cycles(description, 2, 8);
  if (of.is_integer_division()) set_cycles(description, 2, of.name.find("64") != of.name.npos ? 7 : 6);
  if (of.begins({"CMOV"}) && of.to_general && !of.loads) {
    addition_.give(description);
    if (is_of_two_flags(of.mnemonic)) set_operations(description, 2);
  }
  if (of.begins({"SET"}) && !of.stores) addition_.give(description);
  if (of.begins({"MOVP", "MOVMSKP", "PMOVMSKB"}) && of.to_general && of.from_vector && !of.loads && !of.stores)
    conversion_.give(description);
  if (of.begins({"LEA64r", "LEA32r", "LEA64_32r"})) {
    const MemoryOperand& sum = of.effects.memory;
    const bool is_of_three = sum.base >= 0 && sum.index >= 0 && sum.displacement != 0;
    if (!is_of_three) {
      addition_.give(description);
      set_latency(description, 1);
    }
  }
  const bool is_vector_store = of.stores && !of.loads && of.from_vector && !of.to_general;
  if (is_vector_store) {
    llvm::erase_if(description.Resources, [&](const auto& use) { return use.first == vector_load_units_; });
    description.UsedProcResUnits &= ~vector_load_units_;
  }
}

}  // namespace homenode
