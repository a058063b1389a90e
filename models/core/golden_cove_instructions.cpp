#include "models/core/golden_cove_instructions.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/MCA/Support.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace homenode {
namespace {

using llvm::mca::InstrDesc;
using Instruction = CorrectedInstruction;

constexpr unsigned parts_of_address = 5;  // an instruction's operands in LLVM

// Of 64 bits, a constant of eleven bits: renaming adds it. No cycle, no unit.
bool is_renamed_addition(const Instruction& of) {
  constexpr std::int64_t least = -1024, most = 1023;
  const auto is_small = [](std::int64_t constant) { return constant >= least && constant <= most; };
  if (of.loads || of.stores) return false;
  if (of.begins({"INC64r", "DEC64r"})) return true;
  const MemoryOperand& sum = of.effects.memory;
  if (of.begins({"LEA64r"})) return sum.base >= 0 && sum.index < 0 && is_small(sum.displacement);
  if (!of.begins({"ADD64ri", "ADD64i32", "SUB64ri", "SUB64i32"})) return false;
  const llvm::MCOperand& last = of.decoded.getOperand(of.decoded.getNumOperands() - 1);
  return last.isImm() && is_small(last.getImm());
}

// To another register. To the same one it is executed, as by `movzbl %al, %eax`.
bool is_renamed_move(const CoreTarget& target, const Instruction& of) {
  if (of.loads || of.stores) return false;
  if (of.begins({"MOV64ri", "MOV32ri"})) return true;
  if (of.begins({"MOV64rr", "MOV32rr", "MOVZX32rr8"}))
    return target.general_register(of.decoded.getOperand(0).getReg()) != target.general_register(of.decoded.getOperand(1).getReg());
  return of.begins({"MOVAPS", "MOVAPD", "MOVUPS", "MOVUPD", "MOVDQA", "MOVDQU"}) && of.name.find('k') == of.name.npos && !of.is_wide;
}

// addq %rdx, (%rsi)
bool updates_by_register(const Instruction& of) {
  const unsigned count = of.decoded.getNumOperands();
  return of.loads && of.stores && count > parts_of_address && of.decoded.getOperand(count - 1).isReg();
}

bool is_bitwise(const Instruction& of) {
  return of.begins({"AND64", "AND32", "AND16", "AND8", "OR64", "OR32", "OR16", "OR8", "XOR64", "XOR32", "XOR16", "XOR8"});
}

// cmpl $1, (%rsi)
bool has_constant_beside_memory(const Instruction& of) {
  const unsigned count = of.decoded.getNumOperands();
  return count > parts_of_address && of.decoded.getOperand(count - 1).isImm();
}

void set_free(InstrDesc& description) {
  description.Resources.clear();
  description.UsedBuffers = description.UsedProcResUnits = description.UsedProcResGroups = 0;
  description.NumMicroOps = 1;
  set_latency(description, 0);
}

}  // namespace

GoldenCoveInstructions::GoldenCoveInstructions(CoreTarget& target)
    : target_{target},
      addition_{target, {0x48, 0x01, 0xd0}},    // add %rdx, %rax
      shift_{target, {0x48, 0xd1, 0xe0}},       // shl %rax
      scaled_sum_{target, {0x48, 0x63, 0xc2}},  // movslq %edx, %rax
      wide_addition_{target, {0xd9, 0xee}},     // fldz, which takes the ports of vaddpd %zmm1, %zmm0, %zmm0
      any_integer_unit_{unit_mask(target, "SPRPort00_01_05_06_10")},
      divider_{unit_mask(target, "SPRPortInvalid")} {}  // no instruction of LLVM's takes it

void GoldenCoveInstructions::correct(const Instruction& of, InstrDesc& description) const {
  correct_latency(of, description);
  correct_units(of, description);
  correct_division(of, description);
  if (of.is_addition() && !of.is_wide) set_addition(target_, of, description);
  // What the front end hands over. LLVM counts the parts that are executed, and none of moves, jumps and no-operations. A load with its
  // operation and a store are one each where they are of general registers. Vector code reaches no more than its parts allow: see 0076.
  unsigned& slots = description.NumMicroOps;
  const bool is_of_vectors = of.to_vector || of.from_vector;
  if (of.loads && !is_of_vectors && slots > 1) --slots;
  if (of.stores && !is_of_vectors && slots > 1) --slots;
  slots = std::max(slots, 1U);
  if (of.clears || is_renamed_addition(of) || is_renamed_move(target_, of)) set_free(description);
}

void GoldenCoveInstructions::correct_latency(const Instruction& of, InstrDesc& description) const {
  constexpr int of_load = 5, of_operation = 1, of_store = 1;
  const auto known = static_cast<int>(description.MaxLatency);
  if (of.stores) {  // LLVM has 12, as long as a load that reads it takes by uops.info; when the data are there is the load-store unit's
    const int of_update = of_load + of_operation + of_store + (updates_by_register(of) ? of_operation : 0);
    set_latency(description, of.loads ? of_update : of_store);
    return;
  }
  if (of.to_vector && of.from_general && !of.loads) set_latency(description, known - 2);
  if (of.loads && of.to_vector) set_latency(description, known - static_cast<int>(loads_sooner(of.effects)));
  const bool is_executed_move = of.begins({"MOV64rr", "MOV32rr", "MOVZX32rr8"});
  if ((is_bitwise(of) && !of.loads) || is_executed_move) set_latency(description, 1);
  if (of.begins({"HADDP", "HSUBP"}) && known > 5) set_latency(description, known - 1);
  if (of.begins({"SHLX", "SHRX", "SARX"}) && !of.loads) set_latency(description, 1);
}

void GoldenCoveInstructions::correct_units(const Instruction& of, InstrDesc& description) const {
  if (of.begins({"SHLX", "SHRX", "SARX"}) && !of.loads) shift_.give(description);
  if (of.begins({"SET"}) && !of.stores) {
    shift_.give(description);
    set_latency(description, 1);
  }
  const bool is_of_two_flags = of.mnemonic == "cmova" || of.mnemonic == "cmovbe" || of.mnemonic == "seta" || of.mnemonic == "setbe";
  if (is_of_two_flags && !of.loads && !of.stores) {
    shift_.give(description);
    description.NumMicroOps = 2;
    set_cycles(description, 0, 2);
    set_latency(description, 2);
  }
  if (of.begins({"LEA64r", "LEA32r", "LEA64_32r"})) {
    const MemoryOperand& sum = of.effects.memory;
    const bool is_scaled = sum.index >= 0 && (sum.scale > 1 || sum.base < 0);
    (is_scaled ? scaled_sum_ : addition_).give(description);
    set_latency(description, is_scaled ? 2 : 1);
  }
  const bool multiplies = of.begins({"MULPD", "MULPS", "FMADD", "FMSUB", "FNMADD", "FNMSUB"});
  if (of.is_wide && multiplies && !of.loads) wide_addition_.give(description);
}

// LLVM has an operation on port 0 for all of them, as if another could begin in the next cycle.
void GoldenCoveInstructions::correct_division(const Instruction& of, InstrDesc& description) const {
  struct Division {
    std::string_view begin;
    unsigned cycles;  // after which another can begin
    int sooner;       // by which it ends before LLVM's
  };
  static constexpr std::array<Division, 16> divisions{{{"DIVSD", 4, 0},
                                                       {"DIVSS", 3, 0},
                                                       {"DIVPDY", 8, 0},
                                                       {"DIVPSY", 5, 0},
                                                       {"DIVPD", 4, 0},
                                                       {"DIVPS", 3, 0},
                                                       {"SQRTSD", 6, 0},
                                                       {"SQRTSS", 3, 0},
                                                       {"SQRTPDY", 12, 0},
                                                       {"SQRTPD", 6, 0},
                                                       {"SQRTPSY", 6, 0},
                                                       {"SQRTPS", 3, 0},
                                                       {"DIV64", 10, 4},
                                                       {"IDIV64", 10, 4},
                                                       {"DIV32", 6, 4},
                                                       {"IDIV32", 6, 3}}};
  const auto* const found =
      std::find_if(divisions.begin(), divisions.end(), [&](const Division& each) { return of.name.starts_with(each.begin); });
  if (found == divisions.end() || of.is_wide) return;
  set_latency(description, static_cast<int>(description.MaxLatency) - found->sooner);
  description.Resources.insert(description.Resources.begin(),
                               {divider_, llvm::mca::ResourceUsage{llvm::mca::CycleSegment{0, found->cycles, false}}});
  description.UsedProcResUnits |= divider_;
}

unsigned GoldenCoveInstructions::loads_sooner(const InstructionEffects& effects) const { return effects.has_vector_result ? 2 : 0; }

bool GoldenCoveInstructions::fuses(const Instruction& first, std::string_view branch) const {
  const auto is_one_of = [](std::string_view name, std::initializer_list<std::string_view> those) {
    return std::find(those.begin(), those.end(), name) != those.end();
  };
  if (first.stores || (first.loads && has_constant_beside_memory(first))) return false;
  if (is_one_of(first.mnemonic, {"test", "and"})) return true;
  const bool is_of_sign = is_one_of(branch, {"js", "jns", "jp", "jnp", "jo", "jno"});
  const bool is_of_carry = is_one_of(branch, {"jb", "jae", "ja", "jbe"});
  if (is_one_of(first.mnemonic, {"cmp", "add", "sub"})) return !is_of_sign;
  return is_one_of(first.mnemonic, {"inc", "dec"}) && !is_of_sign && !is_of_carry;
}

void GoldenCoveInstructions::fuse(InstrDesc& first, InstrDesc& branch) const {
  llvm::erase_if(first.Resources, [&](const auto& use) { return use.first == any_integer_unit_; });
  first.UsedProcResGroups &= ~any_integer_unit_;
  branch.NumMicroOps = 0;
}

}  // namespace homenode
