// The tables that LLVM schedules a core by, changed where they are of another core or wrong: units, buffers and widths, and two scheduling
// classes more, of additions of floating-point numbers. `znver5` has Zen 4's tables in LLVM 19, `sapphirerapids` has its own. Units are
// measured, by instructions that do not wait for each other (docs/decisions/0071, 0076); widths and buffers of a Zen 5 are AMD's (Software
// Optimization Guide for the AMD Zen5 Microarchitecture, publication 58455), where no loop says otherwise.
#pragma once

#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include <memory>
#include <string>

namespace homenode {

class OwnSubtarget final : public llvm::MCSubtargetInfo {
public:
  static bool is_zen5(const std::string& cpu) { return cpu == "znver5"; }
  // Cores whose tables in LLVM are those of "sapphirerapids". Of LLVM's own description of the core; of this one see is_golden_cove().
  static bool is_golden_cove(const llvm::MCSubtargetInfo& borrowed);

  // `borrowed` is LLVM's; as it is where its core is neither a Zen 5 nor a Golden Cove.
  static std::unique_ptr<OwnSubtarget> of_zen5(std::unique_ptr<llvm::MCSubtargetInfo> borrowed);
  static std::unique_ptr<OwnSubtarget> of_golden_cove(std::unique_ptr<llvm::MCSubtargetInfo> borrowed);
  ~OwnSubtarget() override;

  unsigned resolveVariantSchedClass(unsigned scheduling_class, const llvm::MCInst*, const llvm::MCInstrInfo*, unsigned cpu) const override;

  // An addition of floating-point numbers gives its sum to another addition a cycle sooner than to anything else. The sum is written as
  // `sum`; a read of one of the two classes has it a cycle sooner. Of memory: the read of a register, by an addition that loads its other
  // operand.
  static constexpr unsigned sum = 0xf001;
  unsigned addition_of_registers() const;
  unsigned addition_of_memory() const;
  bool is_golden_cove() const { return is_golden_cove_; }

private:
  struct Changes;
  struct Tables;
  static const Changes zen5, golden_cove;
  OwnSubtarget(std::unique_ptr<Tables> tables, bool is_golden_cove);
  static std::unique_ptr<OwnSubtarget> made(std::unique_ptr<llvm::MCSubtargetInfo> borrowed, const Changes&);

  std::unique_ptr<Tables> tables_;
  bool is_golden_cove_;
};

}  // namespace homenode
