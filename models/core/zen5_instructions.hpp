// Where an instruction takes other times or units on a Zen 5 than on the Zen 4 that LLVM describes. Measured by chains of one instruction
// and by instructions that do not wait for each other, on an EPYC of family 26; the table is in docs/decisions/0071.
#pragma once

#include "models/core/instruction_corrections.hpp"

namespace homenode {

class Zen5Instructions final : public InstructionCorrections {
public:
  // `target` is a "znver5".
  explicit Zen5Instructions(CoreTarget& target);

  void correct(const CorrectedInstruction&, llvm::mca::InstrDesc&) const override;

private:
  void correct_latency(const CorrectedInstruction&, llvm::mca::InstrDesc&) const;
  void correct_units(const CorrectedInstruction&, llvm::mca::InstrDesc&) const;

  CoreTarget& target_;
  UnitsOf addition_, vector_addition_, permutation_, conversion_;
  std::uint64_t vector_load_units_ = 0;
};

}  // namespace homenode
