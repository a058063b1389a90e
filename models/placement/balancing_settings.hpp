// What automatic NUMA balancing can be told, and how its kernels differ.
#pragma once

#include <cstdint>

#include "sim/base/units.hpp"

namespace homenode {

// linux_3_10 (3.8 to 3.12): scans and migrates pages, knows nothing of threads. linux_4_4 (3.13 to 4.19): with fault statistics, thread
// groups, preferred nodes and pseudo-interleaving (since 3.15) by a set of active nodes, 128 MiB a node in 100 ms at most. linux_6_1:
// migrates at the first fault early in a thread's life (4.20), balances memory by use of CPUs (4.6), without that limit (4.20).
enum class BalancingKernel : std::uint8_t { linux_3_10, linux_4_4, linux_6_1 };

// kernel/sched/fair.c, sysctl_numa_balancing_*: 3.10 has periods of 100 ms to 5 s, 3.13 and later those of 1 to 60 s.
struct BalancingSettings {
  BalancingKernel kernel = BalancingKernel::linux_6_1;
  Time scan_delay = Time::from_seconds(1);       // of the first scan
  Time scan_period_min = Time::from_seconds(1);  // between scans, each for one thread's period
  Time scan_period_max = Time::from_seconds(60);
  Time tick = Time::from_seconds(4e-3);      // of the system
  Bytes scan_size{std::int64_t{256} << 20};  // of the pages that one scan unmaps
};

}  // namespace homenode
