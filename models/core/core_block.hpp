// A block of code, decoded and made ready for the simulation of a core.
#pragma once

#include <llvm/MCA/Instruction.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/core_request.hpp"
#include "models/core/core_target.hpp"
#include "models/core/instruction_corrections.hpp"
#include "models/core/instruction_effects.hpp"
#include "sim/machine/vector_width.hpp"

namespace homenode {

// What the simulation copies for each execution of an instruction.
struct CoreInstruction {
  std::shared_ptr<const llvm::mca::InstrDesc> own_description;  // of `plain`, where that is not LLVM's
  std::unique_ptr<llvm::mca::Instruction> plain;
  // The same, whose operand in memory has arrived when it executes: a load whose store says when, or that was issued early. None if it
  // reads no memory.
  std::unique_ptr<llvm::mca::InstrDesc> arrived_description;
  std::unique_ptr<llvm::mca::Instruction> arrived;
  InstructionEffects effects;
  // A load that no core has without reading memory, where cores that rename memory differ: of add %rdx, (%rsi), and one that extends a
  // sign.
  bool computes_with_memory = false;
  bool only_loads = false;  // four or eight bytes into a general register, as they are
  bool gathers = false;     // its addresses are in a vector register, which `effects` does not know
  std::int64_t next = 0;    // where the one after it begins, from the block's begin
  unsigned bytes = 0;       // of its code
  bool calls = false;       // or returns
  // Of one whose code was seen step by step: the next one of the block lies elsewhere; and an odd number of its place in the code.
  bool leaves = false;
  std::uint64_t site = 0;
  VectorWidth width = VectorWidth::narrow;  // whose clock it asks for (vector_clock.hpp)
};

struct CoreBlock {
  // What its last instruction does with the code behind it.
  enum class Ending { goes_on, may_jump, jumps };

  std::uint64_t id = 0;
  std::optional<std::uint64_t> address;  // of its first byte, comparable between blocks
  std::vector<CoreInstruction> instructions;
  Ending ending = Ending::goes_on;
  std::int64_t target = 0;  // of one that may jump, from the block's begin
};

class BlockReader {
public:
  explicit BlockReader(CoreTarget& target);
  // What cannot be scheduled is an operation of one cycle without operands; what cannot be decoded ends the block. Both are counted in
  // unknown().
  CoreBlock read(std::uint64_t id, const CoreRequest::Block&);
  // Places by mnemonic, or "bytes 06" by the first byte that is no instruction.
  const std::map<std::string, std::uint64_t>& unknown() const { return unknown_; }
  // Its instructions again, reading nothing that an execution before this one wrote to a register.
  CoreBlock without_carried_registers(const CoreBlock&);

private:
  CoreInstruction read(const llvm::MCInst&, bool locked);
  void read_ending(const llvm::MCInst&, CoreBlock&) const;
  std::unique_ptr<llvm::mca::Instruction> of_fixed_cost(const llvm::mca::InstrDesc&) const;
  std::unique_ptr<llvm::mca::Instruction> described_by(const llvm::mca::InstrDesc&, const llvm::mca::Instruction& plain) const;
  void make_renamed(CoreInstruction&) const;
  // Adds what a value takes on its way between general and vector registers takes, where LLVM's model of the core lacks it.
  void make_crossing(CoreInstruction&) const;
  CorrectedInstruction as_corrected(const CoreInstruction&, const llvm::MCInst&, std::string_view mnemonic) const;
  // As it is on a core whose model in LLVM is wrong, or another's.
  void make_corrected(CoreInstruction&, const CorrectedInstruction&) const;
  // Makes a conditional branch one with the instruction before it, where the core does so.
  void fuse_branch(CoreInstruction& first, const llvm::MCInst&, CoreInstruction& branch, std::string_view condition) const;
  bool is_beside_address(const MemoryOperand&, const llvm::mca::ReadState&) const;
  unsigned latency_of_load(const CoreInstruction&, const llvm::MCInst&) const;
  void make_arrived(CoreInstruction&, unsigned of_load) const;

  CoreTarget& target_;
  EffectsReader effects_;
  std::unique_ptr<InstructionCorrections> corrections_;  // none where LLVM's model is taken as it is
  llvm::mca::InstrDesc one_cycle_{}, string_operation_{}, locked_{};
  std::map<std::string, std::uint64_t> unknown_;
};

}  // namespace homenode
