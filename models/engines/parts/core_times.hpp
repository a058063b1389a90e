// How long cores compute for slices, from the instructions of their patterns.
#pragma once

#include <vector>

#include "models/engines/parts/cache_record.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/current_body.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

class CoreTimes {
public:
  // Both must outlive it.
  CoreTimes(const Workload&, const Machine&);
  double seconds(const FilteredSlice&);

private:
  const Workload& workload_;
  const Machine& machine_;
  CurrentBody body_;
  std::vector<double> per_iteration_;  // by pattern, computed once; negative = not yet
};

}  // namespace homenode
