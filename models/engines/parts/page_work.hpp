// What the kernel's work on pages takes (system.hpp): moves, hinting faults and scans of a placement that watches pages, and fresh pages
// that are zeroed.
#pragma once

#include <cmath>

#include "sim/machine/line_bytes.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/system.hpp"
#include "sim/machine/topology.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {

// Adds to `seconds` what a core of `node` spends on it. A page is copied at the pace of the slower side, with as many lines outstanding as
// a stream has. A scan that took rights away costs a TLB shootdown. A page that is replicated costs what moving it to each new node costs,
// but one shootdown; a page that collapses a fault and a shootdown. The lock of these faults is the engine's.
void add_page_work(const PageWork&, NodeId node, const AddressSpace&, const Machine&, const Topology&, const OperatingSystem&,
                   double& seconds);

// The faults' own time, beside the lock and the zeroed lines. `huge` of them placed huge pages, `cold` small ones on frames that no cache
// held.
inline double fault_seconds(const FaultCost& cost, std::uint64_t faults, std::uint64_t huge, std::uint64_t cold) {
  return static_cast<double>(faults - huge - cold) * cost.parallel.seconds() +
         static_cast<double>(huge) * cost.huge.value_or(cost.parallel).seconds() +
         static_cast<double>(cold) * cost.cold.value_or(cost.parallel).seconds();
}

// What the core waits for lines that it is about to zero, whether it then keeps them or writes them to memory.
inline double zeroing_seconds(const Machine& machine, double lines, double latency) { return lines / machine.prefetched_lines * latency; }

// The lines of fresh pages that are in no cache when the kernel zeroes them, of the pages settled last: each(home, lines).
template <class Each>
void for_each_zeroed(const AddressSpace& addresses, const Machine& machine, const FaultCost& cost, Each&& each) {
  if (cost.zeroing == 0) return;
  const double lines_per_page = static_cast<double>(addresses.page_bytes()) / static_cast<double>(line_bytes(machine));
  for (std::size_t home = 0; home < machine.nodes.size(); ++home) {
    const std::uint64_t pages = addresses.settled_pages()[home];
    if (pages == 0) continue;
    each(NodeId{home}, static_cast<std::uint64_t>(std::llround(static_cast<double>(pages) * lines_per_page * cost.zeroing)));
  }
}

}  // namespace homenode
