#include "traces/format/block_extents.hpp"

namespace homenode {
namespace {

// Wide enough for sums of products of any two numbers of a file.
__extension__ using Wide = __int128;

std::int64_t bounded(Wide value) { return static_cast<std::int64_t>(std::clamp<Wide>(value, -ByteExtent::farthest, ByteExtent::farthest)); }

}  // namespace

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
    Wide low = run.offset, high = run.offset;
    for (unsigned d = 0; d < std::min<unsigned>(run.dimensions, AccessRun::max_dimensions); ++d) {
      const Wide reach = (static_cast<Wide>(run.dimension[d].count) - 1) * run.dimension[d].stride;
      (reach < 0 ? low : high) += reach;
    }
    extents[run.slot].add({bounded(low), bounded(high + run.width)});
  }
  for (const IrregularStream& stream : pattern.streams) {
    for (std::size_t i = 0; i < std::min(stream.slot.size(), stream.offset.size()); ++i) {
      if (stream.slot[i] < extents.size())
        extents[stream.slot[i]].add({bounded(stream.offset[i]), bounded(Wide{stream.offset[i]} + stream.width)});
    }
  }
  return extents;
}

ByteExtent BlockExtents::moved(const ByteExtent& extent, const SlotBinding& slot, std::int64_t further) {
  const Wide by = static_cast<Wide>(further) * slot.shift, first = Wide{slot.base} + extent.first, last = Wide{slot.base} + extent.last;
  return {bounded(std::min(first, first + by)), bounded(std::max(last, last + by))};
}

std::vector<ObjectExtent> BlockExtents::of(const ItemBlock& block) {
  std::vector<ObjectExtent> result;
  for_each(block, [&](ObjectId object, const ByteExtent& bytes) { result.push_back({object, bytes}); });
  return result;
}

}  // namespace homenode
