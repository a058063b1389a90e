// Pages go round the nodes, some at a time to each: weight w means w pages in a row. By default each node's weight is its share
// of 32 by controller bandwidth, at least 1, over the greatest common divisor of all, as Linux 6.16 derives them
// (mm/mempolicy.c, reduce_interleave_weights); pages go by page number as there (weighted_interleave_nid).
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "models/placement/register.hpp"

namespace homenode {
namespace {

class WeightedInterleave final : public PagePlacement {
public:
  explicit WeightedInterleave(std::vector<std::int64_t> weights) : given_{std::move(weights)} {}

  void prepare(const AccessSummary*, const Machine& machine) override {
    const std::vector<std::int64_t> weights = given_.empty() ? by_bandwidth(machine) : given_;
    if (weights.size() != machine.nodes.size()) {
      throw UsageError("placement 'weighted-interleave' has " + std::to_string(weights.size()) + " weights; machine '" + machine.name +
                       "' has " + std::to_string(machine.nodes.size()) + " nodes; allowed: one for each");
    }
    round_.clear();
    for (std::size_t node = 0; node < weights.size(); ++node)
      round_.insert(round_.end(), static_cast<std::size_t>(weights[node]), NodeId{node});
  }

  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) home[i] = round_[faults[i].number_of_its_size() % round_.size()];
  }

private:
  static std::vector<std::int64_t> by_bandwidth(const Machine& machine) {
    constexpr double weightiness = 32;
    std::vector<double> bandwidth(machine.nodes.size(), 0.0);
    for (const ControllerDescription& controller : machine.controllers)
      bandwidth[controller.node.index()] += controller.read_only.bytes_per_second();
    const double sum = std::accumulate(bandwidth.begin(), bandwidth.end(), 0.0);
    std::vector<std::int64_t> weights;
    for (const double each : bandwidth) weights.push_back(std::max<std::int64_t>(static_cast<std::int64_t>(weightiness * each / sum), 1));
    const std::int64_t divisor =
        std::accumulate(weights.begin() + 1, weights.end(), weights.front(), [](auto a, auto b) { return std::gcd(a, b); });
    for (std::int64_t& weight : weights) weight /= divisor;
    return weights;
  }

  std::vector<std::int64_t> given_;
  std::vector<NodeId> round_;  // the homes of pages 0, 1, ... until they repeat
};

}  // namespace

PolicyEntry<PagePlacement> weighted_interleave() {
  return {.name = "weighted-interleave",
          .description = "pages round robin over the nodes, in proportion to weights",
          .parameters = {list_parameter("weights", "pages",
                                        "consecutive pages for each node, as 2:1:1; if left out, by bandwidth of the controllers", 1, 255)},
          .make = [](const Parameters& parameters) { return std::make_unique<WeightedInterleave>(parameters.list("weights")); },
          .examples = {"weighted-interleave:3:1"}};
}

}  // namespace homenode
