#include "models/core/data_flow.hpp"

#include <algorithm>

namespace homenode {

DataFlow::DataFlow(const CoreTarget& target, const WindowStream& stream, const WindowOfBlocks& window, std::uint64_t late)
    : target_{target},
      stream_{stream},
      wrong_{wrong_instructions(stream, window)},
      late_{late},
      width_{std::max(1U, target.model().IssueWidth)},
      buffer_{reorder_buffer(target.model())},
      refill_{target.model().MispredictPenalty},
      ready_(target.registers().getNumRegUnits()),
      behind_(stream.code.size() + 1, 0),
      through_load_(stream.code.size(), false),
      early_(stream.code.size(), false) {
  for (std::vector<Event>& events : events_) events.resize(stream.code.size());
  for (std::size_t i = 0; i < stream.code.size(); ++i) step(i);
}

bool DataFlow::may_be_late(std::size_t i) const {
  const CoreInstruction& code = *stream_.code[i];
  const int base = code.effects.memory.base;
  return loads(code) && stream_.forwarding.loads[i].count == 0 && base != CoreTarget::rsp && base != CoreTarget::instruction_pointer;
}

void DataFlow::step(std::size_t i) {
  const CoreInstruction& code = *stream_.code[i];
  const Event dispatched = events_[dispatch][i] = dispatch_of(i, std::max(1U, code.plain->getDesc().NumMicroOps));
  const std::int64_t own = number_of(i, dispatch);
  Event address{dispatched.at, own}, data = address;
  for (const llvm::mca::ReadState& read : code.plain->getUses()) {
    if (read.isIndependentFromDef()) continue;
    Event& needed = reads_address(code, read.getRegisterID()) ? address : data;
    for (const auto unit : target_.registers().regunits(read.getRegisterID())) needed.wait_for(ready_[unit], ready_[unit].cause);
  }
  const unsigned latency = code.plain->getLatency(), of_load = loads(code) ? latency - code.arrived->getLatency() : 0;
  Event begun = address;
  if (loads(code)) {
    begun = arrival(i, address, of_load);
    early_[i] = begun.at <= data.at;
    through_load_[i] = begun.at >= data.at && may_be_late(i);
  }
  if (data.at > begun.at) begun = data;
  events_[execution][i] = {begun.at + latency - of_load, begun.cause};
  for (const llvm::mca::WriteState& write : code.plain->getDefs()) {
    const auto takes = static_cast<unsigned>(std::max(0, static_cast<int>(write.getLatency())));
    for (const auto unit : target_.registers().regunits(write.getRegisterID()))
      ready_[unit] = {begun.at + takes - std::min(takes, of_load), number_of(i, execution)};
  }
  events_[retirement][i] = {events_[execution][i].at, number_of(i, execution)};
  if (i > 0) events_[retirement][i].wait_for(events_[retirement][i - 1], number_of(i - 1, retirement));
  if (next_wrong_ < wrong_.size() && wrong_[next_wrong_] == i) {
    const Event resumed{(events_[execution][i].at + 1 + refill_) * width_, number_of(i, execution)};
    if (resumed.at > slot_.at) slot_ = resumed;
    ++next_wrong_;
  }
}

// Behind the instruction before it, and when the reorder buffer has places.
DataFlow::Event DataFlow::dispatch_of(std::size_t i, std::uint64_t operations) {
  behind_[i + 1] = behind_[i] + operations;
  for (; oldest_ < i && behind_[i + 1] - behind_[oldest_] > buffer_; ++oldest_) {
    const Event left{events_[retirement][oldest_].at * width_, number_of(oldest_, retirement)};
    if (left.at > slot_.at) slot_ = left;
  }
  const Event dispatched{slot_.at / width_ + 1, slot_.cause};
  slot_ = {slot_.at + operations, number_of(i, dispatch)};
  return dispatched;
}

// Of a load's data.
DataFlow::Event DataFlow::arrival(std::size_t i, const Event& address, std::uint64_t takes) const {
  Event arrived{address.at + takes + (may_be_late(i) ? late_ : 0), address.cause};
  const Forwarding::Load& load = stream_.forwarding.loads[i];
  for (std::uint32_t index = load.first; index < load.first + load.count; ++index) {
    const std::uint32_t store = stream_.forwarding.stores[index];
    arrived.wait_for(events_[execution][store], number_of(store, execution), takes);
  }
  return arrived;
}

bool DataFlow::reads_address(const CoreInstruction& code, unsigned llvm_register) const {
  const int general = target_.general_register(llvm_register);
  if (code.gathers) return true;
  return loads(code) && general >= 0 && (general == code.effects.memory.base || general == code.effects.memory.index);
}

}  // namespace homenode
