// What one slice asks of the memory and of the shared resources.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/engines/parts/memory_side.hpp"
#include "sim/base/ids.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {

// Lines that it exchanges with the memory of one node.
struct HomeDemand {
  double read_weight = 0;  // sum of lines / parallelism
  double hit_weight = 0;   // of them, lines that the node's memory-side cache had
  std::uint64_t reads = 0, writebacks = 0, non_temporal = 0;
  std::uint64_t hits = 0, fills = 0, victims = 0;  // of the memory-side cache, as MemorySide::Met has them; hits: of `reads`
  std::uint64_t noted = 0;                         // written to memory for its directory
  std::uint64_t copied = 0;                        // of non_temporal, pages that the kernel moved
  std::uint64_t zeroed = 0;                        // written by the kernel
  std::uint64_t writes() const { return writebacks + non_temporal + zeroed; }
  std::uint64_t streamed() const { return non_temporal - copied; }
};

class SliceDemand {
public:
  explicit SliceDemand(std::size_t nodes) : homes_(nodes) {}

  // The lines that left the caches, each to its home, and what they met there.
  void add(const CacheOutcome&, NodeId reader, const AddressSpace&, MemorySide&);
  HomeDemand& of(NodeId home) { return homes_[home.index()]; }
  const std::vector<HomeDemand>& by_home() const { return homes_; }
  void clear() { std::fill(homes_.begin(), homes_.end(), HomeDemand{}); }

private:
  void add_remembered(const CacheOutcome&, NodeId reader, const AddressSpace&, MemorySide&);

  std::vector<HomeDemand> homes_;
  std::vector<HomeShare> shares_;  // scratch
};

// Seconds of each shared resource.
class ResourceDemand {
public:
  explicit ResourceDemand(std::size_t resources) : seconds_(resources, 0.0) {}

  void add(ResourceId resource, double seconds) {
    if (seconds <= 0) return;
    if (seconds_[resource.index()] == 0) used_.push_back(resource.value());
    seconds_[resource.index()] += seconds;
  }
  double seconds(ResourceId resource) const { return seconds_[resource.index()]; }
  // Those that are needed, ascending.
  const std::vector<std::uint32_t>& ascending() {
    std::sort(used_.begin(), used_.end());
    return used_;
  }
  void clear() {
    for (const std::uint32_t resource : used_) seconds_[resource] = 0;
    used_.clear();
  }

private:
  std::vector<double> seconds_;
  std::vector<std::uint32_t> used_;
};

}  // namespace homenode
