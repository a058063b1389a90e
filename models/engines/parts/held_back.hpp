// The lock of the address space between faults, which hold it for reading, and a writer, in a fair queue (system.hpp, MappingCost), for
// slices whose faults come at equal distances and are not events of their own: expected times over where each is between two faults.
#pragma once

#include <algorithm>
#include <span>

namespace homenode {

struct FaultingSlice {
  double held = 0;      // seconds that a fault holds the lock
  double interval = 0;  // seconds from one fault to the next, at least `held`
};

// A slice faults when a writer comes with the chance q = held / interval, and has 0 to `held` left. The writer waits for the last of m
// such: the mean of the greatest, with means of q and the longest `held` for all, is held (1 - (1 - (1 - q)^(m + 1)) / (q (m + 1))).
double wait_for_faults(std::span<const FaultingSlice>);

// What a slice loses while no fault can begin for `blocked` seconds: its next one would come in 0 to `interval`, each as likely.
inline double held_back(double blocked, double interval) {
  if (!(interval > 0)) return std::max(blocked, 0.0);
  if (blocked <= 0) return 0;
  return blocked >= interval ? blocked - interval / 2 : blocked * blocked / (2 * interval);
}

// The same right behind another writer: those that waited for it fault together first, for `held` at most, and come again an interval
// later.
inline double held_back_again(double blocked, double interval) { return std::max(blocked - interval, 0.0); }

}  // namespace homenode
