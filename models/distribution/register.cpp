#include "models/distribution/register.hpp"

#include "models/policies.hpp"

namespace homenode {

const Registry<WorkDistribution>& work_distributions() {
  static const Registry<WorkDistribution> registry = [] {
    Registry<WorkDistribution> r{"distribution"};
    r.add(static_schedule());
    r.add(dynamic_schedule());
    r.add(guided_schedule());
    r.add(auto_schedule());
    r.add(latency_weighted());
    r.add(task_queue());
    r.add(locality_queues());
    r.add(tbb());
    r.add(tbb_affinity());
    r.add(work_stealing());
    return r;
  }();
  return registry;
}

Time shared_counter_time(const Team& team) {
  if (team.size() < 2) return Time{};
  for (const CoreId core : team.core) {
    if (team.machine->socket_of(core) != team.machine->socket_of(team.core.front())) return team.machine->core_to_core_remote;
  }
  return team.machine->core_to_core_local;
}

}  // namespace homenode
