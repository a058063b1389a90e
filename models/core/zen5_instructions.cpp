#include "models/core/zen5_instructions.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/MCA/Support.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "models/core/zen5_subtarget.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

using llvm::mca::CycleSegment;
using llvm::mca::InstrDesc;

using Names = std::initializer_list<std::string_view>;

// LLVM's name of an opcode without the V of its form with three operands: VADDSDrm -> ADDSDrm.
std::string_view legacy(std::string_view name) { return name.starts_with('V') ? name.substr(1) : name; }

bool begins(std::string_view name, const Names& with) {
  return std::any_of(with.begin(), with.end(), [&](std::string_view each) { return name.starts_with(each); });
}

// Additions and subtractions of floating-point numbers, but for those within a register (HADD) and in turns (ADDSUB).
bool is_addition(std::string_view name) { return begins(name, {"ADDSD", "ADDSS", "ADDPD", "ADDPS", "SUBSD", "SUBSS", "SUBPD", "SUBPS"}); }
bool is_division(std::string_view name) { return begins(name, {"DIVSD", "DIVPD"}); }
bool is_square_root(std::string_view name) { return begins(name, {"SQRTSD", "SQRTPD"}); }
bool is_integer_division(std::string_view name) { return begins(name, {"DIV64", "IDIV64", "DIV32", "IDIV32"}); }
// A register's lowest element into another register.
bool is_merge(std::string_view name) { return begins(name, {"MOVSDrr", "MOVSSrr", "MOVSDZrr", "MOVSSZrr"}); }
// A load and nothing else: MOVHPD and its kin merge, MOVSHDUP and its kin shuffle, MOVBE swaps bytes.
bool is_plain_load(std::string_view name) {
  return begins(name, {"MOV", "LDDQU"}) && !begins(name, {"MOVH", "MOVLP", "MOVSHDUP", "MOVSLDUP", "MOVDDUP", "MOVBE"});
}
// Between elements, on any of the four pipes.
bool is_shuffle(std::string_view name) {
  return begins(name, {"PSHUFD", "PSHUFL", "PSHUFH", "PUNPCK", "UNPCK", "SHUFP", "MOVDDUP", "PERMILP", "MOVHLPS", "MOVLHPS"}) ||
         is_merge(name);
}
// LLVM has twice the cycles.
bool is_single_cycle(std::string_view name) {
  const bool is_fused =
      begins(name, {"FMADD", "FMSUB", "FNMADD", "FNMSUB"}) && (name.find("SD") != name.npos || name.find("SS") != name.npos);
  return is_fused || begins(name, {"CMPSD", "CMPSS", "CMPPD", "CMPPS", "MINS", "MAXS", "MINP", "MAXP", "UCOMIS", "COMIS"});
}
// On two pipes; LLVM has one.
bool is_permutation(std::string_view name) {
  return begins(name, {"INSERTF128",   "EXTRACTF128", "INSERTI128",  "EXTRACTI128",  "INSERTF32X4",  "INSERTF64X2", "EXTRACTF32X4",
                       "EXTRACTF64X2", "INSERTI32X4", "INSERTI64X2", "EXTRACTI32X4", "EXTRACTI64X2", "PERM2F128",   "PERM2I128",
                       "BROADCASTS",   "PALIGNR",     "PSLLDQ",      "PSRLDQ",       "PERMPD",       "PERMQ"});
}
// Conditional moves whose condition reads more than one flag: a cycle more than those of one flag.
bool is_of_two_flags(std::string_view mnemonic) {
  for (const std::string_view each : {"cmovl", "cmovge", "cmovg", "cmovle", "cmova", "cmovbe"})
    if (mnemonic == each) return true;
  return false;
}

void set_latency(InstrDesc& description, int cycles) {
  description.MaxLatency = static_cast<unsigned>(std::max(cycles, 0));
  for (auto& write : description.Writes) write.Latency = description.MaxLatency;
}

void set_cycles(InstrDesc& description, unsigned longer_than, unsigned cycles) {
  for (auto& [mask, usage] : description.Resources)
    if (usage.size() > longer_than) usage.CS = CycleSegment{0, cycles, usage.isReserved()};
}

void set_operations(InstrDesc& description, unsigned count) {
  description.NumMicroOps = count;
  set_cycles(description, 0, count);
}

}  // namespace

struct Zen5Instructions::Pattern {
  Pattern(CoreTarget& target, const std::vector<std::uint8_t>& bytes) {
    llvm::MCInst decoded;
    std::uint64_t size = 0;
    if (target.decoder().getInstruction(decoded, size, bytes, 0, llvm::nulls()) == llvm::MCDisassembler::Fail)
      throw Error("LLVM decodes no instruction of a Zen 5");
    instruction = target.scheduled(decoded);
    if (!instruction) throw Error("LLVM schedules no instruction of a Zen 5");
  }
  void give_units(InstrDesc& description) const {
    const InstrDesc& own = instruction->getDesc();
    description.Resources = own.Resources;
    description.UsedBuffers = own.UsedBuffers;
    description.UsedProcResUnits = own.UsedProcResUnits;
    description.UsedProcResGroups = own.UsedProcResGroups;
    description.HasPartiallyOverlappingGroups = own.HasPartiallyOverlappingGroups;
    description.NumMicroOps = own.NumMicroOps;
  }
  std::unique_ptr<llvm::mca::Instruction> instruction;
};

struct Zen5Instructions::Operation {
  std::string_view name, mnemonic;  // LLVM's, without V; as it is written
  const InstructionEffects& effects;
  bool loads, stores;
  bool to_vector, from_vector, to_general, from_general;  // which registers it writes and reads
  bool clears;                                            // what it writes is zero, whatever it reads
  bool is_wide;                                           // vectors of 512 bits, whose units were not measured: Zen 4's stay
};

Zen5Instructions::Zen5Instructions(CoreTarget& target) : target_{target} {
  addition_ = std::make_unique<Pattern>(target, std::vector<std::uint8_t>{0x48, 0x83, 0xc0, 0x01});           // add $1, %rax
  vector_addition_ = std::make_unique<Pattern>(target, std::vector<std::uint8_t>{0x66, 0x0f, 0xfe, 0xc1});    // paddd %xmm1, %xmm0
  permutation_ = std::make_unique<Pattern>(target, std::vector<std::uint8_t>{0x66, 0x0f, 0x38, 0x00, 0xc1});  // pshufb %xmm1, %xmm0
  conversion_ = std::make_unique<Pattern>(target, std::vector<std::uint8_t>{0xf2, 0x48, 0x0f, 0x2c, 0xc0});   // cvttsd2si %xmm0, %rax
  const llvm::MCSchedModel& model = target.model();
  std::vector<std::uint64_t> masks(model.getNumProcResourceKinds());
  llvm::mca::computeProcResourceMasks(model, masks);
  for (unsigned index = 0; index < masks.size(); ++index)
    if (std::string_view{model.getProcResource(index)->Name} == "Zn4FP45") vector_load_units_ = masks[index];
  if (vector_load_units_ == 0) throw Error("LLVM's model of znver5 has no Zn4FP45");
}

Zen5Instructions::~Zen5Instructions() = default;

void Zen5Instructions::correct(const llvm::MCInst& decoded, const std::string& text, const InstructionEffects& effects,
                               const llvm::mca::Instruction& plain, InstrDesc& description) const {
  const auto is_general = [&](const auto& operand) { return target_.general_register(operand.getRegisterID()) >= 0; };
  const auto is_vector = [&](const auto& operand) { return target_.is_vector_register(operand.getRegisterID()); };
  const std::string mnemonic = CoreTarget::mnemonic(text);
  const Operation operation{.name = legacy(target_.instructions().getName(decoded.getOpcode())),
                            .mnemonic = mnemonic,
                            .effects = effects,
                            .loads = plain.getMayLoad(),
                            .stores = plain.getMayStore(),
                            .to_vector = llvm::any_of(plain.getDefs(), is_vector),
                            .from_vector = llvm::any_of(plain.getUses(), is_vector),
                            .to_general = llvm::any_of(plain.getDefs(), is_general),
                            .from_general = llvm::any_of(plain.getUses(), is_general),
                            .clears = llvm::any_of(plain.getDefs(), [](const auto& write) { return write.isWriteZero(); }),
                            .is_wide = text.find("zmm") != std::string::npos};
  correct_latency(operation, description);
  correct_units(operation, description);
  correct_addition(operation, description);
}

void Zen5Instructions::correct_latency(const Operation& of, InstrDesc& description) const {
  const auto known = static_cast<int>(description.MaxLatency);
  if (of.loads && !of.stores && is_plain_load(of.name) && known > 2) {
    const int scaled = of.effects.memory.index >= 0 && of.effects.memory.scale > 1 ? 1 : 0;
    const int extended = begins(of.name, {"MOVSX"}) ? 1 : 0;
    set_latency(description, of.to_vector ? known - 2 + scaled : known - 1 + scaled + extended);
  }
  // Integers, bits and elements of vectors: 2 cycles, 1 on a Zen 4.
  constexpr int load = 7;
  if (of.to_vector && !of.stores && !of.from_general && !of.loads && !of.clears && known == 1 && !is_merge(of.name))
    set_latency(description, 2);
  const bool works_on_load = of.loads && !is_plain_load(of.name) && !begins(of.name, {"BROADCAST", "PBROADCAST"});
  if (of.to_vector && works_on_load && !of.stores && known == 1 + load) set_latency(description, 2 + load);
  if (is_of_two_flags(of.mnemonic)) set_latency(description, known + 1);
  if (begins(of.name, {"HADDP", "HSUBP"})) set_latency(description, known + 1);
  if (begins(of.name, {"PERMPDY", "PERMQY"}) && !of.loads && known > 4) set_latency(description, known - 2);
  // By how many bits the quotient has: 10 to 16 cycles of 64 bits, 10 to 13 of 32. Those of a quotient of ten bits are taken.
  if (is_integer_division(of.name)) set_latency(description, known - (of.name.find("64") != of.name.npos ? 5 : 2));
}

void Zen5Instructions::correct_units(const Operation& of, InstrDesc& description) const {
  if (of.is_wide) return;
  if (is_shuffle(of.name) && !of.loads && !of.stores) vector_addition_->give_units(description);
  if (is_permutation(of.name) && !of.loads && !of.stores) permutation_->give_units(description);
  if (is_single_cycle(of.name)) set_cycles(description, 1, 1);
  if (is_division(of.name)) set_cycles(description, 2, 4);
  if (is_square_root(of.name)) set_cycles(description, 2, 8);
  if (is_integer_division(of.name)) set_cycles(description, 2, of.name.find("64") != of.name.npos ? 7 : 6);
  if (begins(of.name, {"CMOV"}) && of.to_general && !of.loads) {
    addition_->give_units(description);
    if (is_of_two_flags(of.mnemonic)) set_operations(description, 2);
  }
  if (begins(of.name, {"SET"}) && !of.stores) addition_->give_units(description);
  if (begins(of.name, {"MOVP", "MOVMSKP", "PMOVMSKB"}) && of.to_general && of.from_vector && !of.loads && !of.stores)
    conversion_->give_units(description);
  if (begins(of.name, {"LEA64r", "LEA32r", "LEA64_32r"})) {
    const MemoryOperand& sum = of.effects.memory;
    const bool is_of_three = sum.base >= 0 && sum.index >= 0 && sum.displacement != 0;
    if (!is_of_three) {
      addition_->give_units(description);
      set_latency(description, 1);
    }
  }
  const bool is_vector_store = of.stores && !of.loads && of.from_vector && !of.to_general;
  if (is_vector_store) {
    llvm::erase_if(description.Resources, [&](const auto& use) { return use.first == vector_load_units_; });
    description.UsedProcResUnits &= ~vector_load_units_;
  }
}

void Zen5Instructions::correct_addition(const Operation& of, InstrDesc& description) const {
  const bool is_masked = of.name.find('k') != of.name.npos;  // its operands stand elsewhere
  if (!is_addition(of.name) || is_masked || description.Writes.empty()) return;
  const Zen5Subtarget* const zen5 = target_.zen5();
  for (auto& write : description.Writes) write.SClassOrWriteResourceID = Zen5Subtarget::sum;
  for (auto& read : description.Reads)
    if (!read.isImplicitRead()) read.SchedClassID = of.loads ? zen5->addition_of_memory() : zen5->addition_of_registers();
}

}  // namespace homenode
