// Free frames whose lines are still in caches. What a program gave back a moment ago is given out first, so a frame is warm as long as no
// more were given out than the last-level caches of the node's cores hold; each frame that comes back is warm again. The kernel clears a
// cold frame, and finds its records of it, in memory: a fault takes FaultCost::cold. Native runs: docs/decisions/0051 and 0052.
// A run begins with warm frames, as where a program like it ended just before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

class WarmFrames {
public:
  WarmFrames(const Machine& machine, std::uint64_t page_bytes) {
    std::vector<std::uint64_t> cores(machine.nodes.size(), 0);
    for (const NodeId node : machine.core_node) ++cores[node.index()];
    for (const std::uint64_t of_node : cores) {
      if (machine.caches.empty()) {
        most_.push_back(0);
        continue;
      }
      const CacheDescription& last = machine.caches.back();
      most_.push_back(of_node * static_cast<std::uint64_t>(last.size.count()) / last.cores_per_cache / page_bytes);
    }
    warm_ = most_;
  }

  // Returns how many of the frames are cold.
  std::uint64_t take(NodeId node, std::uint64_t pages) {
    std::uint64_t& warm = warm_[node.index()];
    const std::uint64_t found = std::min(pages, warm);
    warm -= found;
    return pages - found;
  }
  void give_back(NodeId node, std::uint64_t pages) {
    std::uint64_t& warm = warm_[node.index()];
    warm = std::min(warm + pages, most_[node.index()]);
  }

private:
  std::vector<std::uint64_t> most_, warm_;  // pages, by node
};

}  // namespace homenode
