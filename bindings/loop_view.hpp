// What a distribution written in Python sees of one execution of a loop.
#pragma once

#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "sim/hardware/cost_oracle.hpp"
#include "sim/policy/work_distribution.hpp"

namespace homenode::python {

// Python may keep it longer than the execution lasts; homes and estimates are then refused by a UsageError.
class LoopView {
public:
  LoopView(const RegionView& region, const Team& team, const CostOracle* oracle)
      : region_{region}, label_{region.region != nullptr ? region.region->label : ""}, cores_{team.core}, oracle_{oracle} {}
  void end() { is_over_ = true; }

  ExecutionId execution() const { return region_.execution; }
  std::int64_t iterations() const { return region_.iterations; }
  std::uint64_t seed() const { return region_.seed; }
  bool tasks() const { return region_.region != nullptr && region_.region->kind == RegionKind::task; }
  const std::string& label() const { return label_; }
  const std::vector<CoreId>& cores() const { return cores_; }  // by thread

  // The node of each iteration of [first, last), -1 where none of what it writes is placed.
  std::vector<std::int64_t> homes(std::int64_t first, std::int64_t last) const;
  // Seconds of work by thread, if each runs these ranges. Throws UsageError if the run can give no estimates.
  std::vector<double> seconds(const std::vector<ScheduledRange>& schedule) const;

private:
  void require_running() const;
  RegionView region_;
  std::string label_;
  std::vector<CoreId> cores_;
  const CostOracle* oracle_;
  bool is_over_ = false;
};

void bind_loop_view(pybind11::module_&);

}  // namespace homenode::python
