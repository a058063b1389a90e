#include "models/core/core_block.hpp"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "models/core/core_properties.hpp"
#include "models/core/own_subtarget.hpp"
#include "models/core/vector_clock.hpp"

namespace homenode {
namespace {

using llvm::mca::InstrDesc;
using llvm::mca::Instruction;
using llvm::mca::ReadState;
using llvm::mca::WriteState;

// movs, stos, cmps and scas, with rep: nothing else is dispatched for so many cycles. LLVM has 100 for all that is microcoded; 16 to 128
// bytes took 10 to 26 on an EPYC of family 26 (rep stosb, movsb, movsq with their counts set each time). What many bytes take is the
// memory's part.
constexpr unsigned string_operation_cycles = 16;

constexpr std::array<std::string_view, 16> string_operations{"MOVSB", "MOVSW", "MOVSL", "MOVSQ", "STOSB", "STOSW", "STOSL", "STOSQ",
                                                             "CMPSB", "CMPSW", "CMPSL", "CMPSQ", "SCASB", "SCASW", "SCASL", "SCASQ"};

// Of the operating system or of the clock; LLVM gives them 100 cycles as to all that it knows nothing of.
constexpr std::array<std::string_view, 14> unschedulable{"SYSCALL",   "SYSENTER",  "INT",       "INT3",     "RDTSC",
                                                         "RDTSCP",    "RDPMC",     "CPUID",     "HLT",      "XGETBV",
                                                         "RDRAND64r", "RDSEED64r", "RDRAND32r", "RDSEED32r"};

void set_cost(InstrDesc& description, unsigned cycles, unsigned operations) {
  description.MaxLatency = cycles;
  description.NumMicroOps = operations;
}

// What clears its result if both sources are one register: every core that executes out of order waits for neither (Intel 64 and IA-32
// Architectures Optimization Reference Manual, "Clearing Registers and Dependency Breaking Idioms"; Software Optimization Guide for AMD
// Family 19h Processors, "Idioms for Dependency Removal"). LLVM knows that of some cores only: not of sapphirerapids and alderlake.
constexpr std::array<std::string_view, 18> clearing{"xor",    "sub",    "xorps",  "xorpd",  "pxor",   "psubb",
                                                    "psubw",  "psubd",  "psubq",  "vxorps", "vxorpd", "vpxor",
                                                    "vpxord", "vpxorq", "vpsubb", "vpsubw", "vpsubd", "vpsubq"};

bool clears_its_result(const llvm::MCInst& decoded, std::string_view name) {
  if (std::find(clearing.begin(), clearing.end(), name) == clearing.end()) return false;
  // The result and two sources; a mask would be one more.
  if (decoded.getNumOperands() != 3 || !decoded.getOperand(1).isReg() || !decoded.getOperand(2).isReg()) return false;
  return decoded.getOperand(1).getReg() == decoded.getOperand(2).getReg();
}

// Cycles that a value takes on its way between the general registers and the vector registers, beside what LLVM has for the instruction.
struct CrossingLatency {
  unsigned to_general = 0, to_vector = 0;
};
// An EPYC of family 25, model 17 (Zen 4) takes 7 cycles for movq there and back in a chain, and 12 for cvttsd2si and cvtsi2sd; LLVM has 2
// and 6. Such a loop does not tell how the five cycles of a way there and back split, nor where the conversions' sixth one is.
// One of family 25, model 1 (Zen 3) takes 6 and 13; two of the 6 fit what comes from memory on its way (docs/decisions/0078). One of family
// 26 (Zen 5) takes 9 and 13; by data that go through memory on their way, 3 of 9 are the way to a general register.
CrossingLatency crossing_latency(const llvm::MCSubtargetInfo& core) {
  if (core.getCPU() == "znver3") return {1, 3};
  if (core.getCPU() == "znver4") return {3, 2};
  return core.getCPU() == "znver5" ? CrossingLatency{2, 5} : CrossingLatency{};
}

// Atomic instructions: no other access of memory begins until the line is let go again, so that they do not overlap, whatever their
// addresses (H. Schweizer, M. Besta, T. Hoefler, Evaluating the Cost of Atomic Operations on Modern Architectures, PACT 2015). LLVM takes
// the prefix for an instruction of its own, of 1 to 30 cycles, and the rest for one without it. Measured by uops.info of INC_LOCK: 18.0
// cycles on Alder Lake-P and E, 20 on Rocket Lake; LLVM's own model of Jaguar notes 17 of an atomic CMPXCHG. An EPYC of family 25, model 17
// (Zen 4) takes 7.9 for `lock add`, and Zen 3 is taken to be alike; one of family 26 (Zen 5) takes 20.0, and as many for `lock cmpxchg` and
// `xchg` with memory.
unsigned locked_cycles(const llvm::MCSubtargetInfo& core) {
  const llvm::StringRef name = core.getCPU();
  if (name == "znver5") return 20;
  return name == "znver3" || name == "znver4" ? 8 : 18;
}

std::unique_ptr<InstrDesc> copy_of(const InstrDesc& known) {
  auto description = std::make_unique<InstrDesc>();
  description->Writes = known.Writes;
  description->Reads = known.Reads;
  description->Resources = known.Resources;
  description->UsedBuffers = known.UsedBuffers;
  description->UsedProcResUnits = known.UsedProcResUnits;
  description->UsedProcResGroups = known.UsedProcResGroups;
  description->MaxLatency = known.MaxLatency;
  description->NumMicroOps = known.NumMicroOps;
  description->SchedClassID = known.SchedClassID;
  description->MustIssueImmediately = known.MustIssueImmediately;
  description->IsRecyclable = false;
  description->HasPartiallyOverlappingGroups = known.HasPartiallyOverlappingGroups;
  return description;
}

std::string hexadecimal(std::uint8_t byte) {
  static constexpr std::string_view digits = "0123456789abcdef";
  return {digits[byte >> 4], digits[byte & 15]};
}

}  // namespace

BlockReader::BlockReader(CoreTarget& target) : target_{target}, effects_{target}, corrections_{InstructionCorrections::of(target)} {
  set_cost(one_cycle_, 1, 1);
  set_cost(string_operation_, string_operation_cycles, string_operation_cycles * target.model().IssueWidth);
  const unsigned locked = locked_cycles(target.subtarget());
  set_cost(locked_, locked, locked * target.model().IssueWidth);
}

std::unique_ptr<Instruction> BlockReader::of_fixed_cost(const InstrDesc& description) const {
  auto made = std::make_unique<Instruction>(description, 0);
  made->setMayLoad(false);
  made->setMayStore(false);
  made->setHasSideEffects(false);
  made->setBeginGroup(false);
  made->setEndGroup(false);
  made->setRetireOOO(false);
  return made;
}

namespace {

// Of code that was seen step by step, each step with the bytes behind it: whether the next step is not what lies behind this one.
bool leaves(const std::vector<std::uint8_t>& bytes, std::uint64_t begin, std::uint64_t size) {
  const std::uint64_t next = begin + CoreRequest::stepped_bytes;
  if (next + CoreRequest::stepped_bytes > bytes.size() || size >= CoreRequest::stepped_bytes) return false;
  const auto at = [&](std::uint64_t offset) { return bytes.begin() + static_cast<std::ptrdiff_t>(offset); };
  return !std::equal(at(begin + size), at(next), at(next));
}

// A place in the code, told from others by the bytes there and behind.
std::uint64_t site_of(const std::vector<std::uint8_t>& bytes, std::uint64_t begin) {
  std::uint64_t sum = 0;
  for (std::uint64_t at = begin; at < std::min<std::uint64_t>(begin + CoreRequest::stepped_bytes, bytes.size()); ++at)
    sum = (sum + bytes[at] + 1) * 0x9e3779b97f4a7c15U;
  return sum | 1;
}

}  // namespace

CoreBlock BlockReader::read(std::uint64_t id, const CoreRequest::Block& requested) {
  CoreBlock block{.id = id, .address = requested.address, .instructions = {}};
  const std::vector<std::uint8_t>& bytes = requested.bytes;
  const auto decode = [&](llvm::MCInst& decoded, std::uint64_t& size, std::uint64_t at) {
    const llvm::ArrayRef<std::uint8_t> rest{bytes.data() + at, bytes.size() - at};
    return target_.decoder().getInstruction(decoded, size, rest, 0, llvm::nulls()) != llvm::MCDisassembler::Fail && size != 0;
  };
  llvm::MCInst before;
  for (std::uint64_t at = 0; at < bytes.size();) {
    llvm::MCInst decoded;
    std::uint64_t size = 0, prefix = 0;
    bool valid = decode(decoded, size, at);
    if (valid && target_.instructions().getName(decoded.getOpcode()) == "LOCK_PREFIX") {
      prefix = size;
      decoded = {};
      valid = at + prefix < bytes.size() && decode(decoded, size, at + prefix);
    }
    if (!valid) {
      ++unknown_["bytes " + hexadecimal(bytes[at])];
      break;
    }
    const std::uint64_t begin = at, whole = prefix + size;
    at += requested.stepped ? CoreRequest::stepped_bytes : whole;
    block.instructions.push_back(read(decoded, prefix != 0));
    CoreInstruction& instruction = block.instructions.back();
    instruction.next = static_cast<std::int64_t>(at);
    instruction.bytes = static_cast<unsigned>(whole);
    if (requested.stepped) {
      instruction.leaves = leaves(bytes, begin, whole);
      instruction.site = site_of(bytes, begin);
    }
    const std::size_t count = block.instructions.size();
    read_ending(decoded, block);
    if (corrections_ && count > 1 && target_.instructions().get(decoded.getOpcode()).isConditionalBranch())
      fuse_branch(block.instructions[count - 2], before, block.instructions[count - 1], CoreTarget::mnemonic(target_.text(decoded)));
    before = decoded;
  }
  return block;
}

CoreInstruction BlockReader::read(const llvm::MCInst& decoded, bool locked) {
  const std::string_view name = target_.instructions().getName(decoded.getOpcode());
  const std::string text = target_.text(decoded);
  CoreInstruction instruction;
  instruction.width = clock_that_is_asked_for(text);
  instruction.effects = effects_.read(decoded, text);
  instruction.gathers = name.find("GATHER") != std::string_view::npos;
  if (locked || (name.starts_with("XCHG") && name.ends_with("rm"))) {  // an exchange with memory locks without the prefix
    instruction.plain = of_fixed_cost(locked_);
    instruction.effects.loads = instruction.effects.stores = false;
    return instruction;
  }
  const bool is_string = std::find(string_operations.begin(), string_operations.end(), name) != string_operations.end();
  const bool is_known = std::find(unschedulable.begin(), unschedulable.end(), name) == unschedulable.end();
  if (is_known && !is_string) instruction.plain = target_.scheduled(decoded);
  if (!instruction.plain) {
    if (!is_string) ++unknown_[CoreTarget::mnemonic(text)];
    instruction.plain = of_fixed_cost(is_string ? string_operation_ : one_cycle_);
    instruction.effects.loads = instruction.effects.stores = false;
    return instruction;
  }
  if (instruction.effects.moves_stack_pointer) {
    const auto is_stack_pointer = [&](const auto& state) { return state.getRegisterID() == target_.stack_pointer(); };
    llvm::erase_if(instruction.plain->getUses(), is_stack_pointer);
    llvm::erase_if(instruction.plain->getDefs(), is_stack_pointer);
  }
  if (instruction.plain->isOptimizableMove()) make_renamed(instruction);
  make_crossing(instruction);
  if (corrections_) {
    const std::string mnemonic = CoreTarget::mnemonic(text);
    make_corrected(instruction, as_corrected(instruction, decoded, mnemonic));
  }
  if (clears_its_result(decoded, CoreTarget::mnemonic(text)))
    for (ReadState& read : instruction.plain->getUses()) read.setIndependentFromDef();
  // The unit holds only what the scheduling model calls loads and stores.
  instruction.effects.loads = instruction.effects.loads && instruction.plain->getMayLoad();
  instruction.effects.stores = instruction.effects.stores && instruction.plain->getMayStore();
  instruction.only_loads = name == "MOV64rm" || name == "MOV32rm";
  instruction.computes_with_memory =
      name.starts_with("MOVSX") ||
      (instruction.effects.stores && llvm::any_of(instruction.plain->getUses(), [&](const ReadState& read) {
         return target_.general_register(read.getRegisterID()) >= 0 && is_beside_address(instruction.effects.memory, read);
       }));
  if (instruction.effects.loads) make_arrived(instruction, latency_of_load(instruction, decoded));
  // Where it returns to is a store like others, whose place in the store buffer LLVM leaves out.
  if (properties_of(target_).store_buffer > 0 && instruction.effects.kind == InstructionEffects::Kind::call)
    instruction.plain->setMayStore(true);
  return instruction;
}

// Whether what is read is no part of the address.
bool BlockReader::is_beside_address(const MemoryOperand& memory, const ReadState& read) const {
  const int general = target_.general_register(read.getRegisterID());
  if (general == CoreTarget::instruction_pointer) return false;
  return general < 0 || (general != memory.base && general != memory.index && general != CoreTarget::rsp);
}

// The part of an instruction's latency that its load takes.
unsigned BlockReader::latency_of_load(const CoreInstruction& instruction, const llvm::MCInst& decoded) const {
  const Instruction& plain = *instruction.plain;
  const InstrDesc& known = plain.getDesc();
  const llvm::MCSchedModel& model = target_.model();
  unsigned advance = 0;
  for (const llvm::MCReadAdvanceEntry& entry : target_.subtarget().getReadAdvanceEntries(*model.getSchedClassDesc(known.SchedClassID)))
    advance = std::max(advance, static_cast<unsigned>(std::max(0, entry.Cycles)));
  // Where it stores as well, LLVM's last cycle is the store's, which the forwarding latency has.
  if (plain.getMayStore()) return (advance > 0 ? advance : model.LoadLatency) + 1;
  const bool waits_for_more =
      llvm::any_of(plain.getUses(), [&](const ReadState& read) { return is_beside_address(instruction.effects.memory, read); });
  const std::string_view name = target_.instructions().getName(decoded.getOpcode());
  if (!waits_for_more && (name.find("MOV") != std::string_view::npos || name.starts_with("POP"))) return known.MaxLatency;
  const unsigned sooner = corrections_ ? corrections_->loads_sooner(instruction.effects) : 0;
  // LLVM's Sandy Bridge and Golden Cove load for a cycle longer than they let the other operand come later, its Zen 1 for one less. A chain
  // of `addsd` with memory takes as long as one with registers, though, as the load is an operation of its own.
  const unsigned beyond = target_.latency_beyond_registers(decoded).value_or(advance > 0 ? advance : model.LoadLatency);
  return beyond - std::min(beyond, sooner);
}

// Its latency less the load's part. What else it reads is needed at once, no longer while the load is under way (LLVM's read advance).
void BlockReader::make_arrived(CoreInstruction& instruction, unsigned of_load) const {
  const Instruction& plain = *instruction.plain;
  const InstrDesc& known = plain.getDesc();
  const auto less = [&](unsigned latency) { return latency - std::min(latency, of_load); };

  auto description = copy_of(known);
  description->MaxLatency = less(known.MaxLatency);
  for (auto& write : description->Writes) write.Latency = less(write.Latency);
  const OwnSubtarget* const own = target_.own();
  for (auto& read : description->Reads) {
    const bool is_addition = own != nullptr && read.SchedClassID == own->addition_of_memory();
    read.SchedClassID = is_addition ? own->addition_of_registers() : 0;
  }

  instruction.arrived = described_by(*description, plain);
  if (instruction.arrived) instruction.arrived_description = std::move(description);
}

// LLVM's elimination makes the result a second name of the source. A later write of the source then counts as one of the result, too, and
// chains through the move are lost. So the move is a place in the reorder buffer that waits for its source, and takes no time and no port.
void BlockReader::make_renamed(CoreInstruction& instruction) const {
  auto description = copy_of(instruction.plain->getDesc());
  description->Resources.clear();
  description->UsedBuffers = description->UsedProcResUnits = description->UsedProcResGroups = 0;
  description->MaxLatency = 0;
  for (auto& write : description->Writes) write.Latency = 0;
  auto renamed = described_by(*description, *instruction.plain);
  if (!renamed) {  // not as expected: executed
    instruction.plain->clearOptimizableMove();
    return;
  }
  instruction.plain = std::move(renamed);
  instruction.own_description = std::move(description);
}

void BlockReader::make_crossing(CoreInstruction& instruction) const {
  const Instruction& plain = *instruction.plain;
  if (plain.getMayLoad() || plain.getMayStore()) return;
  const auto is_general = [&](const auto& operand) { return target_.general_register(operand.getRegisterID()) >= 0; };
  const auto is_vector = [&](const auto& operand) { return target_.is_vector_register(operand.getRegisterID()); };
  const CrossingLatency crossing = crossing_latency(target_.subtarget());
  unsigned more = 0;
  if (llvm::any_of(plain.getDefs(), is_general) && llvm::any_of(plain.getUses(), is_vector)) more = crossing.to_general;
  if (llvm::any_of(plain.getDefs(), is_vector) && llvm::any_of(plain.getUses(), is_general)) more = crossing.to_vector;
  if (more == 0) return;
  auto description = copy_of(plain.getDesc());
  description->MaxLatency += more;
  for (auto& write : description->Writes) write.Latency += static_cast<int>(more);
  auto later = described_by(*description, plain);
  if (!later) return;  // its operands are not as expected: LLVM's latency stays
  instruction.plain = std::move(later);
  instruction.own_description = std::move(description);
}

CorrectedInstruction BlockReader::as_corrected(const CoreInstruction& instruction, const llvm::MCInst& decoded,
                                               std::string_view mnemonic) const {
  const Instruction& plain = *instruction.plain;
  const auto is_general = [&](const auto& operand) { return target_.general_register(operand.getRegisterID()) >= 0; };
  const auto is_vector = [&](const auto& operand) { return target_.is_vector_register(operand.getRegisterID()); };
  const std::string_view name = target_.instructions().getName(decoded.getOpcode());
  const std::string text = target_.text(decoded);
  return {.name = name.starts_with('V') ? name.substr(1) : name,
          .mnemonic = mnemonic,
          .decoded = decoded,
          .effects = instruction.effects,
          .loads = plain.getMayLoad(),
          .stores = plain.getMayStore(),
          .to_vector = llvm::any_of(plain.getDefs(), is_vector),
          .from_vector = llvm::any_of(plain.getUses(), is_vector),
          .to_general = llvm::any_of(plain.getDefs(), is_general),
          .from_general = llvm::any_of(plain.getUses(), is_general),
          .clears =
              clears_its_result(decoded, mnemonic) || llvm::any_of(plain.getDefs(), [](const auto& write) { return write.isWriteZero(); }),
          .is_wide = text.find("zmm") != std::string::npos};
}

void BlockReader::make_corrected(CoreInstruction& instruction, const CorrectedInstruction& of) const {
  const InstrDesc& known = instruction.plain->getDesc();
  if (known.isZeroLatency() && known.NumMicroOps > 0) return;  // a renamed move
  auto description = copy_of(known);
  corrections_->correct(of, *description);
  auto corrected = described_by(*description, *instruction.plain);
  if (!corrected) return;  // its operands are not as expected: LLVM's description stays
  instruction.plain = std::move(corrected);
  instruction.own_description = std::move(description);
}

void BlockReader::fuse_branch(CoreInstruction& first, const llvm::MCInst& decoded, CoreInstruction& branch,
                              std::string_view condition) const {
  const std::string mnemonic = CoreTarget::mnemonic(target_.text(decoded));
  if (!corrections_->fuses(as_corrected(first, decoded, mnemonic), condition)) return;
  auto of_first = copy_of(first.plain->getDesc()), of_branch = copy_of(branch.plain->getDesc());
  corrections_->fuse(*of_first, *of_branch);
  auto made_first = described_by(*of_first, *first.plain), made_branch = described_by(*of_branch, *branch.plain);
  if (!made_first || !made_branch) return;
  first.plain = std::move(made_first);
  first.own_description = std::move(of_first);
  branch.plain = std::move(made_branch);
  branch.own_description = std::move(of_branch);
}

// `plain` by a changed copy of its description; none if its operands are not as expected.
std::unique_ptr<Instruction> BlockReader::described_by(const InstrDesc& description, const Instruction& plain) const {
  const InstrDesc& known = plain.getDesc();
  auto made = of_fixed_cost(description);
  made->setMayLoad(plain.getMayLoad());
  made->setMayStore(plain.getMayStore());
  made->setHasSideEffects(plain.getHasSideEffects());
  made->setBeginGroup(plain.getBeginGroup());
  made->setEndGroup(plain.getEndGroup());
  made->setRetireOOO(plain.getRetireOOO());
  // Definitions and descriptors stand in one order; a descriptor without a register has no definition.
  std::size_t next = 0;
  for (const WriteState& write : plain.getDefs()) {
    while (next < known.Writes.size() &&
           (known.Writes[next].Latency != write.getLatency() || known.Writes[next].SClassOrWriteResourceID != write.getWriteResourceID()))
      ++next;
    if (next == known.Writes.size()) return nullptr;
    made->getDefs().push_back(
        WriteState{description.Writes[next++], write.getRegisterID(), write.clearsSuperRegisters(), write.isWriteZero()});
  }
  next = 0;
  for (const ReadState& read : plain.getUses()) {
    while (next < known.Reads.size() && &known.Reads[next] != &read.getDescriptor()) ++next;
    if (next == known.Reads.size()) return nullptr;
    ReadState copied{description.Reads[next++], read.getRegisterID()};
    if (read.isIndependentFromDef()) copied.setIndependentFromDef();
    made->getUses().push_back(copied);
  }
  return made;
}

void BlockReader::read_ending(const llvm::MCInst& decoded, CoreBlock& block) const {
  const llvm::MCInstrDesc& description = target_.instructions().get(decoded.getOpcode());
  const bool is_relative = decoded.getNumOperands() > 0 && decoded.getOperand(0).isImm();
  block.ending = CoreBlock::Ending::goes_on;
  block.instructions.back().calls = description.isCall() || description.isReturn();
  if (description.isBranch() || block.instructions.back().calls) block.ending = CoreBlock::Ending::jumps;
  if (!description.isConditionalBranch() || !is_relative) return;
  block.ending = CoreBlock::Ending::may_jump;
  block.target = block.instructions.back().next + decoded.getOperand(0).getImm();
}

CoreBlock BlockReader::without_carried_registers(const CoreBlock& block) {
  const llvm::MCRegisterInfo& registers = target_.registers();
  std::vector<bool> is_written(registers.getNumRegUnits());
  CoreBlock cut{.id = block.id, .address = block.address, .instructions = {}};
  for (const CoreInstruction& instruction : block.instructions) {
    CoreInstruction copied;
    copied.own_description = instruction.own_description;
    copied.plain = std::make_unique<Instruction>(*instruction.plain);
    copied.effects = instruction.effects;
    copied.computes_with_memory = instruction.computes_with_memory;
    copied.only_loads = instruction.only_loads;
    copied.gathers = instruction.gathers;
    copied.next = instruction.next;
    copied.width = instruction.width;
    for (ReadState& read : copied.plain->getUses()) {
      const bool is_own = llvm::any_of(registers.regunits(read.getRegisterID()), [&](auto unit) { return is_written[unit]; });
      if (is_own) continue;
      read.setIndependentFromDef();
    }
    for (const WriteState& write : copied.plain->getDefs())
      for (const auto unit : registers.regunits(write.getRegisterID())) is_written[unit] = true;
    if (instruction.arrived) make_arrived(copied, instruction.plain->getDesc().MaxLatency - instruction.arrived->getDesc().MaxLatency);
    cut.instructions.push_back(std::move(copied));
  }
  return cut;
}

}  // namespace homenode
