#include "models/core/load_store_unit.hpp"

namespace homenode {

using llvm::mca::InstRef;
using llvm::mca::Instruction;

LoadStoreUnit::LoadStoreUnit(const llvm::MCSchedModel& model, const Forwarding& forwarding, ForwardingDelay delay, StoreBuffer buffer)
    : LSUnitBase{model, 0, buffer.entries, true}, forwarding_{forwarding}, delay_{delay}, buffer_{buffer} {
  arrival_ = std::make_unique<Instruction>(nothing_, 0);
  constexpr std::uint64_t none = 2;  // lines of the window have odd numbers
  if (buffer_.is_full) leaving_.assign(buffer_.entries, none);
  for (std::size_t entry = 0; entry < leaving_.size(); ++entry) acquireSQSlot();
}

// LLVM takes prefetches for stores.
bool LoadStoreUnit::takes_entry(const InstRef& reference) const {
  if (buffer_.entries == 0) return reference.getInstruction()->getMayStore();
  return forwarding_.lines[reference.getSourceIndex()] != 0;
}

LoadStoreUnit::Status LoadStoreUnit::isAvailable(const InstRef& reference) const {
  const Instruction& instruction = *reference.getInstruction();
  if (instruction.getMayLoad() && isLQFull()) return LSU_LQUEUE_FULL;
  if (takes_entry(reference) && isSQFull()) return LSU_SQUEUE_FULL;
  return LSU_AVAILABLE;
}

unsigned LoadStoreUnit::dispatch(const InstRef& reference) {
  const Instruction& instruction = *reference.getInstruction();
  const std::uint32_t number = reference.getSourceIndex();
  const unsigned group = createMemoryGroup();
  getGroup(group).addInstruction();
  if (instruction.getMayLoad()) acquireLQSlot();
  if (takes_entry(reference)) acquireSQSlot();

  const Forwarding::Load& load = forwarding_.loads[number];
  for (std::uint32_t index = load.first; index < load.first + load.count; ++index) {
    const auto data = data_.find(key(forwarding_.stores[index], load.way));
    if (data != data_.end()) getGroup(data->second).addSuccessor(&getGroup(group), true);
  }
  for (const Way way : all_ways) {
    if ((forwarding_.readers[number] & Forwarding::bit(way)) == 0) continue;
    const unsigned arriving = createMemoryGroup();
    getGroup(arriving).addInstruction();
    data_.emplace(key(number, way), arriving);
  }
  return group;
}

void LoadStoreUnit::onInstructionIssued(const InstRef& reference) {
  LSUnitBase::onInstructionIssued(reference);
  for (const Way way : all_ways) {
    const auto data = data_.find(key(reference.getSourceIndex(), way));
    if (data == data_.end()) continue;
    arrival_->setLSUTokenID(data->second);
    LSUnitBase::onInstructionIssued({0, arrival_.get()});
  }
}

void LoadStoreUnit::onInstructionExecuted(const InstRef& reference) {
  if (!reference.getInstruction()->isMemOp()) return;
  LSUnitBase::onInstructionExecuted(reference);
  for (const Way way : all_ways) {
    const std::uint64_t data = key(reference.getSourceIndex(), way);
    const auto number = static_cast<unsigned>(way);
    if (!data_.contains(data)) continue;
    if (delay_.by_way[number] == 0)
      release(data);
    else
      due_[number].push_back({cycle_ + delay_.by_way[number], data});
  }
}

void LoadStoreUnit::onInstructionRetired(const InstRef& reference) {
  const Instruction& instruction = *reference.getInstruction();
  if (buffer_.entries == 0) {
    LSUnitBase::onInstructionRetired(reference);
    return;
  }
  if (instruction.getMayLoad()) releaseLQSlot();
  if (takes_entry(reference)) leaving_.push_back(forwarding_.lines[reference.getSourceIndex()]);
}

void LoadStoreUnit::let_stores_leave() {
  if (leaving_.empty()) return;
  const std::uint64_t line = leaving_.front();
  const auto leave = [&] {
    leaving_.pop_front();
    releaseSQSlot();
  };
  leave();
  if (!leaving_.empty() && leaving_.front() == line) leave();
}

void LoadStoreUnit::cycleEvent() {
  ++cycle_;
  let_stores_leave();
  LSUnitBase::cycleEvent();
  for (std::deque<Release>& due : due_) {
    while (!due.empty() && due.front().cycle <= cycle_) {
      const std::uint64_t data = due.front().key;
      due.pop_front();
      release(data);
    }
  }
}

void LoadStoreUnit::release(std::uint64_t key) {
  const auto data = data_.find(key);
  arrival_->setLSUTokenID(data->second);
  data_.erase(data);
  LSUnitBase::onInstructionExecuted({0, arrival_.get()});
}

}  // namespace homenode
