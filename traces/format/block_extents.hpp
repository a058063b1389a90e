// Which bytes of its objects a block of iterations may touch: the bounds of each slot's accesses.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

// Bytes [first, last) of an object.
struct ByteExtent {
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
  // One entry for each slot that is touched. What refers to nothing is left out: broken_invariants tells of it.
  std::vector<ObjectExtent> of(const ItemBlock&);

private:
  const std::vector<ByteExtent>& of_iteration(PatternId);

  const Workload& workload_;
  std::map<PatternId, std::vector<ByteExtent>> known_;  // by slot, relative to the slot's binding
};

}  // namespace homenode
