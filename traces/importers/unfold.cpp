#include "traces/importers/unfold.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

struct Placed {
  std::uint64_t sequence = 0;
  UnfoldedAccess access;
};

std::uint64_t pc_of(const Workload& workload, SiteId site) {
  return site.index() < workload.sites.size() ? workload.sites[site.index()].pc : 0;
}

void unfold_run(const AccessRun& run, UnfoldedAccess first, std::vector<Placed>& out) {
  std::array<std::uint64_t, AccessRun::max_dimensions> index{};
  for (std::uint64_t left = run.accesses(); left > 0; --left) {
    Placed placed{run.sequence, first};
    for (unsigned d = 0; d < run.dimensions; ++d) {
      placed.access.address += index[d] * static_cast<std::uint64_t>(run.dimension[d].stride);
      placed.sequence += index[d] * run.dimension[d].sequence_stride;
    }
    out.push_back(placed);
    for (unsigned d = 0; d < run.dimensions && ++index[d] == run.dimension[d].count; ++d) index[d] = 0;
  }
}

}  // namespace

std::vector<UnfoldedAccess> unfold(const Workload& workload, ExecutionId execution, std::int64_t iteration) {
  const auto body = workload.body(execution);
  const auto behind = [](std::int64_t i, const ItemBlock& block) { return i < block.last; };
  const auto block = std::upper_bound(body->blocks.begin(), body->blocks.end(), iteration, behind);
  if (iteration < 0 || block == body->blocks.end()) {
    throw UsageError("iteration " + std::to_string(iteration) + " of an execution with " +
                     std::to_string(workload.executions.at(execution.index()).iterations));
  }
  const ItemPattern& pattern = workload.patterns.at(block->pattern.index());
  const auto address = [&](SlotNumber slot, std::int64_t offset) {
    const SlotBinding& binding = block->slots.at(slot);
    const TracedObject& object = workload.objects.at(binding.object.index());
    return pc_of(workload, object.site) + static_cast<std::uint64_t>(binding.base + (iteration - block->first) * binding.shift + offset);
  };
  std::vector<Placed> placed;
  for (const AccessRun& run : pattern.runs)
    unfold_run(run, {address(run.slot, run.offset), pc_of(workload, run.site), run.width, run.kind}, placed);
  for (const IrregularStream& stream : pattern.streams) {
    for (std::size_t i = 0; i < stream.offset.size(); ++i) {
      const UnfoldedAccess access{address(stream.slot[i], stream.offset[i]), pc_of(workload, stream.site), stream.width, stream.kind};
      placed.push_back({stream.sequence[i], access});
    }
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.sequence < b.sequence; });
  std::vector<UnfoldedAccess> result;
  result.reserve(placed.size());
  for (const Placed& each : placed) result.push_back(each.access);
  return result;
}

}  // namespace homenode
