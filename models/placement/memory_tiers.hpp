// Which nodes are fast memory and which are slow, after Linux (mm/memory-tiers.c, since 6.1), and how few free pages a node may have
// (mm/page_alloc.c). Nodes with cores are one tier; another node's tier goes by its latency over theirs, times their bandwidth over its
// own: the abstract distance, 576 of nodes with cores, in steps of 128.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/machine.hpp"

namespace homenode {

class MemoryTiers {
public:
  explicit MemoryTiers(const Machine&);

  int tier(NodeId node) const { return tier_[node.index()]; }  // the lower, the faster
  // node_is_toptier: as fast as the nodes with cores, or faster. Pages are promoted to such nodes, and from others.
  bool is_top(NodeId node) const { return tier_[node.index()] <= top_; }
  // next_demotion_node: of the next slower tier the nearest; of equals the lowest number, where Linux draws. none() in the slowest tier.
  NodeId below(NodeId node) const { return below_[node.index()]; }
  // Of the nodes with cores the nearest.
  NodeId with_cores_near(NodeId node) const { return near_[node.index()]; }
  bool has_slow_nodes() const;  // nodes that are not top

private:
  std::vector<int> tier_;
  int top_ = 0;
  std::vector<NodeId> below_, near_;
};

// Bytes a second that a node's memory gives to reads: its controllers, or the data's share of a link of its own if that is less.
double bytes_per_second(const Machine&, NodeId);

// Numbers of free pages, as __setup_per_zone_wmarks sets them, with one zone a node: min is the node's share of 4 sqrt(memory in KiB) KiB
// (at least 128, at most 262144 KiB), the others are a quarter of that or a thousandth of the node apart, whichever is more.
struct FreePages {
  std::uint64_t min = 0, low = 0, high = 0, promotion = 0;
};
FreePages watermarks(const Machine&, NodeId, std::uint64_t page_bytes);

}  // namespace homenode
