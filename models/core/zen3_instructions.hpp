// Where an instruction takes other times or units on a Zen 3 than LLVM's `znver3` says. Measured by chains of one instruction and by
// instructions that do not wait for each other, on an EPYC of family 25, model 1 (docs/decisions/0078, 0091).
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
  // Integer operations on registers with a branch on their flags. The two are one operation.
  bool fuses(const CorrectedInstruction& first, std::string_view branch) const override;
  void fuse(llvm::mca::InstrDesc& first, llvm::mca::InstrDesc& branch) const override;

private:
  void correct_latency(const CorrectedInstruction&, llvm::mca::InstrDesc&) const;
  void correct_units(const CorrectedInstruction&, llvm::mca::InstrDesc&) const;

  UnitsOf addition_, shift_;
  std::uint64_t vector_load_units_, store_units_, memory_units_;
};

}  // namespace homenode
