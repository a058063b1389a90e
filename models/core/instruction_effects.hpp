// What an instruction does to the general registers and to memory, as far as addresses can be followed from its code alone.
#pragma once

#include <llvm/MC/MCInst.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "models/core/core_target.hpp"

namespace homenode {

// Registers by CoreTarget's numbers.
struct MemoryOperand {
  int base = CoreTarget::no_register, index = CoreTarget::no_register;
  std::int64_t scale = 1, displacement = 0;
  unsigned width = 8;  // bytes
};

struct InstructionEffects {
  // unknown: what it writes becomes unknown. The others write `target` alone.
  enum class Kind : std::uint8_t { unknown, constant, copy, add_constant, add_register, address, push, pop, leave, call };
  Kind kind = Kind::unknown;
  int target = CoreTarget::no_register, source = CoreTarget::no_register;
  std::int64_t constant = 0;
  bool loads = false, stores = false;  // at an address that `memory` tells; no others
  MemoryOperand memory;
  int stored = CoreTarget::no_register;  // all 64 bits of this register
  std::uint16_t written = 0;             // general registers, a bit each
  bool has_vector_result = false;        // a load into a register that is no general one
  bool stores_vector = false;            // a store from a vector register
  bool moves_stack_pointer = false;      // push, pop, call, ret: by a stack engine of the front end, at no cost
};

class EffectsReader {
public:
  explicit EffectsReader(const CoreTarget& target) : target_{target} {}
  // `text`: CoreTarget::text of it.
  InstructionEffects read(const llvm::MCInst&, const std::string& text) const;

private:
  int general(const llvm::MCInst&, unsigned operand) const;
  void read_memory(const llvm::MCInst&, const std::string& text, InstructionEffects&) const;
  void read_writes(const llvm::MCInst&, InstructionEffects&) const;
  void read_kind(const llvm::MCInst&, std::string_view name, InstructionEffects&) const;
  void read_stack(const llvm::MCInst&, std::string_view name, InstructionEffects&) const;

  const CoreTarget& target_;
};

}  // namespace homenode
