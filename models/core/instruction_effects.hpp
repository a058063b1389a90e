// What an instruction does to the general registers and to memory, as far as addresses can be followed from its code alone.
#pragma once

#include <llvm/MC/MCInst.h>

#include <array>
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

// What an instruction makes of its operands, whatever that is: the same operation on the same values has the same results.
struct Operation {
  static constexpr int flags = 16;  // in the place of a register's number
  std::uint64_t what = 0;           // opcode and constants; 0: its results depend on more than is listed here
  std::array<std::int8_t, 5> reads{};
  std::uint8_t read_count = 0;
  bool writes_flags = false, keeps_flags = false;  // keeps: some of them
};

// Integers of 32 bits are taken for ones of 64 that have the same value, as indices of arrays are.
struct InstructionEffects {
  // other: what it writes is what its operation makes. The rest write `target` alone, beside flags. scale: a constant times `source`.
  enum class Kind : std::uint8_t {
    other,
    constant,
    copy,
    add_constant,
    add_register,
    subtract_register,
    scale,
    address,
    push,
    pop,
    leave,
    call
  };
  // What is stored. other: what its operation makes.
  enum class Stored : std::uint8_t { other, constant, source, add_constant };
  Kind kind = Kind::other;
  int target = CoreTarget::no_register, source = CoreTarget::no_register;
  std::int64_t constant = 0;
  bool loads = false, stores = false;  // at an address that `memory` tells; no others
  bool may_load = false;               // there or elsewhere
  MemoryOperand memory;
  Stored stored = Stored::other;
  Operation operation;
  std::uint16_t written = 0;         // general registers, a bit each
  bool has_vector_result = false;    // a load into a register that is no general one
  bool stores_vector = false;        // a store from a vector register
  bool moves_stack_pointer = false;  // push, pop, call, ret: by a stack engine of the front end, at no cost
};

class EffectsReader {
public:
  explicit EffectsReader(const CoreTarget& target) : target_{target} {}
  // `text`: CoreTarget::text of it.
  InstructionEffects read(const llvm::MCInst&, const std::string& text) const;

private:
  int general(const llvm::MCInst&, unsigned operand) const;
  bool is_second_byte(unsigned llvm_register) const;  // ah, bh, ch, dh
  bool is_narrow(unsigned llvm_register) const;       // a general one of 8 or 16 bits
  void read_memory(const llvm::MCInst&, const std::string& text, InstructionEffects&) const;
  void read_writes(const llvm::MCInst&, InstructionEffects&) const;
  void read_operation(const llvm::MCInst&, InstructionEffects&) const;
  void read_stored(const llvm::MCInst&, std::string_view name, InstructionEffects&) const;
  void read_kind(const llvm::MCInst&, std::string_view name, InstructionEffects&) const;
  void read_stack(const llvm::MCInst&, std::string_view name, InstructionEffects&) const;

  const CoreTarget& target_;
};

}  // namespace homenode
