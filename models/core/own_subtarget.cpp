#include "models/core/own_subtarget.hpp"

#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

struct Units {
  std::string_view name;
  unsigned count;
};
struct Buffer {
  std::string_view name;
  int size;
};
struct Registers {
  std::string_view name;
  std::uint16_t count;
};

}  // namespace

// 0: as LLVM has it.
struct OwnSubtarget::Changes {
  unsigned dispatched_a_cycle = 0, retired_a_cycle = 0, operations_in_flight = 0;
  int of_load = 0;  // what a register may come later than an address, in an operation on vectors that loads
  std::vector<Units> units = {};
  std::vector<Buffer> buffers = {};
  std::vector<Registers> register_files = {};
};

// Dispatch: the guide says 8. Loops of integer and floating-point operations that wait for nothing get 5.1 to 6.4, with a comparison and
// the branch on it as one; LLVM counts these as two. Only moves between registers, which are not executed, reach 8.
// Units are members of groups: 6 integer units, of which 3 shift; 4 address units. Loads: 4 a cycle of general registers; Zn4FP45 leaves 2
// of vectors. A store of a general register takes two of Zn4Store and of Zn4LSU, one of a vector takes one, and Zn4FPSt: 2 a cycle of
// either. Buffers, as reported for a Zen 5: schedulers of 88 integer operations and 56 addresses, three of 38 floating-point operations;
// 104 stores. The number of loads is assumed, no less than twice the stores'. None was measured. Registers are as reported, too.
const OwnSubtarget::Changes OwnSubtarget::zen5{
    .dispatched_a_cycle = 7,
    .retired_a_cycle = 8,
    .operations_in_flight = 448,
    .of_load = 7,
    .units = {{"Zn4ALU1", 2}, {"Zn4ALU3", 2}, {"Zn4AGU2", 2}, {"Zn4LSU", 6}, {"Zn4Load", 4}, {"Zn4Store", 4}, {"Zn4FPSt", 2}},
    .buffers = {{"Zn4Int", 144}, {"Zn4FP", 114}, {"Zn4Load", 208}, {"Zn4Store", 104}},
    .register_files = {{"Zn4FpPRF", 384}, {"Zn4IntegerPRF", 240}}};

// Widths, units and buffers but the one of stores (core_properties.cpp) are LLVM's: what was measured agrees with them.
const OwnSubtarget::Changes OwnSubtarget::golden_cove{.of_load = 6};

struct OwnSubtarget::Tables {
  Tables(std::unique_ptr<llvm::MCSubtargetInfo> from, const Changes& changes);

  std::unique_ptr<llvm::MCSubtargetInfo> borrowed;
  std::vector<llvm::MCProcResourceDesc> resources;
  std::vector<llvm::MCRegisterFileDesc> files;
  llvm::MCExtraProcessorInfo extra{};
  std::vector<llvm::MCSchedClassDesc> classes;
  std::vector<llvm::MCReadAdvanceEntry> advances;
  llvm::MCSchedModel model;
  std::vector<llvm::SubtargetSubTypeKV> processors;
  const llvm::MCWriteProcResEntry* uses = nullptr;
  const llvm::MCWriteLatencyEntry* latencies = nullptr;

private:
  void change_units(const Changes&);
  void add_classes(int of_load);
};

OwnSubtarget::Tables::Tables(std::unique_ptr<llvm::MCSubtargetInfo> from, const Changes& changes)
    : borrowed{std::move(from)}, model{borrowed->getSchedModel()} {
  change_units(changes);
  add_classes(changes.of_load);
  llvm::MCSchedClassDesc first{};  // the tables' first entries are its
  first.NumWriteLatencyEntries = 1;
  uses = borrowed->getWriteProcResBegin(&first);
  latencies = borrowed->getWriteLatencyEntry(&first, 0);
  for (const llvm::SubtargetSubTypeKV& each : borrowed->getAllProcessorDescriptions()) {
    processors.push_back(each);
    if (borrowed->getCPU() == each.Key) processors.back().SchedModel = &model;
  }
}

void OwnSubtarget::Tables::change_units(const Changes& changes) {
  resources.assign(model.ProcResourceTable, model.ProcResourceTable + model.NumProcResourceKinds);
  const auto resource = [&](std::string_view name) -> llvm::MCProcResourceDesc& {
    for (llvm::MCProcResourceDesc& each : resources)
      if (name == each.Name) return each;
    throw Error("LLVM's model of " + borrowed->getCPU().str() + " has no " + std::string{name});
  };
  for (const Units& changed : changes.units) resource(changed.name).NumUnits = changed.count;
  for (const Buffer& changed : changes.buffers) resource(changed.name).BufferSize = changed.size;
  model.ProcResourceTable = resources.data();

  if (changes.dispatched_a_cycle > 0) model.IssueWidth = changes.dispatched_a_cycle;
  if (changes.operations_in_flight > 0) model.MicroOpBufferSize = changes.operations_in_flight;
  if (!model.hasExtraProcessorInfo()) return;
  extra = model.getExtraProcessorInfo();
  files.assign(extra.RegisterFiles, extra.RegisterFiles + extra.NumRegisterFiles);
  for (llvm::MCRegisterFileDesc& file : files)
    for (const Registers& changed : changes.register_files)
      if (changed.name == file.Name) file.NumPhysRegs = changed.count;
  extra.RegisterFiles = files.data();
  if (changes.operations_in_flight > 0) extra.ReorderBufferSize = changes.operations_in_flight;
  if (changes.retired_a_cycle > 0) extra.MaxRetirePerCycle = changes.retired_a_cycle;
  model.ExtraProcessorInfo = &extra;
}

void OwnSubtarget::Tables::add_classes(int of_load) {
  classes.assign(model.SchedClassTable, model.SchedClassTable + model.NumSchedClasses);
  std::size_t known = 0;
  for (const llvm::MCSchedClassDesc& each : classes)
    known = std::max<std::size_t>(known, std::size_t{each.ReadAdvanceIdx} + each.NumReadAdvanceEntries);
  llvm::MCSchedClassDesc first{};
  first.NumReadAdvanceEntries = 1;
  const llvm::MCReadAdvanceEntry* const begin = borrowed->getReadAdvanceEntries(first).data();
  advances.assign(begin, begin + known);

  constexpr int sooner = 1;
  const auto add = [&](std::initializer_list<llvm::MCReadAdvanceEntry> entries) {
    llvm::MCSchedClassDesc added{};
    added.NumMicroOps = 1;
    added.ReadAdvanceIdx = static_cast<std::uint16_t>(advances.size());
    added.NumReadAdvanceEntries = static_cast<std::uint16_t>(entries.size());
    advances.insert(advances.end(), entries);
    classes.push_back(added);
  };
  // By operand; of one operand the first that fits counts, and 0 fits all. Behind the register come the parts of an address.
  add({{0, sum, sooner}, {1, sum, sooner}});
  add({{0, sum, of_load + sooner}, {0, 0, of_load}});
  model.SchedClassTable = classes.data();
  model.NumSchedClasses = static_cast<unsigned>(classes.size());
}

bool OwnSubtarget::is_golden_cove(const llvm::MCSubtargetInfo& core) {
  const auto model_of = [&](llvm::StringRef name) -> const llvm::MCSchedModel* {
    for (const llvm::SubtargetSubTypeKV& each : core.getAllProcessorDescriptions())
      if (name == each.Key) return each.SchedModel;
    return nullptr;
  };
  const llvm::MCSchedModel* const known = model_of("sapphirerapids");
  return known != nullptr && model_of(core.getCPU()) == known;
}

std::unique_ptr<OwnSubtarget> OwnSubtarget::made(std::unique_ptr<llvm::MCSubtargetInfo> borrowed, const Changes& changes) {
  return std::unique_ptr<OwnSubtarget>{new OwnSubtarget{std::make_unique<Tables>(std::move(borrowed), changes), &changes == &golden_cove}};
}

std::unique_ptr<OwnSubtarget> OwnSubtarget::of_zen5(std::unique_ptr<llvm::MCSubtargetInfo> borrowed) {
  return made(std::move(borrowed), zen5);
}

std::unique_ptr<OwnSubtarget> OwnSubtarget::of_golden_cove(std::unique_ptr<llvm::MCSubtargetInfo> borrowed) {
  return made(std::move(borrowed), golden_cove);
}

OwnSubtarget::OwnSubtarget(std::unique_ptr<Tables> tables, bool is_golden_cove)
    : MCSubtargetInfo{tables->borrowed->getTargetTriple(),
                      tables->borrowed->getCPU(),
                      tables->borrowed->getTuneCPU(),
                      tables->borrowed->getFeatureString(),
                      tables->borrowed->getAllProcessorFeatures(),
                      tables->processors,
                      tables->uses,
                      tables->latencies,
                      tables->advances.data(),
                      nullptr,
                      nullptr,
                      nullptr},
      tables_{std::move(tables)},
      is_golden_cove_{is_golden_cove} {}

OwnSubtarget::~OwnSubtarget() = default;

unsigned OwnSubtarget::resolveVariantSchedClass(unsigned scheduling_class, const llvm::MCInst* instruction, const llvm::MCInstrInfo* all,
                                                unsigned cpu) const {
  return tables_->borrowed->resolveVariantSchedClass(scheduling_class, instruction, all, cpu);
}

unsigned OwnSubtarget::addition_of_registers() const { return tables_->model.NumSchedClasses - 2; }
unsigned OwnSubtarget::addition_of_memory() const { return tables_->model.NumSchedClasses - 1; }

}  // namespace homenode
