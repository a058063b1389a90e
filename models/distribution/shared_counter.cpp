#include "models/distribution/shared_counter.hpp"

#include <algorithm>

namespace homenode {

Time shared_counter_time(const Team& team) {
  if (team.size() < 2) return Time{};
  Time farthest;
  for (const CoreId core : team.core) farthest = std::max(farthest, team.machine->core_to_core(team.core.front(), core));
  return farthest;
}

}  // namespace homenode
