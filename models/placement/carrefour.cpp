// Carrefour's traffic management on top of any placement (Dashti et al., Traffic Management, ASPLOS 2013): its decisions to migrate, to
// interleave and, if asked to, to replicate (carrefour_replicas.hpp). Definitions and thresholds as in the authors' controller
// (carrefour.c: MAPTU_MIN 50, MIN_IMBALANCE 35, MAX_LOCALITY_MIGRATION 80, MEMORY_USAGE_MAX 25, DCRM_MAX 5, once a second); an access is a
// line that goes to memory or comes from there. Replication goes first; a page with copies is left alone by the other two
// (carrefour_migrate.c).
//
// Assumed: every access is seen, at no cost, where Carrefour samples with IBS; and a page that is to be interleaved goes from a node with
// more than the mean traffic to that with the least, in page order while there is more, where Carrefour draws at random.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/placement/carrefour_replicas.hpp"
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

constexpr double bytes_of_an_access = 64;

class Carrefour final : public PlacementModifier {
public:
  Carrefour(const Thresholds& thresholds, const ReplicaThresholds& of_replicas, std::shared_ptr<PagePlacement> placement)
      : PlacementModifier{std::move(placement)}, thresholds_{thresholds}, replicas_{of_replicas}, next_{thresholds.period} {
    if (modified().watches() != Watch::nothing)
      throw UsageError("a modifier that migrates pages on a placement that migrates pages; allowed: one of them");
  }
  void prepare(const AccessSummary* summary, const Machine& machine) override {
    modified().prepare(summary, machine);
    replicas_.prepare(machine);
    nodes_ = machine.nodes.size();
    traffic_.assign(nodes_, 0);
  }
  Watch watches() const override { return Watch::traffic; }
  bool replicates() const override { return replicas_.on(); }
  void observe(const Place& place, std::span<const PageUse> uses, PageActions& actions) override {
    if (accesses_.size() < actions.pages() * nodes_) accesses_.resize(actions.pages() * nodes_, 0);
    if (replicas_.on()) replicas_.observe(uses);
    for (const PageUse& use : uses) {
      if (use.home.is_none()) continue;
      const double lines = static_cast<double>(use.read_bytes + use.written_bytes) / bytes_of_an_access;
      accesses_[use.page.value() * nodes_ + place.node.index()] += lines;
      traffic_[use.home.index()] += lines;
      if (use.home == place.node) local_ += lines;
    }
  }
  std::optional<Time> wakeup() const override { return next_; }
  void wake(const Place& place, PageActions& actions) override {
    const double all = std::accumulate(traffic_.begin(), traffic_.end(), 0.0);
    if (all >= thresholds_.accesses_per_microsecond * (place.now - last_).seconds() * 1e6 && all > 0) {
      if (replicas_.on()) replicas_.replicate(shared_pages(actions), actions);
      const bool migrate = local_<thresholds_.local_share * all, interleave = imbalance(all)> thresholds_.imbalance;
      if (migrate || interleave) decide(migrate, interleave, all, actions);
    }
    if (replicas_.on()) replicas_.end_period(actions);
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

  struct Use {
    double accesses = 0;              // of all nodes
    std::size_t users = 0, most = 0;  // nodes; the one with most accesses
  };
  // Pages to be decided about, used enough and without copies: each(page, home, use).
  template <class Each>
  void for_each_page(PageActions& actions, Each&& each) const {
    for (PageNumber page; (page.value() + 1) * nodes_ <= accesses_.size(); ++page) {
      const auto first = accesses_.begin() + static_cast<std::ptrdiff_t>(page.value() * nodes_),
                 last = first + static_cast<std::ptrdiff_t>(nodes_);
      Use use{.accesses = std::accumulate(first, last, 0.0)};
      const NodeId home = actions.home(page);
      if (home.is_none() || use.accesses < static_cast<double>(thresholds_.page_accesses) || actions.replicated(page)) continue;
      use.users = static_cast<std::size_t>(std::count_if(first, last, [](double accesses) { return accesses > 0; }));
      use.most = static_cast<std::size_t>(std::max_element(first, last) - first);
      each(page, home, use);
    }
  }
  std::vector<PageNumber> shared_pages(PageActions& actions) const {
    std::vector<PageNumber> shared;
    for_each_page(actions, [&](PageNumber page, NodeId, const Use& use) {
      if (use.users > 1) shared.push_back(page);
    });
    return shared;
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
      for_each_page(actions, [&](PageNumber page, NodeId home, const Use& use) {
        if ((use.users > 1) != shared) return;
        if (!shared) {
          if (use.most != home.index()) move(page, home.index(), use.most, use.accesses);
        } else if (traffic[home.index()] - use.accesses >= mean) {
          const auto least = static_cast<std::size_t>(std::min_element(traffic.begin(), traffic.end()) - traffic.begin());
          move(page, home.index(), least, use.accesses);
        }
      });
    }
  }

  Thresholds thresholds_;
  CarrefourReplicas replicas_;
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
          "modifier, P+carrefour: under load, pages with one user migrate to it and shared pages are spread, or replicated (Dashti et al. "
          "2013)",
      .parameters =
          {time_parameter("period", "time between two decisions", Time::from_seconds(1)),
           integer_parameter("accesses", "accesses/us", "act only above this rate of memory accesses, all nodes together", 50, 0),
           integer_parameter("imbalance", "percent",
                             "spread shared pages if the standard deviation of the nodes' traffic exceeds this share of its mean", 35, 0),
           integer_parameter("locality", "percent", "migrate pages with one user if fewer accesses than this are local", 80, 0, 101),
           integer_parameter("page_accesses", "accesses", "move only pages with at least so many accesses in a period (assumed)", 2, 1),
           word_parameter("replicate", "whether pages that several nodes read and none writes get a copy on each node", {"off", "on"}),
           integer_parameter("reads", "percent", "replicate only if at least this share of the accesses reads (100 - DCRM_MAX)", 95, 0,
                             100),
           integer_parameter("used_memory", "percent", "replicate only while at most so much memory is in use (MEMORY_USAGE_MAX)", 25, 0,
                             100),
           integer_parameter("first_pages", "pages",
                             "replicate none before so many qualify in one period (min_nr_orders_enable_replication)", 500, 1),
           integer_parameter("collapses", "writes",
                             "do not replicate a page again after more collapses than this (MAX_NR_COLLAPSE_PER_PAGE)", 5, 0)},
      .make = nullptr};
  entry.modify = [](const Parameters& parameters, std::shared_ptr<PagePlacement> placement) {
    const Thresholds thresholds{
        parameters.time("period"), static_cast<double>(parameters.get("accesses")), static_cast<double>(parameters.get("imbalance")) / 100,
        static_cast<double>(parameters.get("locality")) / 100, static_cast<std::uint64_t>(parameters.get("page_accesses"))};
    const ReplicaThresholds of_replicas{.on = parameters.get("replicate") == 1,
                                        .read_share = static_cast<double>(parameters.get("reads")) / 100,
                                        .used_memory = static_cast<double>(parameters.get("used_memory")) / 100,
                                        .first_pages = static_cast<std::uint64_t>(parameters.get("first_pages")),
                                        .collapses = static_cast<std::uint64_t>(parameters.get("collapses"))};
    return std::make_unique<Carrefour>(thresholds, of_replicas, std::move(placement));
  };
  entry.examples = {"carrefour:period=10ms,accesses=0,imbalance=0,locality=101",
                    "carrefour:period=10ms,accesses=0,imbalance=0,locality=101,replicate=on,reads=0,used_memory=100,first_pages=1"};
  return entry;
}

}  // namespace homenode
