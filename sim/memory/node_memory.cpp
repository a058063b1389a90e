#include "sim/memory/node_memory.hpp"

#include <algorithm>
#include <numeric>

#include "sim/base/errors.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

NodeMemory::NodeMemory(const Machine& machine, std::uint64_t page_bytes)
    : machine_{machine},
      page_bytes_{page_bytes},
      used_(machine.nodes.size(), 0),
      nearest_(machine.nodes.size()),
      warm_{machine, page_bytes} {
  for (const NodeDescription& node : machine.nodes) frames_.push_back(static_cast<std::uint64_t>(node.memory.count()) / page_bytes);
}

NodeId NodeMemory::taken(NodeId node, std::uint64_t pages) {
  used_[node.index()] += pages;
  cold_ += warm_.take(node, pages);
  return node;
}

NodeId NodeMemory::take(NodeId wanted, std::uint64_t pages) {
  if (has_room(wanted, pages)) return taken(wanted, pages);
  for (const NodeId node : nearest_to(wanted)) {
    if (!has_room(node, pages)) continue;
    overflowed_ += pages;
    return taken(node, pages);
  }
  const auto bytes = [this](std::uint64_t frames) { return to_string(Bytes{static_cast<std::int64_t>(frames * page_bytes_)}); };
  throw UsageError("the program needs more memory than machine '" + machine_.name +
                   "' has; in use: " + bytes(std::accumulate(used_.begin(), used_.end(), std::uint64_t{0})) + ", wanted: " + bytes(pages) +
                   " more, allowed: " + bytes(std::accumulate(frames_.begin(), frames_.end(), std::uint64_t{0})) + " in pages of " +
                   bytes(pages));
}

const std::vector<NodeId>& NodeMemory::nearest_to(NodeId wanted) {
  std::vector<NodeId>& order = nearest_[wanted.index()];
  if (order.empty()) {
    const Topology topology{machine_};
    for (std::size_t node = 0; node < machine_.nodes.size(); ++node) order.emplace_back(node);
    std::erase(order, wanted);
    std::stable_sort(order.begin(), order.end(),
                     [&](NodeId a, NodeId b) { return topology.latency(wanted, a) < topology.latency(wanted, b); });
  }
  return order;
}

}  // namespace homenode
