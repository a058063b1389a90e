// Frames of each node that are in use. A page whose node is full goes to the node that is nearest to it by idle latency and has room
// (of equals the lower number), as a Linux zonelist orders them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/machine/machine.hpp"
#include "sim/memory/warm_frames.hpp"

namespace homenode {

class NodeMemory {
public:
  NodeMemory(const Machine&, std::uint64_t page_bytes);

  // Takes `pages` frames, all on one node. Throws UsageError when no node has room for them.
  NodeId take(NodeId wanted, std::uint64_t pages = 1);
  void give_back(NodeId node, std::uint64_t pages = 1) {
    used_[node.index()] -= pages;
    warm_.give_back(node, pages);
  }
  bool has_room(NodeId node, std::uint64_t pages = 1) const { return used_[node.index()] + pages <= frames_[node.index()]; }
  std::uint64_t used(NodeId node) const { return used_[node.index()]; }
  std::uint64_t free(NodeId node) const { return frames_[node.index()] - used_[node.index()]; }
  std::uint64_t overflowed() const { return overflowed_; }  // pages that went to another node than the wanted one
  std::uint64_t cold() const { return cold_; }              // frames taken so far that were in no cache

private:
  const std::vector<NodeId>& nearest_to(NodeId);
  NodeId taken(NodeId, std::uint64_t pages);

  const Machine& machine_;
  std::uint64_t page_bytes_;
  std::vector<std::uint64_t> frames_, used_;  // by node
  std::vector<std::vector<NodeId>> nearest_;  // by node, the others from near to far; empty = not asked for yet
  WarmFrames warm_;
  std::uint64_t overflowed_ = 0, cold_ = 0;
};

}  // namespace homenode
