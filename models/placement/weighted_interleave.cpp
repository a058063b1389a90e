// Pages go round the nodes, some at a time to each: weight w means w pages in a row, by page number as in Linux (mm/mempolicy.c,
// weighted_interleave_nid). By default each node's weight is its share of 32 by the bandwidth of its memory, at least 1, over the greatest
// common divisor of all, as Linux 6.16 derives them (reduce_interleave_weights). From 6.9, which has weighted interleave first, to 6.15
// they are all 1 until somebody writes others to /sys/kernel/mm/mempolicy/weighted_interleave: on a system of these versions, here too.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "models/placement/memory_tiers.hpp"
#include "models/placement/register.hpp"

namespace homenode {
namespace {

class WeightedInterleave final : public PagePlacement {
public:
  explicit WeightedInterleave(std::vector<std::int64_t> weights) : given_{std::move(weights)} {}

  void run_on(const OperatingSystem& system) override { kernel_ = system.balancing.kernel; }

  void prepare(const AccessSummary*, const Machine& machine) override {
    const std::vector<std::int64_t> weights = given_.empty() ? kernels_own(machine) : given_;
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
  void repeating_homes(const Place&, std::vector<NodeId>& homes) const override { homes = round_; }

private:
  std::vector<std::int64_t> kernels_own(const Machine& machine) const {
    constexpr unsigned first = 609, first_by_bandwidth = 616;
    constexpr double weightiness = 32;
    if (kernel_ >= first && kernel_ < first_by_bandwidth) return std::vector<std::int64_t>(machine.nodes.size(), 1);
    std::vector<double> bandwidth;
    for (std::size_t node = 0; node < machine.nodes.size(); ++node) bandwidth.push_back(bytes_per_second(machine, NodeId{node}));
    const double sum = std::accumulate(bandwidth.begin(), bandwidth.end(), 0.0);
    std::vector<std::int64_t> weights;
    for (const double each : bandwidth) weights.push_back(std::max<std::int64_t>(static_cast<std::int64_t>(weightiness * each / sum), 1));
    const std::int64_t divisor =
        std::accumulate(weights.begin() + 1, weights.end(), weights.front(), [](auto a, auto b) { return std::gcd(a, b); });
    for (std::int64_t& weight : weights) weight /= divisor;
    return weights;
  }

  std::vector<std::int64_t> given_;
  unsigned kernel_ = 0;        // of the system, 100 x major + minor
  std::vector<NodeId> round_;  // the homes of pages 0, 1, ... until they repeat
};

}  // namespace

PolicyEntry<PagePlacement> weighted_interleave() {
  return {.name = "weighted-interleave",
          .description = "pages round robin over the nodes, in proportion to weights",
          .parameters = {list_parameter(
              "weights", "pages",
              "consecutive pages for each node, as 2:1:1; if left out, the kernel's: by bandwidth, or all 1 before Linux 6.16", 1, 255)},
          .make = [](const Parameters& parameters) { return std::make_unique<WeightedInterleave>(parameters.list("weights")); },
          .examples = {"weighted-interleave:3:1"}};
}

}  // namespace homenode
