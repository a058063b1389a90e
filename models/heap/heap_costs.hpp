// Costs of a call beside its algorithm.
#pragma once

#include "sim/base/parameters.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

struct HeapCosts {
  Time call;  // instructions of one call; the system's calls cost what the system says (MappingCost)

  // Measured on a Zen 4 core of 3.7 GHz, 20,000 blocks of 24 to 640 bytes: glibc 2.36 took 6 to 52 ns a malloc or free without its
  // thread's cache, 4 ns with it; TCMalloc (gperftools 2.10) 3 to 7 ns. Low and high: 22 and 190 cycles; 11 and 26.
  static constexpr std::int64_t ptmalloc_cycles = 60, ptmalloc_cached_cycles = 15, tcmalloc_cycles = 15;
  // Of an allocator by lines (S2): assumed to be half of the pair that TCMalloc's documentation gives for a P4, 50 ns at 2.8 GHz.
  static constexpr std::int64_t line_blocks_cycles = 70;

  static std::vector<ParameterSpec> parameters(std::int64_t call_cycles) {
    return {integer_parameter("call_cycles", "cycles", "cycles of one malloc or free", call_cycles, 0, 1 << 20)};
  }
  static HeapCosts of(const Parameters& given, const Machine& machine) {
    return {cycles_to_time(static_cast<double>(given.get("call_cycles")), machine.clock)};
  }
};

}  // namespace homenode
