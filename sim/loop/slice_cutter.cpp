#include "sim/loop/slice_cutter.hpp"

#include <algorithm>

#include "sim/hardware/memory_model.hpp"
#include "sim/program/footprint.hpp"

namespace homenode {

SliceCutter::SliceCutter(const Workload& workload, Bytes quantum)
    : workload_{workload}, quantum_{quantum}, cuts_(workload.patterns.size()) {}

// An iteration is cut at its heap calls and synchronisation, if it touches more than a quantum, and if it goes over less so often that it
// would hold its core for as long as a pass over all of the shared cache.
const SliceCutter::Cut& SliceCutter::cut(const ItemBlock& block) {
  Cut& cut = cuts_[block.pattern.index()];
  if (cut.footprint == 0) {
    const ItemPattern& pattern = workload_.patterns[block.pattern.index()];
    const auto quantum = static_cast<std::uint64_t>(quantum_.count());
    cut.footprint = footprint_bytes(pattern) + 1;
    cut.inside = !pattern.heap_events.empty() || !pattern.sync_events.empty() || cut.footprint > quantum ||
                 traversed_bytes(pattern) > Stretch::passes * quantum;
  }
  return cut;
}

std::int64_t SliceCutter::end(const std::vector<ItemBlock>& blocks, std::size_t block, std::int64_t next, std::int64_t last) {
  std::uint64_t room = static_cast<std::uint64_t>(quantum_.count());
  std::int64_t end = next;
  for (std::size_t b = block; b < blocks.size() && end < last; ++b) {
    const Cut& cut = this->cut(blocks[b]);
    if (cut.inside) return end;
    const std::int64_t end_of_block = std::min(last, blocks[b].last);
    end += std::min<std::int64_t>(end_of_block - end, static_cast<std::int64_t>(room / cut.footprint));
    if (end < end_of_block) return end;
    room -= cut.footprint * static_cast<std::uint64_t>(end_of_block - std::max(next, blocks[b].first));
  }
  return last;
}

}  // namespace homenode
