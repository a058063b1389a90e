// What a trace holds, summed: counts of the whole and of each region.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

struct AccessSums {
  std::uint64_t executions = 0, items = 0, accesses = 0, reads = 0, writes = 0;
  void add(const Execution&);
  bool operator==(const AccessSums&) const = default;
};

struct RegionSummary {
  AccessSums sums;
  WorkCounts work;                  // of all its iterations
  double miss_parallelism = 0;      // see miss_parallelism.hpp; 0 if it touches nothing or dependences were not recorded
  SiteId busiest = SiteId::none();  // on the line that most of its accesses are of; of equal ones the first in its file
};

struct TraceSummary {
  AccessSums sums;
  WorkCounts work;
  std::uint64_t footprint_bytes = 0;   // see touched_bytes.hpp
  std::vector<RegionSummary> regions;  // by region
};

// The sums alone, without reading any body.
AccessSums access_sums(const Workload&);
// Reads every body once.
TraceSummary summarize(const Workload&);

// "heap", "loop" ... as `homenode inspect` prints them.
std::string name_of(ObjectKind);
std::string name_of(RegionKind);

}  // namespace homenode
