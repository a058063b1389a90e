#include "sim/loop/team_check.hpp"

#include <algorithm>
#include <string>

#include "sim/base/errors.hpp"
#include "sim/loop/constructs.hpp"

namespace homenode {
namespace {

void check_tasks(const Workload& workload) {
  for (const Execution& execution : workload.executions) {
    const Region& region = region_of(workload, execution);
    if (region.kind == RegionKind::task && execution.parallel == 0)
      throw PolicyError("region '" + region.label + "' consists of tasks that belong to no parallel construct");
  }
}

bool is_bound(const Execution& execution) { return execution.binding == Binding::rank && execution.parallel != 0; }

// Threads may share its iterations.
bool can_scale(const Workload& workload, const Execution& execution) {
  return execution.parallel != 0 && execution.binding == Binding::free && (execution.iterations > 1 || is_tasks(workload, execution));
}

void check_ranks(const SimulationInput& in) {
  const std::vector<Execution>& executions = in.workload.executions;
  const bool scales = std::any_of(executions.begin(), executions.end(), [&](const Execution& e) { return can_scale(in.workload, e); });
  for (const Execution& execution : executions) {
    if (!is_bound(execution) || execution.team == in.threads || (scales && execution.team < in.threads)) continue;
    const std::string team = std::to_string(execution.team);
    throw UsageError(
        "region '" + region_of(in.workload, execution).label + "' is bound to the ranks of a team of " + team +
        " (its code asks for its thread number, or each thread creates tasks)" +
        (scales ? "; allowed: --threads " + team + " or more" : ", and no other part can be shared; allowed: --threads " + team) +
        ", found " + std::to_string(in.threads) + "; or a capture with --threads " + std::to_string(in.threads));
  }
}

}  // namespace

void check_team(const SimulationInput& in, const CreatedThreads& created) {
  const std::size_t cores = in.machine.cores(), at_once = created.any() ? created.at_once : in.threads;
  if (in.threads < 1) throw UsageError("threads = 0; allowed: at least 1");
  if (created.any() && in.threads != created.place.size()) {
    throw UsageError("the program runs " + std::to_string(created.place.size()) +
                     " threads, its first one and those that it creates itself; allowed: --threads " +
                     std::to_string(created.place.size()) + ", or none said, found " + std::to_string(in.threads));
  }
  if (at_once > cores && !in.oversubscribe) {
    throw UsageError(std::to_string(at_once) + " threads " + (created.any() ? "at once " : "") + "on machine '" + in.machine.name +
                     "' with " + std::to_string(cores) + " cores; allowed: at most " + std::to_string(cores) + ", or --oversubscribe");
  }
  check_tasks(in.workload);
  check_ranks(in);
}

}  // namespace homenode
