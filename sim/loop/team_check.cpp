#include "sim/loop/team_check.hpp"

#include <string>

#include "sim/base/errors.hpp"
#include "sim/loop/constructs.hpp"

namespace homenode {
namespace {

void check_execution(const SimulationInput& in, const Execution& execution) {
  const Region& region = region_of(in.workload, execution);
  if (region.kind == RegionKind::task && execution.parallel == 0)
    throw PolicyError("region '" + region.label + "' consists of tasks that belong to no parallel construct");
  if (execution.binding != Binding::rank || execution.parallel == 0 || execution.team == in.threads) return;
  throw UsageError("region '" + region.label + "' is bound to the ranks of a team of " + std::to_string(execution.team) +
                   " (its code asks for its thread number, or each thread creates tasks); allowed: --threads " +
                   std::to_string(execution.team) + ", found " + std::to_string(in.threads));
}

}  // namespace

void check_team(const SimulationInput& in) {
  const std::size_t cores = in.machine.cores();
  if (in.threads < 1) throw UsageError("threads = 0; allowed: at least 1");
  if (in.threads > cores && !in.oversubscribe) {
    throw UsageError(std::to_string(in.threads) + " threads on machine '" + in.machine.name + "' with " + std::to_string(cores) +
                     " cores; allowed: at most " + std::to_string(cores) + ", or --oversubscribe");
  }
  bool creates_threads = false;
  for (const Execution& execution : in.workload.executions) {
    creates_threads |= is_thread_routine(in.workload, execution);
    check_execution(in, execution);
  }
  const std::size_t created = in.workload.threads.size();
  if (creates_threads && in.threads != created) {
    throw UsageError("the program runs " + std::to_string(created) +
                     " threads, its first one and those that it creates itself; allowed: --threads " + std::to_string(created) +
                     ", found " + std::to_string(in.threads));
  }
}

}  // namespace homenode
