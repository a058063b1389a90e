// TPP on top of any placement (Maruf et al., TPP: Transparent Page Placement for CXL-Enabled Tiered-Memory, ASPLOS 2023). Slow memory is
// scanned as by NUMA balancing. The first hinting fault puts a page on the active list; one on that list is promoted at its next fault,
// whatever the watermarks say but the least. Top nodes demote ahead of need: new pages and promotions begin passes that go on until a share
// of the node is free (demote_scale_factor, 2 %), so that new pages find room in fast memory.
//
// Left out: pages of files, which TPP places in slow memory first; pages of slow memory do not age off the active list.
#include <algorithm>

#include "models/placement/register.hpp"
#include "models/placement/tiered_placement.hpp"

namespace homenode {
namespace {

constexpr std::uint64_t parts_of_a_node = 10000;

class Tpp final : public TieredPlacement {
public:
  Tpp(const ScanSettings& scan, std::int64_t free_parts, std::shared_ptr<PagePlacement> placement)
      : TieredPlacement{scan, std::move(placement)}, free_parts_{static_cast<std::uint64_t>(free_parts)} {}
  void run_on(const OperatingSystem& system) override {
    modified().run_on(system);
    if (system.balancing.available == 0)
      throw UsageError("placement 'tpp' needs automatic NUMA balancing; allowed: systems that have it, found '" + system.name + "'");
  }
  void prepare(const AccessSummary* summary, const Machine& machine) override {
    TieredPlacement::prepare(summary, machine);
    active_.clear();
  }
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    TieredPlacement::fault(faults, home);
    for (std::size_t node = 0; node < nodes(); ++node)
      if (tiers().is_top(NodeId{node})) free_soon(NodeId{node});
  }

private:
  void placed(const PageFault& fault) override {
    for (PageNumber page = fault.page; page < fault.page + fault.pages && page.value() < active_.size(); ++page)
      active_[page.value()] = false;
  }

  void touched(const Place& place, const SlowTouch& touch, PageActions& actions) override {
    if (active_.size() < actions.pages()) active_.resize(actions.pages(), false);
    if (!active_[touch.page.value()]) {
      active_[touch.page.value()] = true;
      return;
    }
    if (actions.free_pages(place.node) > marks(place.node).min) {
      promote(touch.page, place.node, actions);
      active_[touch.page.value()] = false;  // if it is demoted, it begins on the inactive list
    }
    free_soon(place.node);
  }

  std::uint64_t wanted_free(NodeId node) const override {
    return std::max(node_pages(node) * free_parts_ / parts_of_a_node, marks(node).high);
  }

  std::uint64_t free_parts_;
  std::vector<bool> active_;  // by page of slow memory
};

}  // namespace

PolicyEntry<PagePlacement> tpp() {
  PolicyEntry<PagePlacement> entry{
      .name = "tpp",
      .description =
          "modifier, P+tpp: pages of slow memory that fault twice are promoted, fast memory keeps free pages (Maruf et al. 2023)",
      .parameters = scan_parameters(),
      .make = nullptr};
  entry.parameters.push_back(
      integer_parameter("demote_scale_factor", "1/10000 of a node", "pages of fast memory that are kept free", 200, 1, 10000));
  entry.modify = [](const Parameters& parameters, std::shared_ptr<PagePlacement> placement) {
    return std::make_unique<Tpp>(scan_settings(parameters), parameters.get("demote_scale_factor"), std::move(placement));
  };
  entry.examples = {"tpp:scan_delay=1ms,scan_size=1MiB,scan_period_min=1ms"};
  return entry;
}

}  // namespace homenode
