#include "models/core/instruction_corrections.hpp"

#include <llvm/MCA/Support.h>

#include <algorithm>

#include "models/core/golden_cove_instructions.hpp"
#include "models/core/own_subtarget.hpp"
#include "models/core/zen3_instructions.hpp"
#include "models/core/zen5_instructions.hpp"
#include "sim/base/errors.hpp"

namespace homenode {

using llvm::mca::InstrDesc;

bool CorrectedInstruction::begins(std::initializer_list<std::string_view> with) const {
  return std::any_of(with.begin(), with.end(), [&](std::string_view each) { return name.starts_with(each); });
}

bool CorrectedInstruction::is_plain_load() const {
  return begins({"MOV", "LDDQU"}) && !begins({"MOVH", "MOVLP", "MOVSHDUP", "MOVSLDUP", "MOVDDUP", "MOVBE"});
}

bool CorrectedInstruction::is_addition() const { return begins({"ADDSD", "ADDSS", "ADDPD", "ADDPS", "SUBSD", "SUBSS", "SUBPD", "SUBPS"}); }

std::unique_ptr<InstructionCorrections> InstructionCorrections::of(CoreTarget& target) {
  if (Zen3Instructions::are_of(target.subtarget().getCPU().str())) return std::make_unique<Zen3Instructions>(target);
  if (target.own() == nullptr) return nullptr;
  if (target.own()->is_golden_cove()) return std::make_unique<GoldenCoveInstructions>(target);
  return std::make_unique<Zen5Instructions>(target);
}

bool InstructionCorrections::fuses(const CorrectedInstruction& first, std::string_view branch) const {
  (void)first, (void)branch;
  return false;
}

void InstructionCorrections::fuse(InstrDesc& first, InstrDesc& branch) const { (void)first, (void)branch; }

UnitsOf::UnitsOf(CoreTarget& target, const std::vector<std::uint8_t>& bytes) {
  llvm::MCInst decoded;
  std::uint64_t size = 0;
  const std::string cpu = target.subtarget().getCPU().str();
  if (target.decoder().getInstruction(decoded, size, bytes, 0, llvm::nulls()) == llvm::MCDisassembler::Fail)
    throw Error("LLVM decodes no instruction of " + cpu);
  instruction_ = target.scheduled(decoded);
  if (!instruction_) throw Error("LLVM schedules no instruction of " + cpu);
}

void UnitsOf::give(InstrDesc& description) const {
  const InstrDesc& own = instruction_->getDesc();
  description.Resources = own.Resources;
  description.UsedBuffers = own.UsedBuffers;
  description.UsedProcResUnits = own.UsedProcResUnits;
  description.UsedProcResGroups = own.UsedProcResGroups;
  description.HasPartiallyOverlappingGroups = own.HasPartiallyOverlappingGroups;
  description.NumMicroOps = own.NumMicroOps;
}

std::uint64_t unit_mask(const CoreTarget& target, std::string_view name) {
  const llvm::MCSchedModel& model = target.model();
  std::vector<std::uint64_t> masks(model.getNumProcResourceKinds());
  llvm::mca::computeProcResourceMasks(model, masks);
  for (unsigned index = 0; index < masks.size(); ++index)
    if (name == model.getProcResource(index)->Name) return masks[index];
  throw Error("LLVM's model of " + target.subtarget().getCPU().str() + " has no " + std::string{name});
}

void set_latency(InstrDesc& description, int cycles) {
  description.MaxLatency = static_cast<unsigned>(std::max(cycles, 0));
  for (auto& write : description.Writes) write.Latency = description.MaxLatency;
}

void set_cycles(InstrDesc& description, unsigned longer_than, unsigned cycles) {
  for (auto& [mask, usage] : description.Resources)
    if (usage.size() > longer_than) usage.CS = llvm::mca::CycleSegment{0, cycles, usage.isReserved()};
}

void set_addition(const CoreTarget& target, const CorrectedInstruction& of, InstrDesc& description) {
  const bool is_masked = of.name.find('k') != of.name.npos;  // its operands stand elsewhere
  const OwnSubtarget* const own = target.own();
  if (own == nullptr || is_masked || description.Writes.empty()) return;
  for (auto& write : description.Writes) write.SClassOrWriteResourceID = OwnSubtarget::sum;
  for (auto& read : description.Reads)
    if (!read.isImplicitRead()) read.SchedClassID = of.loads ? own->addition_of_memory() : own->addition_of_registers();
}

}  // namespace homenode
