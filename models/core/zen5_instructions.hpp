// Where an instruction takes other times or units on a Zen 5 than on the Zen 4 that LLVM describes. Measured by chains of one instruction
// and by instructions that do not wait for each other, on an EPYC of family 26; the table is in docs/decisions/0071.
#pragma once

#include <llvm/MC/MCInst.h>
#include <llvm/MCA/Instruction.h>

#include <memory>
#include <string>

#include "models/core/core_target.hpp"
#include "models/core/instruction_effects.hpp"

namespace homenode {

class Zen5Instructions {
public:
  // `target` is a "znver5".
  explicit Zen5Instructions(CoreTarget& target);
  ~Zen5Instructions();

  // Changes `description`, a copy of that of `plain`. `text`: CoreTarget::text.
  void correct(const llvm::MCInst&, const std::string& text, const InstructionEffects&, const llvm::mca::Instruction& plain,
               llvm::mca::InstrDesc& description) const;

private:
  struct Pattern;
  struct Operation;
  void correct_latency(const Operation&, llvm::mca::InstrDesc&) const;
  void correct_units(const Operation&, llvm::mca::InstrDesc&) const;
  void correct_addition(const Operation&, llvm::mca::InstrDesc&) const;

  CoreTarget& target_;
  std::unique_ptr<Pattern> addition_, vector_addition_, permutation_, conversion_;  // whose units others take
  std::uint64_t vector_load_units_ = 0;                                             // Zn4FP45's mask
};

}  // namespace homenode
