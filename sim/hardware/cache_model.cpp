#include "sim/hardware/cache_model.hpp"

#include <algorithm>

namespace homenode {

void CacheOutcome::clear() {
  std::fill(hit_lines.begin(), hit_lines.end(), 0);
  std::fill(hit_weight.begin(), hit_weight.end(), 0.0);
  reads.clear();
  writebacks.clear();
  non_temporal_writes.clear();
  written_earlier.clear();
  transfers.clear();
  upgraded.clear();
  short_hits.clear();
  upgrades = accesses = 0;
  sampling_error = 0;
}

}  // namespace homenode
