// What a trace holds, in numbers: the content of `homenode inspect`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload.hpp"

namespace homenode {

struct InspectedRegion {
  std::string label, kind, schedule_clause, file;
  std::uint32_t line = 0;
  std::uint64_t executions = 0, items = 0, accesses = 0, reads = 0, writes = 0;
  WorkCounts work;
  double miss_parallelism = 0;  // irregular accesses over the longest chain of producers; 0 = no irregular accesses
};

struct Inspection {
  std::uint64_t accesses = 0, reads = 0, writes = 0;
  std::uint64_t footprint_bytes = 0;     // objects that were accessed, each counted whole
  std::vector<InspectedRegion> regions;  // in the trace's order
};

// Reads every body once.
Inspection inspect(const Workload&);

const char* name_of(ObjectKind);
const char* name_of(RegionKind);

// Invariants that a trace must keep; each violation is one line that names the execution or pattern. Empty = sound.
std::vector<std::string> check(const Workload&);

}  // namespace homenode
