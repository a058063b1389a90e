// A core of x86-64 as LLVM describes it: its decoder, its instructions and registers, its scheduling model. One for each request.
#pragma once

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MCA/CustomBehaviour.h>
#include <llvm/MCA/InstrBuilder.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace homenode {

// "19.1.7"
std::string llvm_version();
// What LLVM calls the core that this process runs on ("znver3"); "" if it does not know it.
std::string host_cpu();
// The names that CoreTarget takes: those of cores that execute out of order and whose scheduling model LLVM has.
std::vector<std::string> cpu_names();

class OwnSubtarget;

class CoreTarget {
public:
  // Throws UsageError with the names that are allowed.
  explicit CoreTarget(const std::string& cpu);
  CoreTarget(const CoreTarget&) = delete;
  CoreTarget& operator=(const CoreTarget&) = delete;

  const llvm::MCInstrInfo& instructions() const { return *instructions_; }
  const llvm::MCRegisterInfo& registers() const { return *registers_; }
  const llvm::MCSubtargetInfo& subtarget() const { return *subtarget_; }
  const OwnSubtarget* own() const { return own_; }  // the same as subtarget(), where LLVM's tables are changed; else none
  const llvm::MCSchedModel& model() const { return subtarget_->getSchedModel(); }
  const llvm::MCDisassembler& decoder() const { return *decoder_; }

  // Nothing if the core has no such instruction, or none that can be scheduled.
  std::unique_ptr<llvm::mca::Instruction> scheduled(const llvm::MCInst&);
  // Cycles that LLVM has for an instruction with an operand in memory beyond those of the same one with a register in its place. Nothing if
  // there is no such instruction, if that takes a value from a general register to a vector register, or if LLVM has several figures.
  std::optional<unsigned> latency_beyond_registers(const llvm::MCInst&) const;
  // As an assembler of Intel's syntax writes it, which says the width of an operand in memory.
  std::string text(const llvm::MCInst&) const;
  // Its first word: "addsd"; "?" if there is none.
  static std::string mnemonic(const std::string& text);

  static constexpr int no_register = -1, instruction_pointer = -2;
  // Number of the 64-bit register that holds this one: 0 to 15, `instruction_pointer`, or `no_register` if it is no general one.
  int general_register(unsigned llvm_register) const { return general_[llvm_register]; }
  bool is_vector_register(unsigned llvm_register) const { return vector_[llvm_register]; }
  unsigned stack_pointer() const { return stack_pointer_; }  // LLVM's number
  static constexpr int rax = 0, rdx = 2, rsp = 4, rbp = 5;

private:
  std::optional<int> latency(unsigned opcode) const;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  const OwnSubtarget* own_ = nullptr;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
  std::unique_ptr<llvm::mca::InstrumentManager> instruments_;
  std::unique_ptr<llvm::mca::InstrBuilder> builder_;
  std::vector<int> general_;
  std::vector<bool> vector_;
  unsigned stack_pointer_ = 0;
};

}  // namespace homenode
