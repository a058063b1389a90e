// How many cycles a core takes for the code of each region, if every access hits the first level: what a core model (models/core) made of
// the blocks that ran.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"

namespace homenode {

// Of one region, each by the instructions of its instrumented code; a region without a core model has 0 cycles.
struct RegionCycles {
  double cycles = 0;          // of its blocks, and of what they call in libraries
  double mispredictions = 0;  // of branches
};

struct CodeCycles {
  std::vector<RegionCycles> regions;
  // Null: not known, and the classes of its instructions decide.
  const RegionCycles* of(RegionId region) const {
    return region.index() < regions.size() && regions[region.index()].cycles > 0 ? &regions[region.index()] : nullptr;
  }
};

// What was made of one program's code so far, by core. Copies share it. Safe to use from several threads: it is made once.
class KnownCodeCycles {
public:
  std::shared_ptr<const CodeCycles> get(const std::string& core, const std::function<CodeCycles()>& make) const {
    const std::lock_guard lock{known_->mutex};
    std::shared_ptr<const CodeCycles>& found = known_->by_core[core];
    if (!found) found = std::make_shared<const CodeCycles>(make());
    return found;
  }

private:
  struct Known {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const CodeCycles>> by_core;
  };
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

}  // namespace homenode
