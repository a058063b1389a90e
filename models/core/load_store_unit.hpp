// A load-store unit that knows which load reads from which store. A load waits for these alone and passes every other store; stores wait
// for their operands only, as they leave the core in order after they have retired. Fences order nothing; atomic instructions are none of
// its loads and stores.
#pragma once

#include <llvm/MCA/HardwareUnits/LSUnit.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace homenode {

// Which stores each instruction of a window reads from, by the instructions' numbers in the window.
struct Forwarding {
  struct Load {
    std::uint32_t first = 0, count = 0;  // in `stores`
    bool is_vector = false;              // what is loaded or what was stored is a vector, narrow, or nothing that the core renames
  };
  std::vector<Load> loads;  // by instruction
  std::vector<std::uint32_t> stores;
  std::vector<std::uint8_t> readers;  // by instruction: 1 = it is read as soon as a general register's, 2 = as late as a vector's
};

// Cycles from the execution of a store until a load that reads from it can execute: 0 is the next cycle.
struct ForwardingDelay {
  unsigned general = 0, vector = 0;
};

class LoadStoreUnit final : public llvm::mca::LSUnitBase {
public:
  LoadStoreUnit(const llvm::MCSchedModel&, const Forwarding&, ForwardingDelay);

  Status isAvailable(const llvm::mca::InstRef&) const override;
  unsigned dispatch(const llvm::mca::InstRef&) override;
  void onInstructionIssued(const llvm::mca::InstRef&) override;
  void onInstructionExecuted(const llvm::mca::InstRef&) override;
  void cycleEvent() override;

private:
  struct Release {
    std::uint64_t cycle = 0, key = 0;
  };
  static std::uint64_t key(std::uint32_t store, bool is_vector) { return std::uint64_t{store} * 2 + (is_vector ? 1 : 0); }
  void release(std::uint64_t key);

  const Forwarding& forwarding_;
  ForwardingDelay delay_;
  std::uint64_t cycle_ = 0;
  // The group that begins with the store, and ends when the store's data have arrived, which may be later than the store's own end.
  std::unordered_map<std::uint64_t, unsigned> data_;
  std::deque<Release> due_general_, due_vector_;
  llvm::mca::InstrDesc nothing_{};
  std::unique_ptr<llvm::mca::Instruction> arrival_;  // stands for the data in their group
};

}  // namespace homenode
