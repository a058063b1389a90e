#include "models/distribution/shared_counter.hpp"

namespace homenode {

Time shared_counter_time(const Team& team) {
  if (team.size() < 2) return Time{};
  for (const CoreId core : team.core) {
    if (team.machine->socket_of(core) != team.machine->socket_of(team.core.front())) return team.machine->core_to_core_remote;
  }
  return team.machine->core_to_core_local;
}

}  // namespace homenode
