#include "models/core/core_target.hpp"

#include <fcntl.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "models/core/own_subtarget.hpp"
#include "sim/base/errors.hpp"

// Of libLLVM; <llvm/Support/TargetSelect.h> would initialise every target that it has.
extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86Disassembler();
}

namespace homenode {
namespace {

constexpr const char* triple = "x86_64-unknown-linux-gnu";
constexpr unsigned call_latency = 1;  // of the call by itself: what it calls has instructions of its own, or a cost elsewhere
constexpr std::array<const char*, 16> register_names{"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI",
                                                     "R8",  "R9",  "R10", "R11", "R12", "R13", "R14", "R15"};

const llvm::Target& x86() {
  static const llvm::Target* target = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    std::string error;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, error);
    if (found == nullptr) throw Error("LLVM " + llvm_version() + " has no target x86-64: " + error);
    return found;
  }();
  return *target;
}

bool is_usable(const llvm::MCSchedModel& model) { return model.hasInstrSchedModel() && model.isOutOfOrder(); }

// LLVM warns once of calls and once of returns. Both are dealt with here; standard error is for errors.
class Silence {
public:
  Silence() : kept_{dup(STDERR_FILENO)} {
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing < 0) return;
    dup2(nothing, STDERR_FILENO);
    close(nothing);
  }
  ~Silence() {
    llvm::errs().flush();
    if (kept_ < 0) return;
    dup2(kept_, STDERR_FILENO);
    close(kept_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

private:
  int kept_;
};

}  // namespace

std::string llvm_version() { return LLVM_VERSION_STRING; }

std::string host_cpu() {
  const std::string name = llvm::sys::getHostCPUName().str();
  const std::vector<std::string> known = cpu_names();
  // LLVM says "generic" of a core that it does not know.
  return name == "generic" || std::find(known.begin(), known.end(), name) == known.end() ? std::string{} : name;
}

std::vector<std::string> cpu_names() {
  const std::unique_ptr<llvm::MCSubtargetInfo> any{x86().createMCSubtargetInfo(triple, "", "")};
  std::vector<std::string> names;
  for (const llvm::SubtargetSubTypeKV& cpu : any->getAllProcessorDescriptions())
    if (is_usable(*cpu.SchedModel)) names.emplace_back(cpu.Key);
  return names;
}

CoreTarget::CoreTarget(const std::string& cpu) {
  const std::vector<std::string> known = cpu_names();
  if (std::find(known.begin(), known.end(), cpu) == known.end())
    throw UsageError("LLVM " + llvm_version() + " has no model of an out-of-order core of that name: " + unknown_name("CPU", cpu, known) +
                     "; homenode-mca --cpus lists them");
  subtarget_.reset(x86().createMCSubtargetInfo(triple, cpu, ""));
  std::unique_ptr<OwnSubtarget> own;
  if (OwnSubtarget::is_zen5(cpu)) own = OwnSubtarget::of_zen5(std::move(subtarget_));
  if (subtarget_ && OwnSubtarget::is_golden_cove(*subtarget_)) own = OwnSubtarget::of_golden_cove(std::move(subtarget_));
  own_ = own.get();
  if (own) subtarget_ = std::move(own);
  registers_.reset(x86().createMCRegInfo(triple));
  assembly_.reset(x86().createMCAsmInfo(*registers_, triple, llvm::MCTargetOptions{}));
  instructions_.reset(x86().createMCInstrInfo());
  analysis_.reset(x86().createMCInstrAnalysis(instructions_.get()));
  context_ = std::make_unique<llvm::MCContext>(llvm::Triple{triple}, assembly_.get(), registers_.get(), subtarget_.get());
  decoder_.reset(x86().createMCDisassembler(*subtarget_, *context_));
  constexpr unsigned intel = 1;
  printer_.reset(x86().createMCInstPrinter(llvm::Triple{triple}, intel, *assembly_, *instructions_, *registers_));
  instruments_ = std::make_unique<llvm::mca::InstrumentManager>(*subtarget_, *instructions_);
  builder_ =
      std::make_unique<llvm::mca::InstrBuilder>(*subtarget_, *instructions_, *registers_, analysis_.get(), *instruments_, call_latency);

  general_.assign(registers_->getNumRegs(), no_register);
  vector_.assign(registers_->getNumRegs(), false);
  for (unsigned number = 1; number < registers_->getNumRegs(); ++number) {
    const std::string name = registers_->getName(number);
    const std::string_view kind = std::string_view{name}.substr(0, 3);
    vector_[number] = kind == "XMM" || kind == "YMM" || kind == "ZMM";
    if (name == "RIP") general_[number] = instruction_pointer;
    const auto* found = std::find(register_names.begin(), register_names.end(), name);
    if (found == register_names.end()) continue;
    const auto index = static_cast<int>(found - register_names.begin());
    if (index == rsp) stack_pointer_ = number;
    for (const auto part : registers_->subregs_inclusive(number)) general_[part] = index;
  }
}

std::unique_ptr<llvm::mca::Instruction> CoreTarget::scheduled(const llvm::MCInst& decoded) {
  const llvm::MCInstrDesc& description = instructions_->get(decoded.getOpcode());
  std::unique_ptr<Silence> silence;
  if (description.isCall() || description.isReturn()) silence = std::make_unique<Silence>();
  auto made = builder_->createInstruction(decoded, llvm::SmallVector<llvm::mca::Instrument*>{});
  if (made) return std::move(*made);
  llvm::consumeError(made.takeError());
  return nullptr;
}

std::optional<int> CoreTarget::latency(unsigned opcode) const {
  const llvm::MCSchedClassDesc* const known = model().getSchedClassDesc(instructions_->get(opcode).getSchedClass());
  if (!known->isValid() || known->isVariant()) return std::nullopt;
  return llvm::MCSchedModel::computeInstrLatency(*subtarget_, *known);
}

std::optional<unsigned> CoreTarget::latency_beyond_registers(const llvm::MCInst& decoded) const {
  constexpr unsigned neighbours = 24;  // LLVM numbers instructions by their names: ADDSDrm, ADDSDrm_Int, ADDSDrr
  const unsigned opcode = decoded.getOpcode();
  std::string name = instructions_->getName(opcode).str();
  const auto memory = name.rfind('m');  // ADDSDrm, CMP64mr, VFMADD231SDm
  if (memory == std::string::npos) return std::nullopt;
  name[memory] = 'r';
  for (unsigned other = opcode; other < std::min(opcode + neighbours, instructions_->getNumOpcodes()); ++other) {
    if (instructions_->getName(other) != name) continue;
    std::vector<bool> of_vectors;
    for (const llvm::MCOperandInfo& operand : instructions_->get(other).operands())
      if (operand.RegClass >= 0) of_vectors.push_back(vector_[*registers_->getRegClass(static_cast<unsigned>(operand.RegClass)).begin()]);
    if (of_vectors.empty() || of_vectors.front() != of_vectors.back()) return std::nullopt;
    const auto with_memory = latency(opcode), with_register = latency(other);
    if (!with_memory || !with_register || *with_memory < *with_register) return std::nullopt;
    return static_cast<unsigned>(*with_memory - *with_register);
  }
  return std::nullopt;
}

std::string CoreTarget::text(const llvm::MCInst& decoded) const {
  std::string written;
  llvm::raw_string_ostream stream{written};
  printer_->printInst(&decoded, 0, "", *subtarget_, stream);
  stream.flush();
  return written;
}

std::string CoreTarget::mnemonic(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "?";
  return text.substr(begin, text.find_first_of(" \t", begin) - begin);
}

}  // namespace homenode
