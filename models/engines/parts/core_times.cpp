#include "models/engines/parts/core_times.hpp"

#include <algorithm>
#include <utility>

#include "sim/program/core_time.hpp"

namespace homenode {

CoreTimes::CoreTimes(const Workload& workload, const Machine& machine, std::shared_ptr<const CodeCycles> code)
    : workload_{workload}, machine_{machine}, code_{std::move(code)}, body_{workload}, per_iteration_(workload.patterns.size()) {}

CoreTimes::Work CoreTimes::of(const FilteredSlice& slice) {
  const ExecutionBody& body = *body_.of(slice.items.execution);
  const RegionCycles* code = code_ ? code_->of(workload_.executions[slice.items.execution.index()].region) : nullptr;
  const auto behind = [](std::int64_t iteration, const ItemBlock& b) { return iteration < b.last; };
  Work sum{0, 0};
  auto block = std::upper_bound(body.blocks.begin(), body.blocks.end(), slice.items.first, behind);
  for (; block != body.blocks.end() && block->first < slice.items.last; ++block) {
    Work& each = per_iteration_[block->pattern.index()];
    const WorkCounts& work = workload_.patterns[block->pattern.index()].work;
    if (each.seconds < 0) each = {core_seconds(work, code, machine_), loading_instructions(work, code)};
    const auto iterations = static_cast<double>(std::min(slice.items.last, block->last) - std::max(slice.items.first, block->first));
    sum.seconds += each.seconds * iterations;
    sum.loads += each.loads * iterations;
  }
  return {slice.share * sum.seconds, slice.share * sum.loads};
}

}  // namespace homenode
