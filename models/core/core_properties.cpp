#include "models/core/core_properties.hpp"

#include "models/core/own_subtarget.hpp"

namespace homenode {
namespace {

using Renames = ForwardingLatency::Renames;

// Stores and loads of their data in turns, in units of a chain of integer additions.
//
// A Golden Cove (family 6, model 207) renames memory, but not where the address has an index, nor for `add %rdx, (%rsi)`, and takes 5
// cycles else (docs/decisions/0076). LLVM's model of it has 17. Where no store has all bytes of a load it takes 15 to 19 (0084). Stores to
// one line or two, by twos, take 0.57 cycles, to two lines in turn 1.04, three and one in turn 0.80; 112 entries are assumed: half and
// twice as many make glpk's code 1.01 and 1.00 of its time (0085). Branch targets: jumps, calls and nops that go round (0083, 0085).
CoreProperties golden_cove() {
  return {.forwarding = {.renamed = 1, .general = 5, .vector = 5, .merged = 17, .renames = Renames::without_index},
          .store_buffer = 112,
          .branch_targets = {.entries = 128}};
}

// An EPYC of family 26: doubles and vectors of 16 and 32 bytes 9 cycles; 4 and 8 bytes of general registers 0 to 1, whatever the address
// was made of; one and two bytes 7 (docs/decisions/0071).
CoreProperties zen5() { return {.forwarding = {.renamed = 1, .general = 9, .vector = 9}, .store_buffer = 0, .branch_targets = {}}; }

// An EPYC of family 25, model 1 (docs/decisions/0091): 8 bytes at a constant beside rsp or rbp 0 to 1 cycle; beside other registers 6, or 0
// to 1 where a predictor has learned the pair of store and load, which it does in loops of a dozen pairs at most, and which is left out.
// Vectors 9 to 10; no store has all bytes: 18 to 20. Stores to one line by twos 0.5 cycles, to two lines in turn 1.0. Its guide has 64
// entries. Branches: up to 1024 taken ones that go round take a cycle, 2048 and 4096 3, which no window is long enough to tell; a call and
// its return 4.2 together.
CoreProperties zen3() {
  return {.forwarding = {.renamed = 1, .general = 6, .vector = 9, .merged = 18, .renames = Renames::stack},
          .store_buffer = 64,
          .branch_targets = {.entries = 1024, .operations = 8, .far = 0, .call = 1.1}};
}

}  // namespace

CoreProperties properties_of(const CoreTarget& target) {
  if (target.subtarget().getCPU() == "znver3") return zen3();
  if (target.own() == nullptr) return {};
  return target.own()->is_golden_cove() ? golden_cove() : zen5();
}

}  // namespace homenode
