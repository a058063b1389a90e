#include "models/run/best_placement.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "models/optimum/placement_search.hpp"
#include "models/run/run.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

// Each page where the table says; others by first touch.
class TablePlacement final : public PagePlacement {
public:
  explicit TablePlacement(std::unordered_map<PageNumber, NodeId> homes) : homes_{std::move(homes)} {}
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      const auto known = homes_.find(faults[i].page);
      home[i] = known == homes_.end() ? faults[i].place.node : known->second;
    }
  }

private:
  std::unordered_map<PageNumber, NodeId> homes_;
};

std::unordered_map<PageNumber, NodeId> table(const PlacementProblem& problem, const PageCounts& counts) {
  std::unordered_map<PageNumber, NodeId> homes;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    std::size_t next = 0;
    for (std::size_t node = 0; node < problem.nodes; ++node)
      for (std::uint64_t pages = counts[c][node]; pages > 0; --pages) homes.emplace(problem.classes[c].pages[next++], NodeId{node});
  }
  return homes;
}

// Pages that are gone by now count for node 0.
PageCounts counts_of(const PlacementProblem& problem, const AddressSpace& addresses) {
  PageCounts counts;
  for (const PlacementProblem::PageClass& alike : problem.classes) {
    auto& of_class = counts.emplace_back(problem.nodes, 0);
    for (const PageNumber page : alike.pages) {
      const NodeId home = addresses.home_of_page(page);
      ++of_class[home.is_none() ? 0 : home.index()];
    }
  }
  return counts;
}

// `demand`: of the run `first_touch`.
BestPlacement best_placement(const RunPlan& plan, const PageDemand& demand, const RunReport& first_touch, const AddressSpace& addresses) {
  BestPlacement best;
  best.bound = *first_touch.lower_bound;
  best.found = first_touch.time;
  const std::optional<PlacementProblem> problem = demand.problem(plan.machine, plan.topology, addresses.page_bytes());
  if (!problem) return best;
  PlacementSearch search;
  search.start = counts_of(*problem, addresses);
  const PlacementSolution solution = solve(*problem, search);
  best.searched = true;
  best.exact = solution.exact;
  best.pages = problem->pages();
  best.objective = first_touch.team_overhead + Time::from_seconds(solution.seconds);
  RunSpec replayed = plan.spec;
  replayed.placement = "found";
  RunExtras extras = plan.extras;
  extras.keep_log = false;
  extras.own_placement = std::make_shared<TablePlacement>(table(*problem, solution.counts));
  best.found = std::min(best.found, run(plan.workload, plan.machine, replayed, extras).time);
  return best;
}

// What the bound holds beside forks and barriers is the regions', by their least times.
void share_bound(RunReport& bound) {
  const Time forks = std::min(bound.overheads.fork, bound.team_overhead);
  bound.overheads = {.fork = forks, .barrier = bound.team_overhead - forks};
  Time left = bound.time - bound.team_overhead;
  const double all = left.seconds();
  double least = 0;
  for (const RegionReport& region : bound.regions) least += region.least.seconds();
  for (RegionReport& region : bound.regions) {
    region.exclusive = least > 0 ? std::min(left, Time::from_seconds(all * (region.least.seconds() / least))) : Time{};
    left = left - region.exclusive;
  }
  if (least > 0) {
    bound.regions.front().exclusive += left;  // of rounding
  } else {
    bound.overheads.waiting = left;
  }
}

}  // namespace

RunReport bound_of(const RunPlan& plan, const PageDemand& demand, const RunReport& first_touch, const AddressSpace& addresses) {
  if (!first_touch.lower_bound) throw UsageError("placement 'optimal' needs an engine that tells a lower bound; allowed: flow, simgrid");
  RunReport bound = first_touch;
  bound.time = *bound.lower_bound;
  share_bound(bound);
  for (RegionReport& region : bound.regions) {
    region.time = region.least;
    region.team = {};     // forks and barriers are told of the whole run
    region.busy.clear();  // of the threads' least no more than the sum is known
  }
  for (ThreadReport& thread : bound.threads) {
    thread.busy = thread.least;
    thread.idle = bound.time - thread.busy;
  }
  bound.best = best_placement(plan, demand, first_touch, addresses);
  return bound;
}

}  // namespace homenode
