// An operating system as the models see it: what page faults, changes of the memory map, page migrations and NUMA-balancing scans cost.
// Plain data, read from TOML in models/systems (each number there has a source).
//
// Who is charged: faults, zeroing, migrations and scans lengthen the slice in which they happen (models/engines).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "sim/base/units.hpp"
#include "sim/machine/scheduler_settings.hpp"

namespace homenode {

// Of a fault that places a page, huge ones included. For n faults of one slice:
//   private time  n (parallel + lock) + zeroed lines / prefetched lines x latency to their home; `cold` for `parallel` where the frame is
//                 in no cache (sim/memory/warm_frames.hpp)
//   shared        n x lock of the address space's lock, of which one second a second exists; the zeroed lines are written at the
//                 controllers of their homes if no cache keeps the page
//   lock          serial + serial_transfers x mean latency from the core that held it last: this one, or any of those that fault now;
//                 a slice pays what it adds to the sum of those means, (2 sum_j l_j - S / p) / (p + 1) beside p others with
//                 latencies l_j to it and S between them (sum over ordered pairs)
struct FaultCost {
  Time parallel = Time::nanoseconds(500);  // kernel time on the faulting core, in parallel with other faults
  Time serial;                             // under the lock of the address space: simultaneous faults queue for it
  double serial_transfers = 0;             // cache lines of the lock that come from its last holder
  double zeroing = 0;                      // share of a fresh page's lines that are in no cache when the kernel zeroes them
  std::optional<Time> huge = {};           // `parallel` of a fault that places a huge page, where that is known
  std::optional<Time> cold = {};           // `parallel` of one that places a small page on a frame that no cache holds, likewise
};

// Of calls that change the memory map. Faults hold the lock of the address space (mmap_lock) for reading, changes for writing, and the
// queue for it is fair: a change that waits holds back later faults. With p pages whose frames go back and c cores that ran the address
// space:
//   a change      call + release, held for writing
//   release       p page + shootdown + (c - 1) shootdown_core; nothing if p = 0
//   madvise       call + release, held for reading: no fault waits for it
// Frames are given back with the lock held for reading where `releases_exclusively` is 0.
struct MappingCost {
  Time call = Time::nanoseconds(1000);  // one brk, mmap, munmap, mprotect, mbind or madvise
  Time page = Time::nanoseconds(100);   // a page that was there
  Time shootdown;                       // of the call, where another core must drop its translations, too
  Time shootdown_core;                  // each other core that must
  unsigned excludes_faults = 0;         // 1 = faults wait for changes, and changes for faults; 0 = neither
  unsigned releases_exclusively = 1;

  // `pages` > 0 pages' frames go back while `cores` cores have run the address space.
  Time release(std::uint64_t pages, std::size_t cores) const {
    return pages == 0 ? Time{} : page * static_cast<std::int64_t>(pages) + shootdowns(cores);
  }
  Time shootdowns(std::size_t cores) const {
    return cores < 2 ? Time{} : shootdown + shootdown_core * static_cast<std::int64_t>(cores - 1);
  }
};

// A page that moves costs its thread fixed + shootdown + the copy at the slower side's pace, with the core's prefetched lines in flight.
struct MigrationCost {
  Time fixed = Time::nanoseconds(1000);      // a page: isolate, unmap, remap
  Time shootdown = Time::nanoseconds(1000);  // a page: the other cores drop their translation
};

// What automatic NUMA balancing costs its threads; its periods are parameters of the placement `autonuma`.
struct BalancingCost {
  unsigned available = 1;                        // 0 = the kernel has none
  unsigned kernel = 0;                           // version of Linux, 100 x major + minor; 0 = unspecified
  Time hinting_fault = Time::nanoseconds(1000);  // on the core that touches a page whose access rights a scan took
  Time scan = Time::nanoseconds(20);             // a scanned page; a scan that takes rights away costs the shootdown of mapping besides
};

// What the OpenMP runtime does for an explicit task beside the lock of a queue, which is its distribution's (WorkDistribution::submit).
struct TaskCost {
  Time call;    // of one that its creator runs at once
  Time create;  // of one that waits: its data allocated and copied, and put into a queue or behind those that it depends on
  Time take;    // of one that waited: taken, run and freed
};

// The default values are the system `default`: a fault costs the same everywhere, zeroing included. Assumed.
struct OperatingSystem {
  std::string name = "default", description;
  FaultCost fault;
  MappingCost mapping;
  MigrationCost migration;
  BalancingCost balancing;
  TaskCost tasks{.call = Time::nanoseconds(15), .create = Time::nanoseconds(50), .take = Time::nanoseconds(30)};
  SchedulerSettings scheduler;
};

}  // namespace homenode
