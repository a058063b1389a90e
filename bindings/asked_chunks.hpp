// The chunks of one execution of a loop that Python code hands out on demand.
#pragma once

#include <string>
#include <vector>

#include "bindings/user_code.hpp"
#include "sim/policy/work_distribution.hpp"

namespace homenode::python {

// `next(thread, time_ps)` returns (first, last), perhaps with the nanoseconds that it takes, or None when there is nothing left for the
// thread. `complete(first, last, thread, time_ps)` is told, if there is one. Throws PolicyError for an iteration that does not exist or was
// handed out before.
class AskedChunks final : public WorkDistribution {
public:
  // With the GIL. `answer`: what has these methods.
  AskedChunks(std::string who, const pybind11::object& answer, ExecutionId execution, std::int64_t iterations);
  void prepare(const RegionView&, const Team&, const CostOracle*) override {}
  Decision next(ThreadId, Time) override;
  void complete(ItemRange, ThreadId, Time) override;

private:
  void note(std::int64_t first, std::int64_t last);
  std::string who_;
  KeptObject next_, complete_;  // the methods; complete_ may be none
  ExecutionId execution_;
  std::vector<bool> handed_out_;  // by iteration
};

}  // namespace homenode::python
