#include "models/core/instruction_effects.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace homenode {
namespace {

using Kind = InstructionEffects::Kind;

// LLVM's names of opcodes: their numbers are in no public header.
bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view each : names)
    if (each == name) return true;
  return false;
}

// Some of the flags, or all where the number of places is 0.
bool keeps_flags(std::string_view name) {
  static constexpr std::array<std::string_view, 5> keepers{"INC", "DEC", "ROL", "ROR", "RC"};
  return name.ends_with("CL") || std::any_of(keepers.begin(), keepers.end(), [&](std::string_view it) { return name.starts_with(it); });
}

// "addsd xmm0, qword ptr [rax + 8]" -> 8
unsigned width_of(const std::string& text) {
  const auto end = text.find(" ptr ");
  if (end == std::string::npos) return 8;
  const auto begin = text.find_last_of(" \t,{", end - 1) + 1;
  const std::string_view word = std::string_view{text}.substr(begin, end - begin);
  static constexpr std::array<std::pair<std::string_view, unsigned>, 10> widths{{{"byte", 1},
                                                                                 {"word", 2},
                                                                                 {"dword", 4},
                                                                                 {"fword", 6},
                                                                                 {"qword", 8},
                                                                                 {"tbyte", 10},
                                                                                 {"xword", 10},
                                                                                 {"xmmword", 16},
                                                                                 {"ymmword", 32},
                                                                                 {"zmmword", 64}}};
  for (const auto& [name, width] : widths)
    if (name == word) return width;
  return 8;
}

// The five operands of an address: base, scale, index, displacement, segment. -1 if there are none.
int first_of_address(const llvm::MCInst& decoded, const llvm::MCInstrDesc& description, std::string_view name) {
  const bool is_lea = name == "LEA64r" || name == "LEA64_32r";
  for (unsigned first = 0; first + 5 <= decoded.getNumOperands(); ++first) {
    const bool is_memory = first < description.getNumOperands() && description.operands()[first].OperandType == llvm::MCOI::OPERAND_MEMORY;
    if (!is_memory && !(is_lea && first == 1)) continue;
    const bool has_shape = decoded.getOperand(first).isReg() && decoded.getOperand(first + 1).isImm() &&
                           decoded.getOperand(first + 2).isReg() && decoded.getOperand(first + 3).isImm() &&
                           decoded.getOperand(first + 4).isReg();
    if (has_shape) return static_cast<int>(first);
  }
  return -1;
}

}  // namespace

int EffectsReader::general(const llvm::MCInst& decoded, unsigned operand) const {
  if (operand >= decoded.getNumOperands() || !decoded.getOperand(operand).isReg()) return CoreTarget::no_register;
  return target_.general_register(decoded.getOperand(operand).getReg());
}

InstructionEffects EffectsReader::read(const llvm::MCInst& decoded, const std::string& text) const {
  InstructionEffects effects;
  const std::string_view name = target_.instructions().getName(decoded.getOpcode());
  read_memory(decoded, text, effects);
  read_writes(decoded, effects);
  read_operation(decoded, effects);
  read_kind(decoded, name, effects);
  read_stored(decoded, name, effects);
  read_stack(decoded, name, effects);
  return effects;
}

void EffectsReader::read_memory(const llvm::MCInst& decoded, const std::string& text, InstructionEffects& effects) const {
  const llvm::MCInstrDesc& description = target_.instructions().get(decoded.getOpcode());
  const std::string_view name = target_.instructions().getName(decoded.getOpcode());
  const int first = first_of_address(decoded, description, name);
  if (first < 0) return;
  const auto at = static_cast<unsigned>(first);
  effects.memory = {.base = general(decoded, at),
                    .index = general(decoded, at + 2),
                    .scale = decoded.getOperand(at + 1).getImm(),
                    .displacement = decoded.getOperand(at + 3).getImm(),
                    .width = width_of(text)};
  // A prefetch gives no value that anyone waits for. Data of a thread's own segment lie elsewhere than the same address without it.
  if (name.starts_with("PREFETCH") || decoded.getOperand(at + 4).getReg() != 0) return;
  effects.loads = description.mayLoad();
  effects.stores = description.mayStore();
  // The last one: a mask may stand before it.
  const unsigned last = decoded.getNumOperands() - 1;
  if (effects.stores && last >= at + 5 && decoded.getOperand(last).isReg())
    effects.stores_vector = target_.is_vector_register(decoded.getOperand(last).getReg());
}

void EffectsReader::read_writes(const llvm::MCInst& decoded, InstructionEffects& effects) const {
  const llvm::MCInstrDesc& description = target_.instructions().get(decoded.getOpcode());
  const auto write = [&](int number) {
    if (number >= 0) effects.written = static_cast<std::uint16_t>(effects.written | 1U << number);
  };
  for (unsigned operand = 0; operand < description.getNumDefs() && operand < decoded.getNumOperands(); ++operand) {
    write(general(decoded, operand));
    if (operand == 0 && general(decoded, 0) == CoreTarget::no_register) effects.has_vector_result = true;
  }
  for (const auto defined : description.implicit_defs()) write(target_.general_register(defined));
}

void EffectsReader::read_operation(const llvm::MCInst& decoded, InstructionEffects& effects) const {
  const llvm::MCInstrDesc& description = target_.instructions().get(decoded.getOpcode());
  const std::string_view name = target_.instructions().getName(decoded.getOpcode());
  const auto is_flags = [&](unsigned number) { return std::string_view{target_.registers().getName(number)} == "EFLAGS"; };
  effects.may_load = description.mayLoad();
  Operation& operation = effects.operation;
  for (const auto defined : description.implicit_defs()) operation.writes_flags = operation.writes_flags || is_flags(defined);
  operation.keeps_flags = keeps_flags(name);
  const bool divides = name.starts_with("DIV") || name.starts_with("IDIV");  // LLVM has no other effect of them than a trap
  if ((description.hasUnmodeledSideEffects() && !divides) || description.isCall() || description.getNumDefs() > 1) return;
  // Addresses without an access, operands that LLVM does not list, and two of memory.
  if (name.starts_with("LEA16") || name.starts_with("CMPXCHG") || name == "LAHF" || name.starts_with("BSF") || name.starts_with("BSR") ||
      is_one_of(name, {"PUSH64rmm", "POP64rmm"}))
    return;

  bool is_whole = true;  // all that it reads is listed
  const auto read = [&](unsigned llvm_register) {
    const int number = is_flags(llvm_register) ? Operation::flags : target_.general_register(llvm_register);
    is_whole = is_whole && number >= 0 && !is_second_byte(llvm_register) && operation.read_count < operation.reads.size();
    if (is_whole) operation.reads[operation.read_count++] = static_cast<std::int8_t>(number);
  };
  std::uint64_t what = decoded.getOpcode() + 1;
  const int address = first_of_address(decoded, description, name);
  const auto is_of_address = [address](unsigned operand) {
    return address >= 0 && operand >= static_cast<unsigned>(address) && operand < static_cast<unsigned>(address) + 5;
  };
  for (unsigned number = 0; number < decoded.getNumOperands(); ++number) {
    const llvm::MCOperand& operand = decoded.getOperand(number);
    if (is_of_address(number)) continue;
    if (operand.isImm()) what = what * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(operand.getImm());
    if (!operand.isReg() || operand.getReg() == 0) continue;
    // Of a result of 8 or 16 bits the rest of the register is as before.
    if (number >= description.getNumDefs() || is_narrow(operand.getReg())) read(operand.getReg());
  }
  for (const auto used : description.implicit_uses()) read(used);
  if (is_whole) operation.what = what;
}

bool EffectsReader::is_second_byte(unsigned llvm_register) const {
  const std::string_view name = target_.registers().getName(llvm_register);
  return name.size() == 2 && name[1] == 'H';
}

bool EffectsReader::is_narrow(unsigned llvm_register) const {
  const std::string_view name = target_.registers().getName(llvm_register);
  if (target_.general_register(llvm_register) < 0) return false;
  return name.front() != 'E' && name.front() != 'R' ? true : name.front() == 'R' && (name.back() == 'B' || name.back() == 'W');
}

void EffectsReader::read_kind(const llvm::MCInst& decoded, std::string_view name, InstructionEffects& effects) const {
  const auto immediate = [&](unsigned operand) { return decoded.getOperand(operand).isImm() ? decoded.getOperand(operand).getImm() : 0; };
  const auto become = [&](Kind kind, int source, std::int64_t constant) {
    effects.kind = kind;
    effects.target = general(decoded, 0);
    effects.source = source;
    effects.constant = constant;
  };
  if (is_one_of(name, {"MOV64rr", "MOV64rr_REV", "MOV32rr", "MOV32rr_REV", "MOVSX64rr32"})) become(Kind::copy, general(decoded, 1), 0);
  if (name == "CDQE") {
    become(Kind::copy, CoreTarget::rax, 0);
    effects.target = CoreTarget::rax;
  }
  if (is_one_of(name, {"ADD64ri8", "ADD64ri32", "ADD32ri8", "ADD32ri"})) become(Kind::add_constant, general(decoded, 1), immediate(2));
  if (is_one_of(name, {"SUB64ri8", "SUB64ri32", "SUB32ri8", "SUB32ri"})) become(Kind::add_constant, general(decoded, 1), -immediate(2));
  // The short forms of eax and rax name no register.
  const bool adds_to_rax = is_one_of(name, {"ADD64i32", "ADD32i32"}), subtracts_from_rax = is_one_of(name, {"SUB64i32", "SUB32i32"});
  if (adds_to_rax || subtracts_from_rax) {
    become(Kind::add_constant, CoreTarget::rax, adds_to_rax ? immediate(0) : -immediate(0));
    effects.target = CoreTarget::rax;
  }
  if (is_one_of(name, {"SHL64r1", "SHL32r1"})) become(Kind::scale, general(decoded, 1), 2);
  if (is_one_of(name, {"INC64r", "INC32r"})) become(Kind::add_constant, general(decoded, 1), 1);
  if (is_one_of(name, {"DEC64r", "DEC32r"})) become(Kind::add_constant, general(decoded, 1), -1);
  if (is_one_of(name, {"ADD64rr", "ADD64rr_REV", "ADD32rr", "ADD32rr_REV"})) become(Kind::add_register, general(decoded, 2), 0);
  if (is_one_of(name, {"SHL64ri", "SHL32ri"})) become(Kind::scale, general(decoded, 1), std::int64_t{1} << (immediate(2) & 63));
  if (is_one_of(name, {"IMUL64rri8", "IMUL64rri32", "IMUL32rri8", "IMUL32rri"})) become(Kind::scale, general(decoded, 1), immediate(2));
  if (is_one_of(name, {"LEA64r", "LEA64_32r"})) become(Kind::address, CoreTarget::no_register, 0);
  if (is_one_of(name, {"MOV64ri", "MOV64ri32"})) become(Kind::constant, CoreTarget::no_register, immediate(1));
  if (name == "MOV32ri") become(Kind::constant, CoreTarget::no_register, static_cast<std::uint32_t>(immediate(1)));
  if (is_one_of(name, {"SUB64rr", "SUB64rr_REV", "SUB32rr", "SUB32rr_REV"})) become(Kind::subtract_register, general(decoded, 2), 0);
  const bool clears = is_one_of(name, {"XOR32rr", "XOR64rr", "SUB32rr", "SUB64rr", "XOR32rr_REV", "XOR64rr_REV"});
  if (clears && general(decoded, 1) == general(decoded, 2)) become(Kind::constant, CoreTarget::no_register, 0);
  if (is_one_of(name, {"MOV64rm", "MOV32rm", "MOVSX64rm32"}) && effects.loads) become(Kind::copy, CoreTarget::no_register, 0);
}

void EffectsReader::read_stored(const llvm::MCInst& decoded, std::string_view name, InstructionEffects& effects) const {
  if (!effects.stores || decoded.getNumOperands() == 0) return;
  const llvm::MCOperand& last = decoded.getOperand(decoded.getNumOperands() - 1);
  const auto become = [&](InstructionEffects::Stored stored, std::int64_t constant) {
    effects.stored = stored;
    effects.constant = constant;
  };
  if (is_one_of(name, {"MOV64mr", "MOV32mr", "MOV16mr", "MOV8mr"}) && last.isReg() && !is_second_byte(last.getReg())) {
    effects.stored = InstructionEffects::Stored::source;
    effects.source = target_.general_register(last.getReg());
  }
  if (is_one_of(name, {"INC64m", "INC32m"})) become(InstructionEffects::Stored::add_constant, 1);
  if (is_one_of(name, {"DEC64m", "DEC32m"})) become(InstructionEffects::Stored::add_constant, -1);
  if (!last.isImm()) return;
  if (is_one_of(name, {"MOV64mi32", "MOV32mi", "MOV16mi", "MOV8mi"})) become(InstructionEffects::Stored::constant, last.getImm());
  if (is_one_of(name, {"ADD64mi8", "ADD64mi32", "ADD32mi8", "ADD32mi"})) become(InstructionEffects::Stored::add_constant, last.getImm());
  if (is_one_of(name, {"SUB64mi8", "SUB64mi32", "SUB32mi8", "SUB32mi"})) become(InstructionEffects::Stored::add_constant, -last.getImm());
}

void EffectsReader::read_stack(const llvm::MCInst& decoded, std::string_view name, InstructionEffects& effects) const {
  const bool pushes = name.starts_with("PUSH64"), pops = name.starts_with("POP64");
  const bool calls = name.starts_with("CALL64"), returns = name.starts_with("RET");
  effects.moves_stack_pointer = pushes || pops || calls || returns;
  if (pushes) {
    effects.kind = Kind::push;
    effects.stores = true;
    effects.loads = false;  // what it reads from memory lies elsewhere
    if (name == "PUSH64r") {
      effects.stored = InstructionEffects::Stored::source;
      effects.source = general(decoded, 0);
    }
  }
  if (pops) {
    effects.kind = Kind::pop;
    effects.loads = true;
    effects.stores = false;  // what it writes to memory lies elsewhere
    effects.target = name == "POP64r" ? general(decoded, 0) : CoreTarget::no_register;
  }
  if (name == "LEAVE64") {
    effects.kind = Kind::leave;
    effects.loads = true;
  }
  if (calls) effects.kind = Kind::call;
}

}  // namespace homenode
