// Which bytes of its objects a block of iterations may touch: the bounds of each slot's accesses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

// Bytes [first, last) of an object. Bounds beyond `farthest` stand for all there: a file may hold any numbers.
struct ByteExtent {
  static constexpr std::int64_t farthest = std::int64_t{1} << 61;
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  bool empty() const { return first >= last; }
  std::int64_t size() const { return empty() ? 0 : last - first; }
  void add(const ByteExtent&);
  bool operator==(const ByteExtent&) const = default;
};

struct ObjectExtent {
  ObjectId object;
  ByteExtent bytes;
};

// Keeps what it found about patterns, since many blocks share one.
class BlockExtents {
public:
  explicit BlockExtents(const Workload& workload) : workload_{workload} {}
  // Calls visit(object, bytes) for each slot that is touched. What refers to nothing is left out: broken_invariants tells of it.
  template <class Visit>
  void for_each(const ItemBlock& block, Visit&& visit) {
    if (block.pattern.index() >= workload_.patterns.size() || block.last <= block.first) return;
    const std::vector<ByteExtent>& extents = of_iteration(block.pattern);
    for (std::size_t s = 0; s < std::min(extents.size(), block.slots.size()); ++s) {
      if (!extents[s].empty()) visit(block.slots[s].object, moved(extents[s], block.slots[s], block.last - block.first - 1));
    }
  }
  std::vector<ObjectExtent> of(const ItemBlock&);

private:
  const std::vector<ByteExtent>& of_iteration(PatternId);
  // Over the first iteration and `further` ones.
  static ByteExtent moved(const ByteExtent&, const SlotBinding&, std::int64_t further);

  const Workload& workload_;
  std::map<PatternId, std::vector<ByteExtent>> known_;  // by slot, relative to the slot's binding
};

}  // namespace homenode
