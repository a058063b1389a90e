// Linux's NUMA balancing with memory tiers (numa_balancing=2; kernel/sched/fair.c, should_numa_migrate_memory, since 6.1) on top of any
// placement, and demotion (mm/vmscan.c, with numa/demotion_enabled). A scan takes the rights of pages in slow memory. The next touch, if it
// comes within the hot threshold, promotes the page to the toucher's node; every scan_period_max the threshold goes up or down by an eighth
// so that as many pages a second are candidates as the rate limit allows. Threshold and limit are passed over while the node has much free
// memory. A promotion to a node that is nearly full fails and wakes kswapd, which demotes pages of the node to the next slower tier.
//
// Simplified: pages fill a node to its last frame, where Linux goes on to the next node at the low watermark.
#include <algorithm>

#include "models/placement/register.hpp"
#include "models/placement/tiered_placement.hpp"

namespace homenode {
namespace {

constexpr std::int64_t steps = 16;                                 // NUMA_MIGRATION_ADJUST_STEPS
constexpr std::uint64_t much_free_bytes = std::uint64_t{1} << 30;  // pgdat_free_space_enough: this, or a sixteenth of the node
const Time rate_window = Time::from_seconds(1);
constexpr std::int64_t first_with_threshold = 601;  // commit 33024536bafd

struct TieringSettings {
  ScanSettings scan;
  Time hot_threshold, adjust_period;
  std::uint64_t bytes_a_second = 0;
  bool demotes = true;
};

class Tiering final : public TieredPlacement {
public:
  Tiering(const TieringSettings& settings, std::shared_ptr<PagePlacement> placement)
      : TieredPlacement{settings.scan, std::move(placement)}, settings_{settings} {}
  void run_on(const OperatingSystem& system) override {
    modified().run_on(system);
    const std::int64_t kernel = system.balancing.kernel;
    if (system.balancing.available == 0 || (kernel != 0 && kernel < first_with_threshold))
      throw UsageError("placement 'tiering' needs NUMA balancing with memory tiers; allowed: Linux since 6.1, found '" + system.name + "'");
  }
  void prepare(const AccessSummary* summary, const Machine& machine) override {
    TieredPlacement::prepare(summary, machine);
    promotions_.assign(machine.nodes.size(), {});
  }

private:
  struct Promotion {
    std::optional<Time> threshold;  // nbp_threshold
    std::uint64_t candidates = 0;   // PGPROMOTE_CANDIDATE, pages
    Time window, adjusted;
    std::uint64_t before_window = 0, before_adjusting = 0;
  };

  void touched(const Place& place, const SlowTouch& touch, PageActions& actions) override {
    const NodeId to = place.node;
    Promotion& promotion = promotions_[to.index()];
    const std::uint64_t page = actions.page_bytes(), free = actions.free_pages(to);
    if (free > marks(to).promotion + std::max(much_free_bytes / page, node_pages(to) / 16)) {
      promotion.threshold.reset();
    } else {
      adjust(promotion, place.now, settings_.bytes_a_second / page);
      if (place.now - touch.scanned >= promotion.threshold.value_or(settings_.hot_threshold)) return;
      if (over_rate(promotion, place.now, settings_.bytes_a_second / page)) return;
    }
    if (free > marks(to).high + 1)
      promote(touch.page, to, actions);
    else if (settings_.demotes)
      free_soon(to);
  }

  std::uint64_t wanted_free(NodeId node) const override { return marks(node).promotion + 1; }

  // numa_promotion_adjust_threshold
  void adjust(Promotion& promotion, Time now, std::uint64_t pages_a_second) const {
    if (now - promotion.adjusted <= settings_.adjust_period) return;
    promotion.adjusted = now;
    const double aim = static_cast<double>(pages_a_second) * settings_.adjust_period.seconds();
    const auto found = static_cast<double>(promotion.candidates - promotion.before_adjusting);
    const Time step = Time::picoseconds(settings_.hot_threshold.count() * 2 / steps);
    Time threshold = promotion.threshold.value_or(settings_.hot_threshold);
    if (found > aim * 1.1)
      threshold = std::max(threshold - step, step);
    else if (found < aim * 0.9)
      threshold = std::min(threshold + step, settings_.hot_threshold * 2);
    promotion.before_adjusting = promotion.candidates;
    promotion.threshold = threshold;
  }

  // numa_promotion_rate_limit
  static bool over_rate(Promotion& promotion, Time now, std::uint64_t pages_a_second) {
    ++promotion.candidates;
    if (now - promotion.window > rate_window) {
      promotion.window = now;
      promotion.before_window = promotion.candidates;
    }
    return promotion.candidates - promotion.before_window >= pages_a_second;
  }

  TieringSettings settings_;
  std::vector<Promotion> promotions_;  // by node
};

}  // namespace

PolicyEntry<PagePlacement> tiering() {
  PolicyEntry<PagePlacement> entry{
      .name = "tiering",
      .description =
          "modifier, P+tiering: Linux's memory tiers (numa_balancing=2); hot pages of slow memory are promoted, "
          "cold ones of full nodes demoted",
      .parameters = scan_parameters(),
      .make = nullptr};
  const std::vector<ParameterSpec> own{
      time_parameter("hot_threshold", "pages touched within this time after a scan are hot", Time::from_seconds(1)),
      time_parameter("adjust_period", "time between two changes of the threshold (scan_period_max)", Time::from_seconds(60)),
      integer_parameter("rate_limit", "MiB/s", "most that is promoted to a node that is not nearly empty", 65536, 1, 1 << 30),
      word_parameter("demotion", "whether full nodes demote pages, numa/demotion_enabled (which is off at Linux's start)", {"on", "off"})};
  entry.parameters.insert(entry.parameters.end(), own.begin(), own.end());
  entry.modify = [](const Parameters& parameters, std::shared_ptr<PagePlacement> placement) {
    return std::make_unique<Tiering>(
        TieringSettings{scan_settings(parameters), parameters.time("hot_threshold"), parameters.time("adjust_period"),
                        static_cast<std::uint64_t>(parameters.get("rate_limit")) << 20, parameters.get("demotion") == 0},
        std::move(placement));
  };
  entry.examples = {"tiering:scan_delay=1ms,scan_period_min=1ms,hot_threshold=10ms"};
  return entry;
}

}  // namespace homenode
