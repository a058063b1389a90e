// How much of each shared resource was in use when: seconds of its time in equal intervals from the run's begin, no more of them than was
// asked for. A longer run has wider intervals (each twice as wide as before), so that the sum never changes.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/base/units.hpp"

namespace homenode {

class UseOverTime {
public:
  explicit UseOverTime(std::size_t resources = 0, std::size_t most_intervals = 2);

  // `seconds` of the resource, evenly from `from` to `to`; all at once if these are equal.
  void add(std::size_t resource, Time from, Time to, double seconds);
  Time interval() const { return Time::picoseconds(width_); }
  // Seconds by interval, up to the last one in use.
  const std::vector<double>& of(std::size_t resource) const { return seconds_[resource]; }
  std::size_t resources() const { return seconds_.size(); }

private:
  void widen();

  std::size_t most_intervals_;   // even
  std::int64_t width_ = 16'384;  // picoseconds
  std::vector<std::vector<double>> seconds_;
};

}  // namespace homenode
