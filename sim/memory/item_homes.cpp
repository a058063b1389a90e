#include "sim/memory/item_homes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace homenode {
namespace {

constexpr std::uint64_t samples_a_run = 32;

// Offset of the n-th access of a run, counted along its dimensions, the first innermost.
std::int64_t offset_of(const AccessRun& run, std::uint64_t n) {
  std::int64_t offset = run.offset;
  for (unsigned d = 0; d < run.dimensions; ++d) {
    const RunDimension& dimension = run.dimension[d];
    offset += static_cast<std::int64_t>(n % dimension.count) * dimension.stride;
    n /= dimension.count;
  }
  return offset;
}

}  // namespace

NodeId WrittenHomes::home(std::int64_t iteration) const {
  const auto behind = [](std::int64_t i, const ItemBlock& block) { return i < block.last; };
  const auto block = std::upper_bound(body_->blocks.begin(), body_->blocks.end(), iteration, behind);
  std::vector<double> bytes(addresses_.nodes(), 0.0);
  for (const AccessRun& run : workload_.patterns[block->pattern.index()].runs) {
    if (run.kind == AccessKind::read) continue;
    const SlotBinding& slot = block->slots[run.slot];
    if (workload_.objects[slot.object.index()].thread_private || !addresses_.placed(slot.object)) continue;
    const std::int64_t base = slot.base + (iteration - block->first) * slot.shift;
    const std::uint64_t accesses = run.accesses(), samples = std::min(accesses, samples_a_run);
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      const std::int64_t offset = base + offset_of(run, sample * accesses / samples);
      const NodeId node = addresses_.home_of(addresses_.base_of(slot.object) + static_cast<std::uint64_t>(offset));
      if (!node.is_none())
        bytes[node.index()] += static_cast<double>(run.width) * static_cast<double>(accesses) / static_cast<double>(samples);
    }
  }
  const auto most = std::max_element(bytes.begin(), bytes.end());
  return *most > 0 ? NodeId{static_cast<std::size_t>(most - bytes.begin())} : NodeId::none();
}

}  // namespace homenode
