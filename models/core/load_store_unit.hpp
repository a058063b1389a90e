// A load-store unit that knows which load reads from which store. A load waits for these alone and passes every other store; stores wait
// for their operands only, as they leave the core in order after they have retired. Fences order nothing; atomic instructions are none of
// its loads and stores.
#pragma once

#include <llvm/MCA/HardwareUnits/LSUnit.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace homenode {

// How a load gets the data of stores that have not left the core.
//  - renamed: as soon as from a register, where the core renames memory
//  - forwarded, vector: from the store buffer, to general registers and to vectors
//  - merged: no store has all of its bytes
enum class Way : std::uint8_t { renamed, forwarded, vector, merged };
constexpr unsigned ways = 4;

// Which stores each instruction of a window reads from, by the instructions' numbers in the window.
struct Forwarding {
  struct Load {
    std::uint32_t first = 0, count = 0;  // in `stores`
    Way way = Way::renamed;
  };
  std::vector<Load> loads;  // by instruction
  std::vector<std::uint32_t> stores;
  std::vector<std::uint8_t> readers;  // by instruction: bits of the ways in which it is read
  std::vector<std::uint64_t> lines;   // by instruction: a number of the cache line that it stores to; 0: none
  static std::uint8_t bit(Way way) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(way)); }
};

// Cycles from the execution of a store until a load that reads from it can execute: 0 is the next cycle.
struct ForwardingDelay {
  std::array<unsigned, ways> by_way{};
};

// Stores that have retired leave for the first level one a cycle, and two where the next one is to the same line.
struct StoreBuffer {
  unsigned entries = 0;  // 0: how they leave is not known, and they leave when they retire
  bool is_full = false;  // at first, of stores that leave by twos: windows are short, and what stores take would not show before it is
};

class LoadStoreUnit final : public llvm::mca::LSUnitBase {
public:
  LoadStoreUnit(const llvm::MCSchedModel&, const Forwarding&, ForwardingDelay, StoreBuffer);

  Status isAvailable(const llvm::mca::InstRef&) const override;
  unsigned dispatch(const llvm::mca::InstRef&) override;
  void onInstructionIssued(const llvm::mca::InstRef&) override;
  void onInstructionExecuted(const llvm::mca::InstRef&) override;
  void onInstructionRetired(const llvm::mca::InstRef&) override;
  void cycleEvent() override;

private:
  struct Release {
    std::uint64_t cycle = 0, key = 0;
  };
  static constexpr std::array<Way, ways> all_ways{Way::renamed, Way::forwarded, Way::vector, Way::merged};
  static std::uint64_t key(std::uint32_t store, Way way) { return std::uint64_t{store} * ways + static_cast<unsigned>(way); }
  void release(std::uint64_t key);
  bool takes_entry(const llvm::mca::InstRef&) const;  // of the store buffer
  void let_stores_leave();

  const Forwarding& forwarding_;
  ForwardingDelay delay_;
  StoreBuffer buffer_;
  std::deque<std::uint64_t> leaving_;  // lines of stores that have retired
  std::uint64_t cycle_ = 0;
  // The group that begins with the store, and ends when the store's data have arrived, which may be later than the store's own end.
  std::unordered_map<std::uint64_t, unsigned> data_;
  std::array<std::deque<Release>, ways> due_;
  llvm::mca::InstrDesc nothing_{};
  std::unique_ptr<llvm::mca::Instruction> arrival_;  // stands for the data in their group
};

}  // namespace homenode
