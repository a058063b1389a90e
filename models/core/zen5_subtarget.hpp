// The tables that LLVM schedules a Zen 5 by. LLVM 19 has none of its own and takes Zen 4's. Here they are Zen 4's with the units, buffers
// and widths of a Zen 5, and with two scheduling classes more, of additions. Units are measured, by instructions that do not wait for each
// other, on an EPYC of family 26 (docs/decisions/0071); widths and buffers are AMD's (Software Optimization Guide for the AMD Zen5
// Microarchitecture, publication 58455), where no loop says otherwise.
#pragma once

#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include <memory>

namespace homenode {

class Zen5Subtarget final : public llvm::MCSubtargetInfo {
public:
  // LLVM's, of "znver5"; lives as long as this one.
  explicit Zen5Subtarget(std::unique_ptr<llvm::MCSubtargetInfo> borrowed);
  ~Zen5Subtarget() override;

  unsigned resolveVariantSchedClass(unsigned scheduling_class, const llvm::MCInst*, const llvm::MCInstrInfo*, unsigned cpu) const override;

  // An addition of floating-point numbers gives its sum to another addition a cycle sooner than to anything else. The sum is written as
  // `sum`; a read of one of the two classes has it a cycle sooner. Of memory: the read of a register, by an addition that loads its other
  // operand.
  static constexpr unsigned sum = 0xf001;
  unsigned addition_of_registers() const;
  unsigned addition_of_memory() const;

private:
  struct Tables;
  explicit Zen5Subtarget(std::unique_ptr<Tables> tables);

  std::unique_ptr<Tables> tables_;
};

}  // namespace homenode
