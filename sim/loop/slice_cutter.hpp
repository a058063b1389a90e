// How the iterations that a thread was handed become slices: rows of whole iterations that touch at most a quantum, or, of an
// iteration that is more than that, stretches.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

class SliceCutter {
public:
  // The workload must outlive it.
  SliceCutter(const Workload&, Bytes quantum);

  Bytes quantum() const { return quantum_; }
  // The end of the longest row of whole iterations from `next` on, at most to `last`, that touches at most a quantum; `next` itself
  // if that iteration comes in stretches. `block`: where it is in `blocks`.
  std::int64_t end(const std::vector<ItemBlock>& blocks, std::size_t block, std::int64_t next, std::int64_t last);

private:
  struct Cut {
    std::uint64_t footprint = 0;  // bytes of one iteration; 0 = not yet known
    bool inside = false;          // an iteration is more than one slice
  };
  const Cut& cut(const ItemBlock&);

  const Workload& workload_;
  Bytes quantum_;
  std::vector<Cut> cuts_;  // by pattern
};

}  // namespace homenode
