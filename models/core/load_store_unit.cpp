#include "models/core/load_store_unit.hpp"

namespace homenode {

using llvm::mca::InstRef;
using llvm::mca::Instruction;

LoadStoreUnit::LoadStoreUnit(const llvm::MCSchedModel& model, const Forwarding& forwarding, ForwardingDelay delay)
    : LSUnitBase{model, 0, 0, true}, forwarding_{forwarding}, delay_{delay} {
  arrival_ = std::make_unique<Instruction>(nothing_, 0);
}

LoadStoreUnit::Status LoadStoreUnit::isAvailable(const InstRef& reference) const {
  const Instruction& instruction = *reference.getInstruction();
  if (instruction.getMayLoad() && isLQFull()) return LSU_LQUEUE_FULL;
  if (instruction.getMayStore() && isSQFull()) return LSU_SQUEUE_FULL;
  return LSU_AVAILABLE;
}

unsigned LoadStoreUnit::dispatch(const InstRef& reference) {
  const Instruction& instruction = *reference.getInstruction();
  const std::uint32_t number = reference.getSourceIndex();
  const unsigned group = createMemoryGroup();
  getGroup(group).addInstruction();
  if (instruction.getMayLoad()) acquireLQSlot();
  if (instruction.getMayStore()) acquireSQSlot();

  const Forwarding::Load& load = forwarding_.loads[number];
  for (std::uint32_t index = load.first; index < load.first + load.count; ++index) {
    const auto data = data_.find(key(forwarding_.stores[index], load.is_vector));
    if (data != data_.end()) getGroup(data->second).addSuccessor(&getGroup(group), true);
  }
  for (const bool is_vector : {false, true}) {
    if ((forwarding_.readers[number] & (is_vector ? 2 : 1)) == 0) continue;
    const unsigned arriving = createMemoryGroup();
    getGroup(arriving).addInstruction();
    data_.emplace(key(number, is_vector), arriving);
  }
  return group;
}

void LoadStoreUnit::onInstructionIssued(const InstRef& reference) {
  LSUnitBase::onInstructionIssued(reference);
  for (const bool is_vector : {false, true}) {
    const auto data = data_.find(key(reference.getSourceIndex(), is_vector));
    if (data == data_.end()) continue;
    arrival_->setLSUTokenID(data->second);
    LSUnitBase::onInstructionIssued({0, arrival_.get()});
  }
}

void LoadStoreUnit::onInstructionExecuted(const InstRef& reference) {
  if (!reference.getInstruction()->isMemOp()) return;
  LSUnitBase::onInstructionExecuted(reference);
  for (const bool is_vector : {false, true}) {
    const std::uint64_t data = key(reference.getSourceIndex(), is_vector);
    const unsigned delay = is_vector ? delay_.vector : delay_.general;
    if (!data_.contains(data)) continue;
    if (delay == 0)
      release(data);
    else
      (is_vector ? due_vector_ : due_general_).push_back({cycle_ + delay, data});
  }
}

void LoadStoreUnit::cycleEvent() {
  ++cycle_;
  LSUnitBase::cycleEvent();
  for (std::deque<Release>* due : {&due_general_, &due_vector_}) {
    while (!due->empty() && due->front().cycle <= cycle_) {
      const std::uint64_t data = due->front().key;
      due->pop_front();
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
