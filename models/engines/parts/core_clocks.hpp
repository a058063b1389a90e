// At what clock cores run while an execution does: by how many cores of a socket have its work (Machine::clock_by_cores). A serial part
// has one core at work; a parallel one as many threads of the team, from the first on, as there are iterations. The clock is the same from
// an execution's first slice to its last: cores that wait at its end count as long as it runs. Regions whose code computes on wide vectors
// have that width's clock (RegionCycles::width), on every core that has their work.
#pragma once

#include <memory>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/code_cycles.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

// That run such an execution at a time, of a team of so many. Serial code: 1.
std::size_t threads_with_work(const Workload&, ExecutionId, std::size_t team);

class CoreClocks {
public:
  // Thread t of the team runs on team[t], or begins there; nobody told: all cores run at the base clock. Without `code` no region's vectors
  // are known: all are narrow. Workload and machine must outlive it.
  CoreClocks(const Workload&, const Machine&, const std::vector<CoreId>& team, std::shared_ptr<const CodeCycles> code = nullptr);
  // How long a cycle of the core is, over one at the base clock: at most 1 on narrow code, and 1 where the machine has one clock.
  double cycle(ExecutionId, CoreId) const;

private:
  const Workload& workload_;
  const Machine& machine_;
  std::shared_ptr<const CodeCycles> code_;
  std::vector<std::vector<unsigned>> active_;  // by threads with work, from 0, and socket: cores that have any; empty: one clock
};

// A cache as a core with such cycles finds it.
CacheDescription at_cycle(CacheDescription, double cycle);

}  // namespace homenode
