// Of some nodes the one nearest to the toucher with room, else any with room, as set_mempolicy(MPOL_PREFERRED_MANY) does (Linux 5.15;
// mm/mempolicy.c, alloc_pages_preferred_many): by idle latency as seen from the toucher's node, then by number. Room is the memory that the
// machine's description gives the node; pages that the program gives back are not known here.
#include <algorithm>

#include "models/placement/register.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {
namespace {

class PreferredMany final : public PagePlacement {
public:
  explicit PreferredMany(const std::vector<std::int64_t>& nodes) {
    for (const std::int64_t node : nodes) nodes_.emplace_back(static_cast<std::size_t>(node));
  }

  void prepare(const AccessSummary*, const Machine& machine) override {
    const std::size_t nodes = machine.nodes.size();
    for (const NodeId node : nodes_) {
      if (node.index() < nodes) continue;
      throw UsageError("placement 'preferred-many' prefers node " + std::to_string(node.value()) + "; machine '" + machine.name +
                       "' has nodes 0 to " + std::to_string(nodes - 1));
    }
    const Topology topology{machine};
    near_.assign(nodes, nodes_);
    for (std::size_t from = 0; from < nodes; ++from) {
      std::sort(near_[from].begin(), near_[from].end());
      near_[from].erase(std::unique(near_[from].begin(), near_[from].end()), near_[from].end());
      std::stable_sort(near_[from].begin(), near_[from].end(),
                       [&](NodeId a, NodeId b) { return topology.latency(NodeId{from}, a) < topology.latency(NodeId{from}, b); });
    }
    room_.clear();
    for (const NodeDescription& node : machine.nodes) room_.push_back(static_cast<std::uint64_t>(node.memory.count()));
  }

  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      const NodeId toucher = faults[i].place.node;
      const std::vector<NodeId>& near = near_[toucher.index()];
      const auto with_room = std::find_if(near.begin(), near.end(), [&](NodeId node) { return room_[node.index()] >= faults[i].bytes; });
      home[i] = with_room == near.end() ? toucher : *with_room;  // a full node's pages go to the nearest with room
      room_[home[i].index()] -= std::min(room_[home[i].index()], faults[i].bytes);
    }
  }

private:
  std::vector<NodeId> nodes_;
  std::vector<std::vector<NodeId>> near_;  // by node of the toucher, the preferred nodes from near to far
  std::vector<std::uint64_t> room_;        // bytes left, by node
};

}  // namespace

PolicyEntry<PagePlacement> preferred_many() {
  return {.name = "preferred-many",
          .description = "each page on the nearest of some nodes that has room, then on the nearest of all",
          .parameters = {required(list_parameter("nodes", "node number", "nodes to fill first, as 0:2", 0, 252))},
          .make = [](const Parameters& parameters) { return std::make_unique<PreferredMany>(parameters.list("nodes")); },
          .examples = {"preferred-many:0", "preferred-many:0:1"}};
}

}  // namespace homenode
