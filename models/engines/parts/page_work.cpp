#include "models/engines/parts/page_work.hpp"

#include <algorithm>

namespace homenode {

void add_page_work(const PageWork& done, NodeId node, const AddressSpace& addresses, const Machine& machine, const Topology& topology,
                   const OperatingSystem& system, double& seconds) {
  const std::uint64_t lines_per_page = addresses.page_bytes() / line_bytes(machine);
  if (done.unmapped > 0) seconds += system.mapping.shootdowns(addresses.cores_run()).seconds();
  seconds += static_cast<double>(done.hinting_faults) * system.balancing.hinting_fault.seconds() +
             static_cast<double>(done.unmapped) * system.balancing.scan.seconds();
  const auto copy = [&](const PageMove& move) {
    const Time latency = std::max(topology.latency(node, move.from), topology.latency(node, move.to));
    return static_cast<double>(lines_per_page) / machine.prefetched_lines * latency.seconds();
  };
  for (const PageMove& move : done.moves) seconds += (system.migration.fixed + system.migration.shootdown).seconds() + copy(move);
  for (const PageMove& move : done.copies) seconds += system.migration.fixed.seconds() + copy(move);
  seconds += static_cast<double>(done.replicated) * system.migration.shootdown.seconds();
  seconds +=
      static_cast<double>(done.collapsed.size()) * (system.fault.parallel + system.mapping.shootdowns(addresses.cores_run())).seconds();
}

}  // namespace homenode
