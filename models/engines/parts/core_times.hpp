// How long cores compute for slices at the base clock, from the instructions of their patterns.
#pragma once

#include <memory>
#include <vector>

#include "models/engines/parts/cache_record.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/code_cycles.hpp"
#include "sim/program/current_body.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

class CoreTimes {
public:
  // Both must outlive it. `code`: null where instructions count by classes.
  CoreTimes(const Workload&, const Machine&, std::shared_ptr<const CodeCycles> code);
  struct Work {
    double seconds = -1, loads = 0;  // loads: instructions
  };
  Work of(const FilteredSlice&);

private:
  const Workload& workload_;
  const Machine& machine_;
  std::shared_ptr<const CodeCycles> code_;
  CurrentBody body_;
  std::vector<Work> per_iteration_;  // by pattern, computed once; negative = not yet
};

}  // namespace homenode
