// Linux's automatic NUMA balancing on top of any placement. Linux itself leaves pages under a memory policy (numactl, mbind) alone; here
// balancing treats pages as if they had come where they are by first touch, whatever placed them.
#include <algorithm>

#include "models/placement/modifier.hpp"
#include "models/placement/numa_balancing.hpp"
#include "models/placement/register.hpp"
#include "models/placement/system_kernel.hpp"

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

BalancingSettings settings_from(const Parameters& parameters) {
  const std::int64_t named = parameters.get("kernel"), version = named == 0 ? 601 : named;
  if (version < 308) {
    throw UsageError("placement 'autonuma': Linux " + std::to_string(version / 100) + "." + std::to_string(version % 100) +
                     " (kernel=" + std::to_string(version) + ") has no automatic NUMA balancing; allowed: since 3.8, kernel=308");
  }
  BalancingSettings settings;
  settings.kernel = version < 313 ? BalancingKernel::linux_3_10 : version < 420 ? BalancingKernel::linux_4_4 : BalancingKernel::linux_6_1;
  if (version < 313) {
    settings.scan_period_min = Time::from_seconds(0.1);
    settings.scan_period_max = Time::from_seconds(5);
  }
  if (const Time shortest = parameters.time("scan_period_min"); shortest > Time{}) settings.scan_period_min = shortest;
  if (const Time longest = parameters.time("scan_period_max"); longest > Time{}) settings.scan_period_max = longest;
  settings.scan_delay = parameters.time("scan_delay");
  settings.scan_size = parameters.bytes("scan_size");
  if (settings.scan_period_max < settings.scan_period_min) {
    throw UsageError("placement 'autonuma': scan_period_max = '" + to_string(settings.scan_period_max) +
                     "'; allowed: at least scan_period_min = '" + to_string(settings.scan_period_min) + "'");
  }
  return settings;
}

}  // namespace

std::string with_kernel_of(const OperatingSystem& system, const std::string& placement) {
  const std::size_t modifier = placement.find("+autonuma");
  if (system.balancing.kernel == 0 || modifier == std::string::npos) return placement;
  const std::size_t end = std::min(placement.find('+', modifier + 1), placement.size());
  for (const PolicySpec& spec : parse_policy_specs(placement)) {
    if (spec.name != "autonuma") continue;
    for (const auto& [key, value] : spec.settings) {
      if (key != "kernel") continue;
      if (value == std::to_string(system.balancing.kernel)) return placement;
      throw UsageError("placement 'autonuma' with kernel=" + value + " on system '" + system.name + "', which is kernel=" +
                       std::to_string(system.balancing.kernel) + "; allowed: that one, or a system that names none, such as 'default'");
    }
    const std::string kernel = "kernel=" + std::to_string(system.balancing.kernel);
    return placement.substr(0, end) + (spec.settings.empty() ? ":" : ",") + kernel + placement.substr(end);
  }
  return placement;
}

PolicyEntry<PagePlacement> autonuma() {
  const BalancingSettings usual;
  PolicyEntry<PagePlacement> entry{
      "autonuma",
      "a modifier: Linux's automatic NUMA balancing moves pages to the nodes that use them",
      {time_parameter("scan_delay", "simulated time before the first scan", usual.scan_delay),
       time_parameter("scan_period_min", "shortest time between scans of a thread; 0 s: the kernel's, 1 s (100 ms before 3.13)", Time{},
                      Time{}),
       time_parameter("scan_period_max", "longest time between scans of a thread; 0 s: the kernel's, 60 s (5 s before 3.13)", Time{},
                      Time{}),
       bytes_parameter("scan_size", "pages that one scan unmaps", usual.scan_size, Bytes{4096}),
       {"kernel", "100 x major + minor",
        "version of Linux whose balancing it is: 310 for 3.10, 601 for 6.1; 0 or if left out the system's, or 6.1", 0, 0}},
      nullptr};
  entry.modify = [](const Parameters& parameters, std::shared_ptr<PagePlacement> placement) {
    return std::make_unique<Autonuma>(settings_from(parameters), std::move(placement));
  };
  entry.examples = {"autonuma:kernel=310,scan_delay=1ms", "autonuma:kernel=404,scan_delay=1ms,scan_size=64KiB",
                    "autonuma:scan_delay=1ms,scan_period_min=1ms"};
  return entry;
}

}  // namespace homenode
