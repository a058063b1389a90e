// Costs of a call beside its algorithm.
#pragma once

#include "sim/base/parameters.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

struct HeapCosts {
  Time call;  // instructions of one call; the system's calls cost what the system says (MappingCost)

  // "approximately 300 nanoseconds to execute a malloc/free pair on a 2.8 GHz P4 (for small objects). The TCMalloc implementation takes
  // approximately 50 nanoseconds": TCMalloc's documentation, which Yang et al. (S1) cite as [7]. Half a pair in cycles:
  static constexpr std::int64_t ptmalloc_cycles = 420, tcmalloc_cycles = 70;

  static std::vector<ParameterSpec> parameters(std::int64_t call_cycles) {
    return {integer_parameter("call_cycles", "cycles", "cycles of one malloc or free (from TCMalloc's documentation)", call_cycles, 0,
                              1 << 20)};
  }
  static HeapCosts of(const Parameters& given, const Machine& machine) {
    return {cycles_to_time(static_cast<double>(given.get("call_cycles")), machine.clock)};
  }
};

}  // namespace homenode
