// Colloid on top of any placement (Vuppalapati and Agarwal, Tiered Memory Management: Access Latency is the Key!, SOSP 2024): pages move
// between a node with cores and the nodes without next to it until their latencies under load are equal. Each period, with p the share of
// reads that the node with cores serves: within 5 % nothing is done. Else p bounds the share that is sought, from below where that node is
// faster, from above where it is slower; where the bounds have come within 1 %, the one on whose side p is wrong is given up. Pages move,
// the most read ones first, whose reads add up to the distance between p and the middle of the bounds (5 %, 1 % and the search as in the
// authors' integration with HeMem, src/pebs.c; 500 ms as with MEMTIS).
//
// Assumed: every read of memory is seen, at no cost. Latencies are those that the machine's description gives at the share of bandwidth
// that was in use over the period; Colloid measures them by queues in the uncore. Migrations have no limit but the distance.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/placement/memory_tiers.hpp"
#include "models/placement/modifier.hpp"
#include "models/placement/register.hpp"

namespace homenode {
namespace {

constexpr double equal = 0.05, found = 0.01;  // COLLOID_DELTA, COLLOID_EPSILON
constexpr double kept_of_counts = 0.5;        // EWMA_FRAC

// Bytes a second with this share of writes: as the controllers' two bandwidths have it, and no more than a link of its own lets in.
double bandwidth(const Machine& machine, NodeId node, double writes) {
  double read_only = 0, one_to_one = 0;
  for (const ControllerDescription& controller : machine.controllers) {
    if (controller.node != node) continue;
    read_only += controller.read_only.bytes_per_second();
    one_to_one += controller.one_to_one.bytes_per_second();
  }
  const double mixed = read_only + (one_to_one - read_only) * std::min(2 * writes, 1.0);
  return writes < 1 ? std::min(mixed, bytes_per_second(machine, node) / (1 - writes)) : mixed;
}

double extra_seconds(const Machine& machine, NodeId node, double utilisation) {
  const auto controller = std::find_if(machine.controllers.begin(), machine.controllers.end(),
                                       [&](const ControllerDescription& each) { return each.node == node; });
  LoadedLatencyPoint before;
  if (controller == machine.controllers.end()) return 0;
  for (const LoadedLatencyPoint& point : controller->loaded_latency) {
    if (utilisation <= point.utilisation)
      return before.extra.seconds() +
             (point.extra - before.extra).seconds() * (utilisation - before.utilisation) / (point.utilisation - before.utilisation);
    before = point;
  }
  return before.extra.seconds();
}

class Colloid final : public PlacementModifier {
public:
  Colloid(Time period, std::shared_ptr<PagePlacement> placement) : PlacementModifier{std::move(placement)}, period_{period}, next_{period} {
    if (modified().watches() != Watch::nothing)
      throw UsageError("a modifier that migrates pages on a placement that migrates pages; allowed: one of them");
  }
  void prepare(const AccessSummary* summary, const Machine& machine) override {
    modified().prepare(summary, machine);
    machine_ = machine;
    const MemoryTiers tiers{machine};
    nodes_.assign(machine.nodes.size(), {});
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      const NodeId near = tiers.with_cores_near(NodeId{node});
      const bool has_cores = std::find(machine.core_node.begin(), machine.core_node.end(), NodeId{node}) != machine.core_node.end();
      if (!has_cores) nodes_[near.index()].others.emplace_back(node);
    }
    counts_.clear();
    next_ = period_;
    last_ = Time{};
  }
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    modified().fault(faults, home);
    for (const PageFault& fault : faults)
      for (PageNumber page = fault.page; page < fault.page + fault.pages && page.value() < counts_.size(); ++page)
        counts_[page.value()] = 0;
  }
  Watch watches() const override { return Watch::traffic; }
  void observe(const Place&, std::span<const PageUse> uses, PageActions& actions) override {
    if (counts_.size() < actions.pages()) counts_.resize(actions.pages(), 0);
    for (const PageUse& use : uses) {
      if (use.home.is_none()) continue;
      nodes_[use.home.index()].reads += static_cast<double>(use.read_bytes);
      nodes_[use.home.index()].writes += static_cast<double>(use.written_bytes);
      counts_[use.page.value()] += static_cast<double>(use.read_bytes);
    }
  }
  std::optional<Time> wakeup() const override {
    const bool has_others = std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return !node.others.empty(); });
    return has_others ? std::optional{next_} : std::nullopt;
  }
  void wake(const Place& place, PageActions& actions) override {
    counts_.resize(std::max<std::size_t>(counts_.size(), actions.pages()), 0);
    const double seconds = (place.now - last_).seconds();
    for (std::size_t node = 0; node < nodes_.size(); ++node)
      if (!nodes_[node].others.empty()) balance(NodeId{node}, seconds, actions);
    for (Node& node : nodes_) node.reads = node.writes = 0;
    for (double& count : counts_) count *= kept_of_counts;
    last_ = place.now;
    next_ = place.now + period_;
  }

private:
  struct Node {
    std::vector<NodeId> others;    // without cores; of a node with cores
    double reads = 0, writes = 0;  // bytes of this period
    double least = 0, most = 1;    // bounds of the share that is sought
  };

  double latency(NodeId node, double seconds) const {
    const Node& of = nodes_[node.index()];
    const double bytes = of.reads + of.writes;
    const double idle = machine_->nodes[node.index()].latency.seconds();
    if (bytes <= 0 || seconds <= 0) return idle;
    return idle + extra_seconds(*machine_, node, bytes / seconds / bandwidth(*machine_, node, of.writes / bytes));
  }

  // Of those that have reads, by reads; else of the first.
  double latency_of_others(const Node& node, double seconds) const {
    double reads = 0, sum = 0;
    for (const NodeId other : node.others) {
      reads += nodes_[other.index()].reads;
      sum += nodes_[other.index()].reads * latency(other, seconds);
    }
    return reads > 0 ? sum / reads : latency(node.others.front(), seconds);
  }

  void balance(NodeId near, double seconds, PageActions& actions) {
    Node& node = nodes_[near.index()];
    double all = node.reads;
    for (const NodeId other : node.others) all += nodes_[other.index()].reads;
    if (all <= 0) return;
    const double here = latency(near, seconds), there = latency_of_others(node, seconds), share = node.reads / all;
    if (std::abs(here - there) < equal * here) return;
    const bool nearer = here < there;
    if (nearer) {
      node.least = share;
      if (node.most <= node.least) node.most = 1;
    } else {
      node.most = share;
      if (node.least >= node.most) node.least = 0;
    }
    if (std::abs(node.most - node.least) < found) (nearer ? node.most : node.least) = nearer ? 1 : 0;
    move(near, nearer, std::abs((node.least + node.most) / 2 - share), actions);
  }

  // Pages whose reads are this share of those of the node and its others: to the node, or away from it.
  void move(NodeId near, bool nearer, double share, PageActions& actions) {
    const std::vector<NodeId>& others = nodes_[near.index()].others;
    std::vector<PageNumber> movable, staying;
    double all = 0;
    for (PageNumber page; page.value() < actions.pages(); ++page) {
      const NodeId home = actions.home(page);
      const bool is_other = std::find(others.begin(), others.end(), home) != others.end();
      if (home != near && !is_other) continue;
      all += counts_[page.value()];
      (is_other == nearer ? movable : staying).push_back(page);
    }
    const auto count = [this](PageNumber page) { return counts_[page.value()]; };
    std::stable_sort(movable.begin(), movable.end(), [&](PageNumber a, PageNumber b) { return count(a) > count(b); });
    std::stable_sort(staying.begin(), staying.end(), [&](PageNumber a, PageNumber b) { return count(a) < count(b); });
    double left = share * all;
    auto coldest = staying.begin();
    for (const PageNumber page : movable) {
      if (count(page) <= 0) break;
      if (count(page) > left) continue;
      if (!nearer) {
        const auto room = std::find_if(others.begin(), others.end(), [&](NodeId other) { return actions.free_pages(other) > 0; });
        if (room == others.end()) return;
        actions.migrate(page, *room);
      } else {
        // A full node gives its least read page for it, while that is read less.
        if (actions.free_pages(near) == 0) {
          if (coldest == staying.end() || count(*coldest) >= count(page)) return;
          const auto room = std::find_if(others.begin(), others.end(), [&](NodeId other) { return actions.free_pages(other) > 0; });
          if (room == others.end()) return;
          left += count(*coldest);
          actions.migrate(*coldest++, *room);
        }
        actions.migrate(page, near);
      }
      left -= count(page);
    }
  }

  Time period_, next_, last_;
  std::optional<Machine> machine_;
  std::vector<Node> nodes_;
  std::vector<double> counts_;  // by page: bytes read, older periods count half
};

}  // namespace

PolicyEntry<PagePlacement> colloid() {
  PolicyEntry<PagePlacement> entry{
      .name = "colloid",
      .description = "modifier, P+colloid: pages move between a node and memory without cores until both are as slow (Vuppalapati 2024)",
      .parameters = {time_parameter("period", "time between two rounds of migrations", Time::from_seconds(0.5))},
      .make = nullptr};
  entry.modify = [](const Parameters& parameters, std::shared_ptr<PagePlacement> placement) {
    return std::make_unique<Colloid>(parameters.time("period"), std::move(placement));
  };
  entry.examples = {"colloid:period=10ms"};
  return entry;
}

}  // namespace homenode
