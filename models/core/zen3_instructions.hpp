// Where an instruction takes other times or units on a Zen 3 than LLVM's `znver3` says. Measured by chains of one instruction and by
// instructions that do not wait for each other, on an EPYC of family 25, model 1. What loops show and whole programs speak against is left
// out; both are in docs/decisions/0078.
#pragma once

#include <string>

#include "models/core/instruction_corrections.hpp"

namespace homenode {

class Zen3Instructions final : public InstructionCorrections {
public:
  static bool are_of(const std::string& cpu) { return cpu == "znver3"; }
  // `target` is one.
  explicit Zen3Instructions(CoreTarget& target);

  void correct(const CorrectedInstruction&, llvm::mca::InstrDesc&) const override;

private:
  void correct_latency(const CorrectedInstruction&, llvm::mca::InstrDesc&) const;
  void correct_units(const CorrectedInstruction&, llvm::mca::InstrDesc&) const;

  UnitsOf addition_, shift_;
};

}  // namespace homenode
