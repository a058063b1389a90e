#include "models/placement/memory_tiers.hpp"

#include <algorithm>
#include <cmath>

#include "sim/machine/topology.hpp"

namespace homenode {
namespace {

constexpr std::int64_t dram_distance = 576, distances_of_a_tier = 128;  // MEMTIER_ADISTANCE_DRAM, MEMTIER_CHUNK_SIZE
constexpr double line_bytes = 64;

std::vector<bool> with_cores(const Machine& machine) {
  std::vector<bool> found(machine.nodes.size(), false);
  for (const NodeId node : machine.core_node) found[node.index()] = true;
  return found;
}

// mt_perf_to_adistance: nanoseconds and MB/s, integers.
std::int64_t abstract_distance(const Machine& machine, NodeId node, NodeId reference) {
  const auto latency = [&](NodeId of) { return std::max<std::int64_t>(machine.nodes[of.index()].latency.count() / 1000, 1); };
  const auto bandwidth = [&](NodeId of) { return std::max<std::int64_t>(std::llround(bytes_per_second(machine, of) / 1e6), 1); };
  return dram_distance * latency(node) / latency(reference) * bandwidth(reference) / bandwidth(node);
}

}  // namespace

double bytes_per_second(const Machine& machine, NodeId node) {
  double found = 0;
  for (const ControllerDescription& controller : machine.controllers)
    if (controller.node == node) found += controller.read_only.bytes_per_second();
  if (const std::optional<Bandwidth> link = machine.nodes[node.index()].link_read)
    found = std::min(found, link->bytes_per_second() * line_bytes / static_cast<double>(machine.data_message.count()));
  return found;
}

MemoryTiers::MemoryTiers(const Machine& machine) {
  const std::vector<bool> cores = with_cores(machine);
  const std::size_t nodes = machine.nodes.size();
  const NodeId reference = machine.core_node.front();
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::int64_t distance = cores[node] ? dram_distance : abstract_distance(machine, NodeId{node}, reference);
    tier_.push_back(static_cast<int>(distance / distances_of_a_tier));
  }
  top_ = static_cast<int>(dram_distance / distances_of_a_tier);
  const Topology topology{machine};
  const auto nearest = [&](NodeId from, const auto& suits) {
    NodeId best = NodeId::none();
    for (std::size_t node = 0; node < nodes; ++node) {
      if (suits(node) && (best.is_none() || topology.latency(from, NodeId{node}) < topology.latency(from, best))) best = NodeId{node};
    }
    return best;
  };
  for (std::size_t node = 0; node < nodes; ++node) {
    int next = -1;
    for (const int tier : tier_)
      if (tier > tier_[node] && (next < 0 || tier < next)) next = tier;
    below_.push_back(next < 0 ? NodeId::none() : nearest(NodeId{node}, [&](std::size_t other) { return tier_[other] == next; }));
    near_.push_back(nearest(NodeId{node}, [&](std::size_t other) { return bool{cores[other]}; }));
  }
}

bool MemoryTiers::has_slow_nodes() const {
  return std::any_of(tier_.begin(), tier_.end(), [this](int tier) { return tier > top_; });
}

FreePages watermarks(const Machine& machine, NodeId node, std::uint64_t page_bytes) {
  double all = 0;
  for (const NodeDescription& each : machine.nodes) all += static_cast<double>(each.memory.count());
  const auto of_node = static_cast<double>(machine.nodes[node.index()].memory.count());
  const double kibibytes = std::clamp(std::floor(std::sqrt(all / 1024 * 16)), 128.0, 262144.0);
  const auto bytes_of_page = static_cast<double>(page_bytes);
  const double min = std::floor(kibibytes * 1024 / bytes_of_page * of_node / all);
  const double step = std::max(std::floor(min / 4), std::floor(of_node / bytes_of_page / 1000));
  const auto pages = [&](double steps) { return static_cast<std::uint64_t>(min + steps * step); };
  return {pages(0), pages(1), pages(2), pages(3)};
}

}  // namespace homenode
