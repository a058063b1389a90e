// Opportunistic load balancing (R. Armstrong, D. Hensgen, T. Kidd, HCW 1998; named in S3, section 2): each thread, in the order of
// creation, to the core that would be free first, whatever it shares with whom. A core is free the sooner the fewer accesses its
// threads make.
#include <algorithm>

#include "models/mapping/graph_mapping.hpp"
#include "models/mapping/register.hpp"

namespace homenode {
namespace {

class Greedy final : public GraphMapping {
public:
  using GraphMapping::GraphMapping;

private:
  void map(const ThreadGraph& graph, const Machine& machine) override {
    std::vector<std::uint64_t> load(machine.cores(), 0);
    for (std::size_t t = 0; t < graph.threads.size(); ++t) {
      const auto least = std::min_element(load.begin(), load.end());
      *least += std::max<std::uint64_t>(graph.threads[t].accesses, 1);
      affinity_[t] = {CoreId{static_cast<std::size_t>(least - load.begin())}};
    }
  }
};

}  // namespace

PolicyEntry<ThreadMapping> greedy() {
  return {.name = "greedy",
          .description = "opportunistic load balancing: each thread on the core with the fewest accesses so far",
          .parameters = {affinity_call_parameter()},
          .make = [](const Parameters& parameters) { return std::make_unique<Greedy>(parameters); }};
}

}  // namespace homenode
