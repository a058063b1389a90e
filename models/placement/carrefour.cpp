// Carrefour's traffic management on top of any placement (Dashti et al., Traffic Management, ASPLOS 2013), its decisions to migrate and to
// interleave; pages are not replicated. Definitions and thresholds as in the authors' controller (carrefour.c: MAPTU_MIN 50, MIN_IMBALANCE
// 35, MAX_LOCALITY_MIGRATION 80, once a second); an access is a line that goes to memory or comes from there.
//
// Assumed: every access is seen, at no cost, where Carrefour samples with IBS; and a page that is to be interleaved goes from a node with
// more than the mean traffic to that with the least, in page order while there is more, where Carrefour draws at random.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/placement/modifier.hpp"
#include "models/placement/register.hpp"

namespace homenode {
namespace {

struct Thresholds {
  Time period;
  double accesses_per_microsecond = 0;  // of all nodes
  double imbalance = 0;                 // standard deviation of the controllers' accesses over their mean
  double local_share = 0;
  std::uint64_t page_accesses = 0;
};

constexpr double line_bytes = 64;

class Carrefour final : public PlacementModifier {
public:
  Carrefour(const Thresholds& thresholds, std::shared_ptr<PagePlacement> placement)
      : PlacementModifier{std::move(placement)}, thresholds_{thresholds}, next_{thresholds.period} {
    if (modified().watches() != Watch::nothing)
      throw UsageError("a modifier that migrates pages on a placement that migrates pages; allowed: one of them");
  }
  void prepare(const AccessSummary* summary, const Machine& machine) override {
    modified().prepare(summary, machine);
    nodes_ = machine.nodes.size();
    traffic_.assign(nodes_, 0);
  }
  Watch watches() const override { return Watch::traffic; }
  void observe(const Place& place, std::span<const PageUse> uses, PageActions& actions) override {
    if (accesses_.size() < actions.pages() * nodes_) accesses_.resize(actions.pages() * nodes_, 0);
    for (const PageUse& use : uses) {
      if (use.home.is_none()) continue;
      const double lines = static_cast<double>(use.read_bytes + use.written_bytes) / line_bytes;
      accesses_[use.page.value() * nodes_ + place.node.index()] += lines;
      traffic_[use.home.index()] += lines;
      if (use.home == place.node) local_ += lines;
    }
  }
  std::optional<Time> wakeup() const override { return next_; }
  void wake(const Place& place, PageActions& actions) override {
    const double all = std::accumulate(traffic_.begin(), traffic_.end(), 0.0);
    if (all >= thresholds_.accesses_per_microsecond * (place.now - last_).seconds() * 1e6 && all > 0) {
      const bool migrate = local_<thresholds_.local_share * all, interleave = imbalance(all)> thresholds_.imbalance;
      if (migrate || interleave) decide(migrate, interleave, all, actions);
    }
    std::fill(accesses_.begin(), accesses_.end(), 0.0);
    std::fill(traffic_.begin(), traffic_.end(), 0.0);
    local_ = 0;
    last_ = place.now;
    next_ = place.now + thresholds_.period;
  }

private:
  double imbalance(double all) const {
    if (nodes_ < 2) return 0;
    const double mean = all / static_cast<double>(nodes_);
    double squares = 0;
    for (const double accesses : traffic_) squares += (accesses - mean) * (accesses - mean);
    return std::sqrt(squares / static_cast<double>(nodes_ - 1)) / mean;
  }

  // A page that one node uses goes there; one that several use goes to where the least traffic is.
  void decide(bool migrate, bool interleave, double all, PageActions& actions) {
    const double mean = all / static_cast<double>(nodes_);
    std::vector<double> traffic = traffic_;
    const auto move = [&](PageNumber page, std::size_t from, std::size_t to, double accesses) {
      actions.migrate(page, NodeId{to});
      traffic[from] -= accesses;
      traffic[to] += accesses;
    };
    for (const bool shared : {false, true}) {
      if (!(shared ? interleave : migrate)) continue;
      for (PageNumber page; (page.value() + 1) * nodes_ <= accesses_.size(); ++page) {
        const auto first = accesses_.begin() + static_cast<std::ptrdiff_t>(page.value() * nodes_),
                   last = first + static_cast<std::ptrdiff_t>(nodes_);
        const double of_page = std::accumulate(first, last, 0.0);
        const NodeId home = actions.home(page);
        if (home.is_none() || of_page < static_cast<double>(thresholds_.page_accesses)) continue;
        const bool by_several = std::count_if(first, last, [](double accesses) { return accesses > 0; }) > 1;
        if (by_several != shared) continue;
        if (!shared) {
          const auto user = static_cast<std::size_t>(std::max_element(first, last) - first);
          if (user != home.index()) move(page, home.index(), user, of_page);
        } else if (traffic[home.index()] - of_page >= mean) {
          const auto least = static_cast<std::size_t>(std::min_element(traffic.begin(), traffic.end()) - traffic.begin());
          move(page, home.index(), least, of_page);
        }
      }
    }
  }

  Thresholds thresholds_;
  Time next_, last_;
  std::size_t nodes_ = 1;
  std::vector<double> accesses_;  // since the last decision: [page x nodes + node of the core]
  std::vector<double> traffic_;   // by home
  double local_ = 0;
};

}  // namespace

PolicyEntry<PagePlacement> carrefour() {
  PolicyEntry<PagePlacement> entry{
      .name = "carrefour",
      .description =
          "modifier, P+carrefour: under load, pages with one user migrate to it and shared pages are spread (Dashti et al. 2013)",
      .parameters =
          {time_parameter("period", "time between two decisions", Time::from_seconds(1)),
           integer_parameter("accesses", "accesses/us", "act only above this rate of memory accesses, all nodes together", 50, 0),
           integer_parameter("imbalance", "percent",
                             "spread shared pages if the standard deviation of the nodes' traffic exceeds this share of its mean", 35, 0),
           integer_parameter("locality", "percent", "migrate pages with one user if fewer accesses than this are local", 80, 0, 101),
           integer_parameter("page_accesses", "accesses", "move only pages with at least so many accesses in a period (assumed)", 2, 1)},
      .make = nullptr};
  entry.modify = [](const Parameters& parameters, std::shared_ptr<PagePlacement> placement) {
    const Thresholds thresholds{
        parameters.time("period"), static_cast<double>(parameters.get("accesses")), static_cast<double>(parameters.get("imbalance")) / 100,
        static_cast<double>(parameters.get("locality")) / 100, static_cast<std::uint64_t>(parameters.get("page_accesses"))};
    return std::make_unique<Carrefour>(thresholds, std::move(placement));
  };
  entry.examples = {"carrefour:period=10ms,accesses=0,imbalance=0,locality=101"};
  return entry;
}

}  // namespace homenode
