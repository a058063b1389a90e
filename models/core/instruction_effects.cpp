#include "models/core/instruction_effects.hpp"

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
  read_kind(decoded, name, effects);
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
  if (name == "MOV64mr") effects.stored = general(decoded, at + 5);
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

void EffectsReader::read_kind(const llvm::MCInst& decoded, std::string_view name, InstructionEffects& effects) const {
  const auto immediate = [&](unsigned operand) { return decoded.getOperand(operand).isImm() ? decoded.getOperand(operand).getImm() : 0; };
  const auto become = [&](Kind kind, int source, std::int64_t constant) {
    effects.kind = kind;
    effects.target = general(decoded, 0);
    effects.source = source;
    effects.constant = constant;
  };
  if (is_one_of(name, {"MOV64rr", "MOV64rr_REV"})) become(Kind::copy, general(decoded, 1), 0);
  if (is_one_of(name, {"ADD64ri8", "ADD64ri32"})) become(Kind::add_constant, general(decoded, 1), immediate(2));
  if (is_one_of(name, {"SUB64ri8", "SUB64ri32"})) become(Kind::add_constant, general(decoded, 1), -immediate(2));
  if (name == "INC64r") become(Kind::add_constant, general(decoded, 1), 1);
  if (name == "DEC64r") become(Kind::add_constant, general(decoded, 1), -1);
  if (is_one_of(name, {"ADD64rr", "ADD64rr_REV"})) become(Kind::add_register, general(decoded, 2), 0);
  if (name == "LEA64r") become(Kind::address, CoreTarget::no_register, 0);
  if (is_one_of(name, {"MOV64ri", "MOV64ri32"})) become(Kind::constant, CoreTarget::no_register, immediate(1));
  if (name == "MOV32ri") become(Kind::constant, CoreTarget::no_register, static_cast<std::uint32_t>(immediate(1)));
  const bool clears = is_one_of(name, {"XOR32rr", "XOR64rr", "SUB32rr", "SUB64rr", "XOR32rr_REV", "XOR64rr_REV"});
  if (clears && general(decoded, 1) == general(decoded, 2)) become(Kind::constant, CoreTarget::no_register, 0);
  if (name == "MOV64rm" && effects.loads) become(Kind::copy, CoreTarget::no_register, 0);
}

void EffectsReader::read_stack(const llvm::MCInst& decoded, std::string_view name, InstructionEffects& effects) const {
  const bool pushes = name.starts_with("PUSH64"), pops = name.starts_with("POP64");
  const bool calls = name.starts_with("CALL64"), returns = name.starts_with("RET");
  effects.moves_stack_pointer = pushes || pops || calls || returns;
  if (pushes) {
    effects.kind = Kind::push;
    effects.stores = true;
    effects.stored = name == "PUSH64r" ? general(decoded, 0) : CoreTarget::no_register;
  }
  if (pops) {
    effects.kind = Kind::pop;
    effects.loads = true;
    effects.target = name == "POP64r" ? general(decoded, 0) : CoreTarget::no_register;
  }
  if (name == "LEAVE64") {
    effects.kind = Kind::leave;
    effects.loads = true;
  }
  if (calls) effects.kind = Kind::call;
}

}  // namespace homenode
