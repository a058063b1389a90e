#include "models/core/load_waits.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "models/core/window_stream.hpp"

namespace homenode {
namespace {

// Cycles that each such load is taken to be late, about what an outer cache takes (assumed). With a quarter of it and with four times as
// much the shares of public programs are much the same: validation/DEVIATIONS.md, "Loads that a core waits for".
constexpr std::uint64_t late = 40;

// What happens to an instruction, and what decided when.
struct Event {
  std::uint64_t at = 0;
  std::int64_t cause = -1;  // three times an instruction, and which event of it; -1: none

  void wait_for(const Event& other, std::int64_t number, std::uint64_t longer = 0) {
    if (other.at + longer > at) *this = {other.at + longer, number};
  }
};
enum Kind : std::int64_t { dispatch, execution, retirement, kinds };
std::int64_t number_of(std::size_t instruction, Kind kind) { return static_cast<std::int64_t>(instruction) * kinds + kind; }

class DataFlow {
public:
  DataFlow(const CoreTarget& target, const WindowStream& stream, const WindowOfBlocks& window)
      : target_{target},
        stream_{stream},
        wrong_{wrong_instructions(stream, window)},
        width_{std::max(1U, target.model().IssueWidth)},
        buffer_{reorder_buffer(target.model())},
        refill_{target.model().MispredictPenalty},
        ready_(target.registers().getNumRegUnits()),
        behind_(stream.code.size() + 1, 0),
        through_load_(stream.code.size(), false) {
    for (std::vector<Event>& events : events_) events.resize(stream.code.size());
    for (std::size_t i = 0; i < stream.code.size(); ++i) step(i);
  }

  bool may_be_late(std::size_t i) const {
    const CoreInstruction& code = *stream_.code[i];
    const int base = code.effects.memory.base;
    return loads(code) && stream_.forwarding.loads[i].count == 0 && base != CoreTarget::rsp && base != CoreTarget::instruction_pointer;
  }

  // Tells each load of the longest chain that ends with the last retirement.
  template <class Told>
  void follow_back(const Told& told) const {
    for (std::int64_t number = number_of(stream_.code.size() - 1, retirement); number >= 0;) {
      const auto i = static_cast<std::size_t>(number / kinds);
      const std::int64_t kind = number % kinds;
      if (kind == execution && through_load_[i]) told(i);
      number = events_[static_cast<std::size_t>(kind)][i].cause;
    }
  }

private:
  static bool loads(const CoreInstruction& code) { return code.effects.loads && code.arrived; }

  void step(std::size_t i) {
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
  Event dispatch_of(std::size_t i, std::uint64_t operations) {
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
  Event arrival(std::size_t i, const Event& address, std::uint64_t takes) const {
    Event arrived{address.at + takes + (may_be_late(i) ? late : 0), address.cause};
    const Forwarding::Load& load = stream_.forwarding.loads[i];
    for (std::uint32_t index = load.first; index < load.first + load.count; ++index) {
      const std::uint32_t store = stream_.forwarding.stores[index];
      arrived.wait_for(events_[execution][store], number_of(store, execution), takes);
    }
    return arrived;
  }

  bool reads_address(const CoreInstruction& code, unsigned llvm_register) const {
    const int general = target_.general_register(llvm_register);
    return loads(code) && general >= 0 && (general == code.effects.memory.base || general == code.effects.memory.index);
  }

  const CoreTarget& target_;
  const WindowStream& stream_;
  std::vector<std::uint32_t> wrong_;
  std::uint64_t width_, buffer_, refill_;
  std::vector<Event> ready_;                      // by register
  std::array<std::vector<Event>, kinds> events_;  // by instruction
  std::vector<std::uint64_t> behind_;             // operations before each instruction
  std::vector<bool> through_load_;                // execution waited for the load's data
  Event slot_;                                    // of dispatch, `width_` a cycle
  std::size_t oldest_ = 0, next_wrong_ = 0;       // in the reorder buffer; of `wrong_`
};

}  // namespace

std::map<std::uint64_t, LoadWaits> load_waits(const CoreTarget& target, const WindowOfBlocks& window, const ForwardingLatency& latency,
                                              std::size_t from) {
  std::map<std::uint64_t, LoadWaits> result;
  const WindowStream stream = window_stream(target, window, latency);
  if (stream.code.empty()) return result;
  const DataFlow flow{target, stream, window};
  std::vector<std::uint32_t> waited(stream.code.size(), 0);
  flow.follow_back([&](std::size_t load) { waited[load] = 1; });
  for (std::size_t execution = from; execution < window.blocks.size(); ++execution) {
    LoadWaits& sum = result[window.blocks[execution]->id];
    for (std::uint32_t i = stream.first[execution]; i < stream.first[execution + 1]; ++i) {
      sum.loads += flow.may_be_late(i);
      sum.waited += waited[i];
    }
  }
  return result;
}

}  // namespace homenode
