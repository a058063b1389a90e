// One node as long as it has room, then the nearest with room, as set_mempolicy(MPOL_PREFERRED) does: by idle latency as seen from
// the preferred node, then by number. Room is the memory that the machine's description gives the node; pages that the program gives
// back are not known here, so a program that maps and unmaps more than a node holds leaves it early.
#include <algorithm>
#include <numeric>

#include "models/placement/register.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {
namespace {

class Preferred final : public PagePlacement {
public:
  explicit Preferred(std::int64_t node) : node_{static_cast<std::size_t>(node)} {}

  void prepare(const AccessSummary*, const Machine& machine) override {
    const std::size_t nodes = machine.nodes.size();
    if (node_.index() >= nodes) {
      throw UsageError("placement 'preferred:" + std::to_string(node_.value()) + "': machine '" + machine.name + "' has nodes 0 to " +
                       std::to_string(nodes - 1));
    }
    const Topology topology{machine};
    order_.clear();
    for (std::size_t node = 0; node < nodes; ++node) order_.emplace_back(node);
    std::stable_sort(order_.begin(), order_.end(), [&](NodeId a, NodeId b) {
      if ((a == node_) != (b == node_)) return a == node_;
      return topology.latency(node_, a) < topology.latency(node_, b);
    });
    room_.clear();
    for (const NodeId node : order_) room_.push_back(static_cast<std::uint64_t>(machine.nodes[node.index()].memory.count()));
    next_ = 0;
  }

  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      while (next_ + 1 < order_.size() && room_[next_] < faults[i].bytes) ++next_;
      room_[next_] -= std::min(room_[next_], faults[i].bytes);
      home[i] = order_[next_];
    }
  }

private:
  NodeId node_;
  std::vector<NodeId> order_;
  std::vector<std::uint64_t> room_;  // bytes left, in that order
  std::size_t next_ = 0;
};

}  // namespace

PolicyEntry<PagePlacement> preferred() {
  return {.name = "preferred",
          .description = "pages on one node until it is full, then on the nearest node with room",
          .parameters = {required(integer_parameter("node", "node number", "node to fill first", 0, 0, 252))},
          .make = [](const Parameters& parameters) { return std::make_unique<Preferred>(parameters.get("node")); },
          .examples = {"preferred:0", "preferred:1"}};
}

}  // namespace homenode
