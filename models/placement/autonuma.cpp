// Linux's automatic NUMA balancing on top of any placement. Linux itself leaves pages under a memory policy (numactl, mbind) alone; here
// balancing treats pages as if they had come where they are by first touch, whatever placed them.
#include "models/placement/modifier.hpp"
#include "models/placement/numa_balancing.hpp"
#include "models/placement/register.hpp"

namespace homenode {
namespace {

// `system_kernel`: 0 if the system names none.
BalancingSettings settings_from(const Parameters& parameters, std::int64_t system_kernel = 0) {
  const std::int64_t named = parameters.get("kernel") != 0 ? parameters.get("kernel") : system_kernel, version = named == 0 ? 601 : named;
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

class Autonuma final : public PlacementModifier {
public:
  Autonuma(const Parameters& parameters, std::shared_ptr<PagePlacement> placement)
      : PlacementModifier{std::move(placement)}, parameters_{parameters}, settings_{settings_from(parameters)} {
    if (modified().watches() != Watch::nothing)
      throw UsageError("a modifier that migrates pages on a placement that migrates pages; allowed: one of them");
  }
  void run_on(const OperatingSystem& system) override {
    modified().run_on(system);
    if (system.balancing.available == 0)
      throw UsageError("placement 'autonuma' needs automatic NUMA balancing; allowed: systems that have it, found '" + system.name + "'");
    const std::int64_t kernel = system.balancing.kernel, named = parameters_.get("kernel");
    if (kernel != 0 && named != 0 && named != kernel)
      throw UsageError("placement 'autonuma' with kernel=" + std::to_string(named) + " on system '" + system.name + "', which is kernel=" +
                       std::to_string(kernel) + "; allowed: that one, or a system that names none, such as 'default'");
    settings_ = settings_from(parameters_, kernel);
    settings_.tick = system.scheduler.tick;
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
  Parameters parameters_;
  BalancingSettings settings_;
  std::optional<NumaBalancing> balancing_;
};

}  // namespace

PolicyEntry<PagePlacement> autonuma() {
  const BalancingSettings usual;
  PolicyEntry<PagePlacement> entry{
      .name = "autonuma",
      .description = "modifier, P+autonuma: Linux's automatic NUMA balancing migrates pages to the nodes that use them",
      .parameters = {time_parameter("scan_delay", "simulated time until the first scan", usual.scan_delay),
                     time_parameter("scan_period_min",
                                    "shortest time between two scans of a thread; 0 s = the kernel's: 1 s, or 100 ms before Linux 3.13",
                                    Time{}, Time{}),
                     time_parameter("scan_period_max",
                                    "longest time between two scans of a thread; 0 s = the kernel's: 60 s, or 5 s before Linux 3.13",
                                    Time{}, Time{}),
                     bytes_parameter("scan_size", "memory that one scan unmaps", usual.scan_size, Bytes{4096}),
                     integer_parameter("kernel", "100 x major + minor",
                                       "version of Linux to imitate: 310 for 3.10, 601 for 6.1; 0 = that of --system, else 6.1", 0, 0)},
      .make = nullptr};
  entry.modify = [](const Parameters& parameters, std::shared_ptr<PagePlacement> placement) {
    return std::make_unique<Autonuma>(parameters, std::move(placement));
  };
  entry.examples = {"autonuma:kernel=310,scan_delay=1ms", "autonuma:kernel=404,scan_delay=1ms,scan_size=64KiB",
                    "autonuma:scan_delay=1ms,scan_period_min=1ms"};
  return entry;
}

}  // namespace homenode
