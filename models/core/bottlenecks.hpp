// What bounds a block: from what the core did in the cycles that the block took.
#pragma once

#include <llvm/MC/MCSchedule.h>

#include <cstdint>
#include <map>
#include <string>

namespace homenode {

// Sums over the cycles of a block: those in which its first instruction that has not retired was the oldest of the core.
struct CoreActivity {
  std::uint64_t cycles = 0;
  std::uint64_t operations = 0;      // micro-operations dispatched
  std::uint64_t waits_for_data = 0;  // cycles in which instructions waited for registers or for a store
  std::uint64_t waits_for_ports = 0;
  std::uint64_t waits_for_code = 0;  // cycles in which the front end had not yet found what follows a taken branch
  double fetching = 0;               // cycles that the front end takes to hand the code over, where it is known
  std::map<unsigned, double> busy;   // by LLVM's resource: cycles of use that began

  void add(const CoreActivity&);
};

// Shares of the cycles, at most 1, where both hardware threads of a core share what is used.
struct SharedUse {
  double units = 0;     // in which the busiest unit is in use, or what dispatches
  double fetching = 0;  // in which the front end hands over lines of code, where it is known how it does
};
SharedUse shared_use(const CoreActivity&, const llvm::MCSchedModel&);

// "front end", "port NAME", or "latency", also where a full buffer hides what is waited for.
std::string bottleneck(const CoreActivity&, const llvm::MCSchedModel&);

}  // namespace homenode
