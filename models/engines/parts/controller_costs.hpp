// What a line costs a memory controller: seconds of its time for a read and for a write, so that reads alone come at its read-only
// bandwidth and a mix of as many reads as writes at its one-to-one bandwidth.
#pragma once

#include "sim/machine/line_bytes.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

struct LineCosts {
  double read = 0, write = 0;
};

inline LineCosts line_costs(const Machine& machine, std::size_t controller) {
  const double line = static_cast<double>(line_bytes(machine));
  const ControllerDescription& description = machine.controllers[controller];
  const double read = 1 / description.read_only.bytes_per_second();
  return {read * line, (2 / description.one_to_one.bytes_per_second() - read) * line};
}

}  // namespace homenode
