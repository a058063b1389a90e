// What each cell of an execution takes, for handing out iterations on demand (ProgramOracle::cell_seconds).
//
// A cell's work is its core time and its lines from memory at their own node's idle latency. Equal contiguous chunks are then estimated,
// and the work of each chunk scaled to what its thread takes: cells whose pages lie on a slow node take longer, and what a thread's caches
// hold or its controller delivers is the same for all cells of a chunk.
#include <algorithm>
#include <cstdint>

#include "models/engines/closed_form/model.hpp"

namespace homenode {

std::vector<double> ClosedForm::cell_seconds(ExecutionId id) const {
  const RegionTraffic& traffic = table_.traffic(id);
  const auto threads = static_cast<std::int64_t>(team_.size());
  std::vector<ScheduledRange> equal;
  for (std::int64_t t = 0; t < threads; ++t)
    equal.push_back({t * traffic.iterations / threads, (t + 1) * traffic.iterations / threads, ThreadId{static_cast<std::size_t>(t)}});
  const std::vector<double> taken = estimate(id, equal).thread_seconds;
  const std::vector<std::uint16_t> owner = assign(traffic, equal).owners.of_cell;

  const double latency = latency_.minCoeff();
  std::vector<double> seconds(traffic.cells.size());
  std::vector<double> work(team_.size(), 0);
  for (std::size_t c = 0; c < seconds.size(); ++c) {
    const TrafficCell& cell = traffic.cells[c];
    seconds[c] = cell.core_seconds * (owner[c] == nobody ? 1 : core_clocks_.cycle(id, team_[owner[c]]));
    for (std::size_t p = cell.first_part; p < cell.last_part; ++p) {
      const TrafficPart& part = traffic.parts[p];
      if (part.reads) seconds[c] += part.count * part.share / std::max(part.parallelism, 1.0F) * latency;
    }
    if (owner[c] != nobody) work[owner[c]] += seconds[c];
  }
  for (std::size_t c = 0; c < seconds.size(); ++c)
    if (owner[c] != nobody && work[owner[c]] > 0) seconds[c] *= taken[owner[c]] / work[owner[c]];
  return seconds;
}

}  // namespace homenode
