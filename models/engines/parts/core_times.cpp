#include "models/engines/parts/core_times.hpp"

#include <algorithm>
#include <utility>

#include "sim/program/core_time.hpp"

namespace homenode {

CoreTimes::CoreTimes(const Workload& workload, const Machine& machine, std::shared_ptr<const CodeCycles> code)
    : workload_{workload}, machine_{machine}, code_{std::move(code)}, body_{workload}, per_iteration_(workload.patterns.size(), -1.0) {}

double CoreTimes::seconds(const FilteredSlice& slice) {
  const ExecutionBody& body = *body_.of(slice.items.execution);
  const RegionCycles* code = code_ ? code_->of(workload_.executions[slice.items.execution.index()].region) : nullptr;
  const auto behind = [](std::int64_t iteration, const ItemBlock& b) { return iteration < b.last; };
  double seconds = 0;
  auto block = std::upper_bound(body.blocks.begin(), body.blocks.end(), slice.items.first, behind);
  for (; block != body.blocks.end() && block->first < slice.items.last; ++block) {
    double& each = per_iteration_[block->pattern.index()];
    if (each < 0) each = core_seconds(workload_.patterns[block->pattern.index()].work, code, machine_);
    seconds += each * static_cast<double>(std::min(slice.items.last, block->last) - std::max(slice.items.first, block->first));
  }
  return slice.share * seconds;
}

}  // namespace homenode
