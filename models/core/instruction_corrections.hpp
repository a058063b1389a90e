// Where instructions take other times, units or places in the front end on a core than LLVM's model of it says.
#pragma once

#include <llvm/MC/MCInst.h>
#include <llvm/MCA/Instruction.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/core_target.hpp"
#include "models/core/instruction_effects.hpp"

namespace homenode {

// An instruction, as corrections ask for it.
struct CorrectedInstruction {
  std::string_view name, mnemonic;  // LLVM's opcode without the V of its form with three operands: VADDSDrm -> ADDSDrm; as it is written
  const llvm::MCInst& decoded;
  const InstructionEffects& effects;
  bool loads, stores;
  bool to_vector, from_vector, to_general, from_general;  // which registers it writes and reads
  bool clears;                                            // what it writes is zero, whatever it reads
  bool is_wide;                                           // vectors of 512 bits

  bool begins(std::initializer_list<std::string_view> with) const;
  bool is_integer_division() const { return begins({"DIV64", "IDIV64", "DIV32", "IDIV32"}); }
  // A load and nothing else: MOVHPD and its kin merge, MOVSHDUP and its kin shuffle, MOVBE swaps bytes.
  bool is_plain_load() const;
  // Additions and subtractions of floating-point numbers, but for those within a register (HADD) and in turns (ADDSUB).
  bool is_addition() const;
};

class InstructionCorrections {
public:
  // Those of the target's core; none where LLVM's model is taken as it is.
  static std::unique_ptr<InstructionCorrections> of(CoreTarget&);
  virtual ~InstructionCorrections() = default;

  // Changes `description`, a copy of LLVM's.
  virtual void correct(const CorrectedInstruction&, llvm::mca::InstrDesc& description) const = 0;
  // Cycles that the data of an operation with an operand in memory are there sooner than by LLVM's tables.
  virtual unsigned loads_sooner(const InstructionEffects&) const { return 0; }
  // Whether the front end makes `first` and the conditional branch behind it ("jne") one, and what each of the two takes then.
  virtual bool fuses(const CorrectedInstruction& first, std::string_view branch) const;
  virtual void fuse(llvm::mca::InstrDesc& first, llvm::mca::InstrDesc& branch) const;
};

// An instruction of the target whose units others take.
class UnitsOf {
public:
  // Throws Error if LLVM does not know it.
  UnitsOf(CoreTarget&, const std::vector<std::uint8_t>& bytes);
  void give(llvm::mca::InstrDesc&) const;  // with its number of operations

private:
  std::unique_ptr<llvm::mca::Instruction> instruction_;
};

// LLVM's mask of a unit or a group of units. Throws Error if the model has none of that name.
std::uint64_t unit_mask(const CoreTarget&, std::string_view name);

void set_latency(llvm::mca::InstrDesc&, int cycles);  // no less than 0
// Cycles of each unit that it takes for longer than `longer_than`.
void set_cycles(llvm::mca::InstrDesc&, unsigned longer_than, unsigned cycles);
// An addition whose sum another addition has a cycle sooner (OwnSubtarget::sum).
void set_addition(const CoreTarget&, const CorrectedInstruction&, llvm::mca::InstrDesc&);

}  // namespace homenode
