// An operating system as the models see it: what page faults, page migrations, NUMA-balancing scans and the scheduler cost.
// Plain data, read from TOML in models/systems (each number there has a source).
//
// Who is charged: faults, zeroing, migrations and scans lengthen the slice in which they happen (hardware/staged_memory_model.hpp).
#pragma once

#include <string>

#include "sim/units.hpp"

namespace homenode {

// Of a fault that places a page, huge ones included. For n faults of one slice:
//   private time  n (parallel + serial) + lines zeroed / prefetched lines x latency to their home
//   shared        n (serial + serial_transfers x mean core-to-core latency to the other threads that fault now) of the address
//                 space's lock, one second of it a second; the zeroed lines are written at the controller of their home.
struct FaultCost {
  Time parallel;                // kernel time on the faulting core that other cores' faults do not delay, zeroing not included
  Time serial;                  // under the lock of the address space: simultaneous faults queue for it
  double serial_transfers = 0;  // lines that travel from the lock's last holder meanwhile
  double zeroing = 1;           // of a fresh page's lines, how many its controller writes before the program does
};

// A page that moves costs its thread fixed + shootdown + the copy at the slower side's pace, with the core's prefetched lines in flight.
struct MigrationCost {
  Time fixed;      // a page: isolate, unmap, remap
  Time shootdown;  // a page: the other cores drop their translation
};

// What automatic NUMA balancing costs its threads; its periods are parameters of the placement `autonuma`.
struct BalancingCost {
  bool available = false;  // since Linux 3.8
  Time hinting_fault;      // on the core that touches a page whose access rights a scan took
  Time scan;               // a scanned page
};

struct SchedulerCost {
  Time time_slice;          // of a thread that shares its core
  double balance_rate = 0;  // a second: how often load balancing moves a thread that may run elsewhere
  double wakeup_moves = 0;  // share of wake-ups that put a thread on another idle core, of its socket if there is one
  Time context_switch;      // of a thread that goes on elsewhere or after another
};

struct OperatingSystem {
  std::string name, description;
  FaultCost fault;
  MigrationCost migration;
  BalancingCost balancing;
  SchedulerCost scheduler;
};

}  // namespace homenode
