// How many cycles a core takes for the code of each region, if every access hits the first level: what a core model (models/core) made of
// the blocks that ran.
#pragma once

#include <vector>

#include "sim/base/ids.hpp"

namespace homenode {

// Of one region, each by the instructions of its instrumented code; a region without a core model has 0 cycles.
struct RegionCycles {
  double cycles = 0;          // of its blocks, and of what they call in libraries
  double mispredictions = 0;  // of branches
  double resolution = 0;      // cycles that these take longer than one whose condition was just computed; negative: less long
};

struct CodeCycles {
  std::vector<RegionCycles> regions;
  // Null: not known, and the classes of its instructions decide.
  const RegionCycles* of(RegionId region) const {
    return region.index() < regions.size() && regions[region.index()].cycles > 0 ? &regions[region.index()] : nullptr;
  }
};

}  // namespace homenode
