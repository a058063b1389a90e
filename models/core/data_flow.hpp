// The data flow of a window: dispatch in order, as many operations a cycle as the core takes and as many as its reorder buffer holds; what
// is dispatched begins when its operands are there; what follows a wrong branch is dispatched when that has executed and the front end is
// filled. A load is an operation of its own: it begins when its address is there, whatever else its instruction waits for. Ports are left
// out. These are the nodes of dispatch, execution and commit of B. Fields, S. Rubin, R. Bodik, Focusing Processor Policies via
// Critical-Path Prediction, ISCA 2001.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/core/core_target.hpp"
#include "models/core/window_stream.hpp"

namespace homenode {

class DataFlow {
public:
  // Each load that may be late takes `late` cycles longer. The stream and the window must live as long.
  DataFlow(const CoreTarget&, const WindowStream&, const WindowOfBlocks&, std::uint64_t late);

  // Not from the stack, not of data that a store of the window has just written, and not at an address relative to the instruction pointer
  // (constants, single globals).
  bool may_be_late(std::size_t instruction) const;
  // The load's data are there no later than the last other operand.
  bool has_loaded_early(std::size_t instruction) const { return early_[instruction]; }

  // Tells each load of the longest chain that ends with the last retirement, from the last to the first.
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
  // What happens to an instruction, and what decided when.
  struct Event {
    std::uint64_t at = 0;
    std::int64_t cause = -1;  // three times an instruction, and which event of it; -1: none

    void wait_for(const Event& other, std::int64_t number, std::uint64_t longer = 0) {
      if (other.at + longer > at) *this = {other.at + longer, number};
    }
  };
  enum Kind : std::int64_t { dispatch, execution, retirement, kinds };
  static std::int64_t number_of(std::size_t instruction, Kind kind) { return static_cast<std::int64_t>(instruction) * kinds + kind; }
  static bool loads(const CoreInstruction& code) { return code.effects.loads && code.arrived; }

  void step(std::size_t);
  Event dispatch_of(std::size_t, std::uint64_t operations);
  Event arrival(std::size_t, const Event& address, std::uint64_t takes) const;
  bool reads_address(const CoreInstruction&, unsigned llvm_register) const;

  const CoreTarget& target_;
  const WindowStream& stream_;
  std::vector<std::uint32_t> wrong_;
  std::uint64_t late_, width_, buffer_, refill_;
  std::vector<Event> ready_;                      // by register
  std::array<std::vector<Event>, kinds> events_;  // by instruction
  std::vector<std::uint64_t> behind_;             // operations before each instruction
  std::vector<bool> through_load_;                // execution waited for the load's data
  std::vector<bool> early_;                       // the load's data were there no later than the last other operand
  Event slot_;                                    // of dispatch, `width_` a cycle
  std::size_t oldest_ = 0, next_wrong_ = 0;       // in the reorder buffer; of `wrong_`
};

}  // namespace homenode
