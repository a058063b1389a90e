// Pages go round the nodes by virtual page number, as mbind(MPOL_INTERLEAVE) does (held against a real Linux:
// validation/linux_guest/README.md); huge pages by their own numbers (mm/mempolicy.c, interleave_nid: the address is shifted by the size
// of the page that is allocated).
#include "models/placement/register.hpp"

namespace homenode {
namespace {

class Interleave final : public PagePlacement {
public:
  void prepare(const AccessSummary*, const Machine& machine) override { nodes_ = machine.nodes.size(); }
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) home[i] = NodeId{faults[i].number_of_its_size() % nodes_};
  }
  void repeating_homes(const Place&, std::vector<NodeId>& homes) const override {
    for (std::size_t node = 0; node < nodes_; ++node) homes.emplace_back(node);
  }

private:
  std::size_t nodes_ = 1;
};

}  // namespace

PolicyEntry<PagePlacement> interleave() {
  return {.name = "interleave",
          .description = "pages round robin over all nodes, by page number",
          .parameters = {},
          .make = [](const Parameters&) { return std::make_unique<Interleave>(); }};
}

}  // namespace homenode
