// What a line costs a memory controller: seconds of its time for a read and for a write, so that reads alone come at its read-only
// bandwidth and a mix of as many reads as writes at its one-to-one bandwidth.
#pragma once

#include "sim/machine/line_bytes.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

struct LineCosts {
  double read = 0, write = 0;
};

inline LineCosts line_costs(const Machine& machine, Bandwidth read_only, Bandwidth one_to_one) {
  const double line = static_cast<double>(line_bytes(machine)), read = 1 / read_only.bytes_per_second();
  return {read * line, (2 / one_to_one.bytes_per_second() - read) * line};
}

inline LineCosts line_costs(const Machine& machine, std::size_t controller) {
  return line_costs(machine, machine.controllers[controller].read_only, machine.controllers[controller].one_to_one);
}

// Likewise of a node's memory-side cache; nothing where it has none.
inline LineCosts side_cache_costs(const Machine& machine, NodeId id) {
  const NodeDescription& node = machine.nodes[id.index()];
  if (!node.has_side_cache()) return {};
  return line_costs(machine, *node.memory_side_read_only, *node.memory_side_one_to_one);
}

// Seconds of a port for a line that comes in (read) and that goes out (write).
inline LineCosts port_costs(const Machine& machine) {
  if (!machine.has_ports()) return {};
  const double line = static_cast<double>(line_bytes(machine));
  return {line / machine.caches.back().port_read->bytes_per_second(), line / machine.caches.back().port_write->bytes_per_second()};
}

}  // namespace homenode
