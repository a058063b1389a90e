// What automatic NUMA balancing costs a program that runs for longer than its replay: its last group of executions is repeated, slice by
// slice as recorded without balancing (touch_log.hpp), with the scans, hinting faults and migrations of the policy in time. A scan that
// falls into an execution is felt at the next first touches, as recorded; a slice takes as long as recorded and the kernel's work on top.
//
// Left out: what memory's time becomes where pages have migrated (`moved` says how many), and touches of a page behind the first one in
// an execution, so that a hinting fault comes up to one execution late.
#pragma once

#include <cstdint>

#include "models/run/touch_log.hpp"
#include "sim/machine/system.hpp"
#include "sim/machine/topology.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/report/report.hpp"

namespace homenode {

// The last executions of a run, [first, last), whose regions are those of as many executions before them; nothing if there are none. The
// group that covers most is taken; up to a quarter of the executions may follow it.
struct RepeatedGroup {
  std::size_t first = 0, last = 0;
};
RepeatedGroup repeated_group(const std::vector<LoggedExecution>&);

struct BalancedProgram {
  const TouchLog& log;
  const AddressSpace& addresses;  // at the recorded run's end
  const Machine& machine;
  const OperatingSystem& system;
};

// Repeats until the program has taken `seconds` without balancing. Throws UsageError where nothing repeats.
BalancedTime balanced_time(const BalancedProgram&, PagePlacement& balancing, double seconds);

}  // namespace homenode
