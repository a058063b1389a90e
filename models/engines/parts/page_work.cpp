#include "models/engines/parts/page_work.hpp"

#include <algorithm>

namespace homenode {

void add_page_work(const PageWork& done, NodeId node, const AddressSpace& addresses, const Machine& machine, const Topology& topology,
                   const OperatingSystem& system, double& seconds) {
  const std::uint64_t lines_per_page = addresses.page_bytes() / line_bytes(machine);
  if (done.unmapped > 0) seconds += system.mapping.shootdowns(addresses.cores_run()).seconds();
  seconds += static_cast<double>(done.hinting_faults) * system.balancing.hinting_fault.seconds() +
             static_cast<double>(done.unmapped) * system.balancing.scan.seconds();
  for (const PageMove& move : done.moves) {
    const Time latency = std::max(topology.latency(node, move.from), topology.latency(node, move.to));
    seconds += (system.migration.fixed + system.migration.shootdown).seconds() +
               static_cast<double>(lines_per_page) / machine.prefetched_lines * latency.seconds();
  }
}

}  // namespace homenode
