// Linux's automatic NUMA balancing on top of any placement. Linux itself leaves pages under a memory policy (numactl, mbind) alone; here
// balancing treats pages as if they had come where they are by first touch, whatever placed them.
#include "models/placement/modifier.hpp"
#include "models/placement/numa_balancing.hpp"
#include "models/placement/register.hpp"

namespace homenode {
namespace {

class Autonuma final : public PlacementModifier {
public:
  Autonuma(const BalancingSettings& settings, std::shared_ptr<PagePlacement> placement)
      : PlacementModifier{std::move(placement)}, settings_{settings} {
    if (modified().watches() != Watch::nothing) throw UsageError("two modifiers that move pages on one placement; allowed: one of them");
  }
  void prepare(const AccessSummary* summary, const Machine& machine) override {
    modified().prepare(summary, machine);
    balancing_.emplace(settings_, machine.nodes.size());
  }
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    modified().fault(faults, home);
    for (const PageFault& fault : faults) balancing_->forget(fault.page);
  }
  Watch watches() const override { return Watch::hinting_faults; }
  void observe(const Place& place, std::span<const PageUse> uses, PageActions& actions) override {
    balancing_->fault(place, uses, actions);
  }
  std::optional<Time> wakeup() const override { return balancing_->next_scan(); }
  void wake(const Place& place, PageActions& actions) override { balancing_->scan(place, actions); }

private:
  BalancingSettings settings_;
  std::optional<NumaBalancing> balancing_;
};

}  // namespace

PolicyEntry<PagePlacement> autonuma() {
  const BalancingSettings usual;
  PolicyEntry<PagePlacement> entry{"autonuma",
                                   "a modifier: Linux's automatic NUMA balancing moves pages to the nodes that use them",
                                   {time_parameter("scan_delay", "simulated time before the first scan", usual.scan_delay),
                                    time_parameter("scan_period_min", "shortest time between scans of a thread", usual.scan_period_min),
                                    time_parameter("scan_period_max", "longest time between scans of a thread", usual.scan_period_max),
                                    bytes_parameter("scan_size", "pages that one scan unmaps", usual.scan_size, Bytes{4096})},
                                   nullptr};
  entry.modify = [](const Parameters& parameters, std::shared_ptr<PagePlacement> placement) {
    BalancingSettings settings;
    settings.scan_delay = parameters.time("scan_delay");
    settings.scan_period_min = parameters.time("scan_period_min");
    settings.scan_period_max = parameters.time("scan_period_max");
    settings.scan_size = parameters.bytes("scan_size");
    if (settings.scan_period_max < settings.scan_period_min) {
      throw UsageError("placement 'autonuma': scan_period_max = '" + to_string(settings.scan_period_max) +
                       "'; allowed: at least scan_period_min = '" + to_string(settings.scan_period_min) + "'");
    }
    return std::make_unique<Autonuma>(settings, std::move(placement));
  };
  return entry;
}

}  // namespace homenode
