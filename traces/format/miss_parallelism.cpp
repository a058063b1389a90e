#include "traces/format/miss_parallelism.hpp"

#include <algorithm>

namespace homenode {
namespace {

constexpr std::uint64_t groups_a_region = 1 << 18;  // some tenths of a second
constexpr std::uint64_t fewest_groups = 4;          // of a stretch
constexpr std::int64_t stretches_an_execution = 16;
constexpr std::uint64_t page = 4096;

}  // namespace

MissParallelism::MissParallelism(const Workload& workload)
    : workload_{workload}, by_region_(workload.regions.size()), touches_{LineTouchOptions{}} {
  Address next{page};
  for (const TracedObject& object : workload.objects) {
    address_.push_back(next);
    next += (object.bytes / page + 2) * page;
  }
  for (const Execution& execution : workload.executions) ++by_region_.at(execution.region.index()).executions;
}

void MissParallelism::add(RegionId region, const ExecutionBody& body) {
  if (body.blocks.empty()) return;
  Sum& sum = by_region_.at(region.index());
  const std::int64_t iterations = body.blocks.back().last, stretches = std::min(iterations, stretches_an_execution);
  const std::uint64_t groups =
      std::max(fewest_groups, groups_a_region / std::max<std::uint64_t>(sum.executions, 1) / static_cast<std::uint64_t>(stretches));
  for (std::int64_t stretch = 0; stretch < stretches; ++stretch) {
    // Dividing first: iterations may be as many as the type holds.
    const std::int64_t length = iterations / stretches, first = stretch * length;
    touches_.start(workload_.patterns, body, first, stretch + 1 == stretches ? iterations : first + length,
                   [this](ObjectId object) { return address_.at(object.index()); });
    for (std::uint64_t group = 0; group < groups && touches_.next(group_); ++group) {
      for (const LineTouch& touch : group_) {
        const auto lines = static_cast<double>(touch.lines.size());
        sum.lines += lines;
        sum.latencies += lines / static_cast<double>(touch.parallelism);
      }
    }
  }
}

double MissParallelism::of(RegionId region) const {
  const Sum& sum = by_region_.at(region.index());
  return sum.latencies > 0 ? sum.lines / sum.latencies : 0;
}

}  // namespace homenode
