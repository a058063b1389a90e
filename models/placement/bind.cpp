// Every page on one node, as numactl --membind does.
#include "models/placement/register.hpp"

namespace homenode {
namespace {

class Bind final : public PagePlacement {
public:
  explicit Bind(std::int64_t node) : node_{static_cast<std::size_t>(node)} {}
  void prepare(const AccessSummary*, const Machine& machine) override {
    if (node_.index() >= machine.nodes.size()) {
      throw UsageError("placement 'bind:" + std::to_string(node_.value()) + "': machine '" + machine.name + "' has nodes 0 to " +
                       std::to_string(machine.nodes.size() - 1));
    }
  }
  void fault(std::span<const PageFault>, std::span<NodeId> home) override {
    for (NodeId& node : home) node = node_;
  }
  void repeating_homes(const Place&, std::vector<NodeId>& homes) const override { homes.assign(1, node_); }

private:
  NodeId node_;
};

}  // namespace

PolicyEntry<PagePlacement> bind() {
  return {.name = "bind",
          .description = "every page on one node",
          .parameters = {required(integer_parameter("node", "node number", "where all pages go", 0, 0, 252))},
          .make = [](const Parameters& parameters) { return std::make_unique<Bind>(parameters.get("node")); },
          .examples = {"bind:0", "bind:1"}};
}

}  // namespace homenode
