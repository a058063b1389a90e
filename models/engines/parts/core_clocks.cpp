#include "models/engines/parts/core_clocks.hpp"

#include <algorithm>
#include <utility>

namespace homenode {

std::size_t threads_with_work(const Workload& workload, ExecutionId id, std::size_t team) {
  const Execution& execution = workload.executions[id.index()];
  const RegionKind kind = workload.regions[execution.region.index()].kind;
  if (kind == RegionKind::serial) return 1;
  if (kind == RegionKind::thread || execution.binding == Binding::replicated) return team;
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(execution.iterations, 1)), 1, team);
}

CoreClocks::CoreClocks(const Workload& workload, const Machine& machine, const std::vector<CoreId>& team,
                       std::shared_ptr<const CodeCycles> code)
    : workload_{workload}, machine_{machine}, code_{std::move(code)} {
  if (machine.has_one_clock() || team.empty()) return;
  std::vector<bool> known(machine.cores(), false);
  active_.emplace_back(machine.sockets, 0);
  for (const CoreId core : team) {
    std::vector<unsigned> active = active_.back();
    if (!known[core.index()]) ++active[machine.socket_of(core).index()];
    known[core.index()] = true;
    active_.push_back(std::move(active));
  }
}

CacheDescription at_cycle(CacheDescription cache, double cycle) {
  if (cache.clock == CacheClock::own || cycle == 1) return cache;
  cache.latency = Time::from_seconds(cache.latency.seconds() * cycle);
  if (cache.same_set) cache.same_set = Time::from_seconds(cache.same_set->seconds() * cycle);
  cache.bandwidth_per_core = Bandwidth::bytes_per_second(cache.bandwidth_per_core.bytes_per_second() / cycle);
  return cache;
}

double CoreClocks::cycle(ExecutionId id, CoreId core) const {
  if (active_.empty()) return 1;
  const std::size_t threads = threads_with_work(workload_, id, active_.size() - 1);
  const std::vector<unsigned>& counted = active_[threads];
  unsigned active = threads == 1 ? 1 : counted[machine_.socket_of(core).index()];
  // The scheduler brought it from elsewhere, and others with it: as many as on the busiest socket.
  if (active == 0) active = *std::max_element(counted.begin(), counted.end());
  const VectorWidth width = code_ ? code_->width_of(workload_.executions[id.index()].region) : VectorWidth::narrow;
  return machine_.clock.hertz() / machine_.clock_of(active, width).hertz();
}

}  // namespace homenode
