// Where an instruction takes other times, units or places in the front end on a Golden Cove (Xeon of Sapphire Rapids, Emerald Rapids) than
// LLVM's `sapphirerapids` says. Measured by chains of one instruction and by instructions that do not wait for each other, on a Xeon of
// family 6, model 207; the table is in docs/decisions/0076.
#pragma once

#include "models/core/instruction_corrections.hpp"

namespace homenode {

class GoldenCoveInstructions final : public InstructionCorrections {
public:
  // `target` is a core whose tables are those of "sapphirerapids".
  explicit GoldenCoveInstructions(CoreTarget& target);

  void correct(const CorrectedInstruction&, llvm::mca::InstrDesc&) const override;
  unsigned loads_sooner(const InstructionEffects&) const override;
  // Comparisons and additions with a branch on their flags (Intel 64 and IA-32 Architectures Optimization Reference Manual,
  // "Macrofusion"). The two are one operation, on the branch's port.
  bool fuses(const CorrectedInstruction& first, std::string_view branch) const override;
  void fuse(llvm::mca::InstrDesc& first, llvm::mca::InstrDesc& branch) const override;

private:
  void correct_latency(const CorrectedInstruction&, llvm::mca::InstrDesc&) const;
  void correct_units(const CorrectedInstruction&, llvm::mca::InstrDesc&) const;
  void correct_division(const CorrectedInstruction&, llvm::mca::InstrDesc&) const;

  CoreTarget& target_;
  UnitsOf addition_, shift_, scaled_sum_, wide_addition_;
  std::uint64_t any_integer_unit_, divider_;
};

}  // namespace homenode
