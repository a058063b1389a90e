#include "traces/format/block_extents.hpp"

#include <algorithm>

namespace homenode {

void ByteExtent::add(const ByteExtent& other) {
  first = std::min(first, other.first);
  last = std::max(last, other.last);
}

const std::vector<ByteExtent>& BlockExtents::of_iteration(PatternId id) {
  const auto [entry, added] = known_.try_emplace(id);
  if (!added) return entry->second;
  const ItemPattern& pattern = workload_.patterns[id.index()];
  std::vector<ByteExtent>& extents = entry->second;
  extents.resize(pattern.slots);
  for (const AccessRun& run : pattern.runs) {
    if (run.slot >= extents.size()) continue;
    std::int64_t low = run.offset, high = run.offset;
    for (unsigned d = 0; d < std::min<unsigned>(run.dimensions, AccessRun::max_dimensions); ++d) {
      const std::int64_t reach = (static_cast<std::int64_t>(run.dimension[d].count) - 1) * run.dimension[d].stride;
      (reach < 0 ? low : high) += reach;
    }
    extents[run.slot].add({low, high + run.width});
  }
  for (const IrregularStream& stream : pattern.streams) {
    for (std::size_t i = 0; i < std::min(stream.slot.size(), stream.offset.size()); ++i)
      if (stream.slot[i] < extents.size()) extents[stream.slot[i]].add({stream.offset[i], stream.offset[i] + stream.width});
  }
  return extents;
}

std::vector<ObjectExtent> BlockExtents::of(const ItemBlock& block) {
  std::vector<ObjectExtent> result;
  if (block.pattern.index() >= workload_.patterns.size() || block.last <= block.first) return result;
  const std::vector<ByteExtent>& extents = of_iteration(block.pattern);
  for (std::size_t s = 0; s < std::min(extents.size(), block.slots.size()); ++s) {
    if (extents[s].empty()) continue;
    const SlotBinding& slot = block.slots[s];
    const std::int64_t moved = (block.last - block.first - 1) * slot.shift;
    ByteExtent bytes{slot.base + extents[s].first, slot.base + extents[s].last};
    bytes.add({bytes.first + moved, bytes.last + moved});
    result.push_back({slot.object, bytes});
  }
  return result;
}

}  // namespace homenode
