// A page lives where the thread runs that first writes it: Linux's default (S4 section 1.1, S0 section 2).
#include "models/placement/register.hpp"

namespace homenode {
namespace {

class FirstTouch final : public PagePlacement {
public:
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) home[i] = faults[i].place.node;
  }
  void repeating_homes(const Place& place, std::vector<NodeId>& homes) const override { homes.assign(1, place.node); }
};

}  // namespace

PolicyEntry<PagePlacement> first_touch() {
  return {.name = "first-touch",
          .description = "each page on the node of the thread that first writes it",
          .parameters = {},
          .make = [](const Parameters&) { return std::make_unique<FirstTouch>(); }};
}

}  // namespace homenode
