// No placement at all, but the bound that none can beat for the items that each thread runs (lower_bound.hpp): the run's time is the
// bound. Traffic and pages in its report are those of the first-touch run from which the items and the lines that leave the caches come.
#include "models/placement/optimal.hpp"

#include "models/placement/register.hpp"

namespace homenode {
namespace {

class Optimal final : public PagePlacement {
public:
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) home[i] = faults[i].place.node;
  }
  void repeating_homes(const Place& place, std::vector<NodeId>& homes) const override { homes.assign(1, place.node); }
};

}  // namespace

bool is_optimal(std::string_view placement) { return placement.substr(0, placement.find_first_of(":+")) == "optimal"; }

PolicyEntry<PagePlacement> optimal() {
  return {.name = "optimal",
          .description = "a lower bound, not a placement: no placement of the pages is faster; also searches for one that comes close",
          .parameters = {},
          .make = [](const Parameters&) { return std::make_unique<Optimal>(); }};
}

}  // namespace homenode
