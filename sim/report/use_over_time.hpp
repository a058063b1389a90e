// Use of each shared resource over time: seconds of use in equal intervals from the begin of the run, up to a given number of intervals.
// When a run gets longer the intervals double in width; the sum stays the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"

namespace homenode {

class UseOverTime {
public:
  explicit UseOverTime(std::size_t resources = 0, std::size_t most_intervals = 2);

  // `seconds` of the resource, evenly from `from` to `to`; all at once if these are equal.
  void add(std::size_t resource, Time from, Time to, double seconds);
  Time interval() const { return Time::picoseconds(width()); }
  // Rows behind those that there are.
  void add_resources(std::size_t more) { seconds_.resize(seconds_.size() + more); }
  // Seconds by interval, up to the last one in use.
  const std::vector<double>& of(std::size_t resource) const { return seconds_[resource]; }
  std::size_t resources() const { return seconds_.size(); }

private:
  void widen();
  std::int64_t width() const { return std::int64_t{1} << width_bits_; }

  std::size_t most_intervals_;  // even
  int width_bits_ = 14;         // of picoseconds: a use of a line is found in its interval without a division
  std::vector<std::vector<double>> seconds_;
};

}  // namespace homenode
