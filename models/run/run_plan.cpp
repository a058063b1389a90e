#include "models/run/run_plan.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "models/distribution/follow_log.hpp"
#include "models/engines/engines.hpp"
#include "models/engines/parts/controller_load.hpp"
#include "models/heap/register.hpp"
#include "models/mapping/register.hpp"
#include "models/placement/optimal.hpp"
#include "models/placement/register.hpp"
#include "models/run/distribution_plan.hpp"
#include "sim/base/errors.hpp"
#include "sim/loop/simulation.hpp"
#include "sim/program/recorded.hpp"

namespace homenode {
namespace {

std::shared_ptr<PagePlacement> make_placement(const Machine& machine, const RunSpec& spec, const RunExtras& extras) {
  std::shared_ptr<PagePlacement> placement =
      extras.own_placement ? page_placements().modify(spec.placement, extras.own_placement) : page_placements().make(spec.placement);
  placement->run_on(system_of(machine, extras));
  return placement;
}

void plan_distributions(RunPlan& plan) {
  const std::vector<Region>& regions = plan.workload.regions;
  const auto is_of_tasks = [](const Region& region) { return region.kind == RegionKind::task; };
  const DistributionPlan distributions{plan.spec.distribution, std::any_of(regions.begin(), regions.end(), is_of_tasks)};
  std::vector<std::string> labels;
  std::set<std::string> labels_of_tasks;
  for (const Region& region : regions) {
    labels.push_back(region.label);
    if (is_of_tasks(region)) labels_of_tasks.insert(region.label);
  }
  distributions.check_labels(labels);
  const bool follows = !plan.extras.follow.empty();
  for (const Region& region : regions) {
    if (is_of_tasks(region)) distributions.make_for_tasks(region.label);
    if (region.kind == RegionKind::loop) plan.wants_estimates |= distributions.make(region.label)->wants_estimates() && !follows;
  }
  plan.make_distribution = [distributions, labels_of_tasks, &extras = plan.extras](const std::string& label) {
    if (!extras.follow.empty()) return follow_log(extras.follow);
    return labels_of_tasks.contains(label) ? distributions.make_for_tasks(label) : distributions.make(label);
  };
}

void require_what_was_recorded(const RunPlan& plan) {
  if (plan.spec.distribution != RunSpec{}.distribution && plan.extras.follow.empty())
    require(plan.workload, Recorded::iterations, "distribution '" + plan.spec.distribution + "'");
  if (plan.spec.stores == "nt") require(plan.workload, Recorded::streamable_stores, "store treatment 'nt'");
}

CacheChoice caches_of(const RunPlan& plan) {
  const bool by_lines = plan.spec.engine == "line";
  if (by_lines && plan.spec.caches != "auto" && plan.spec.caches != "lines")
    throw UsageError("engine 'line' follows every line; found caches '" + plan.spec.caches + "'; allowed: auto, lines");
  return choose_caches(by_lines ? "lines" : plan.spec.caches, plan.workload, plan.machine, LineTouchOptions::of(plan.machine, plan.stores));
}

// Of an asked-for timeline: an event for each span and each execution that spans lie in, the rest for changes of counters. Without one,
// the overview of every run.
std::shared_ptr<Timeline> make_timeline(const RunPlan& plan) {
  constexpr std::size_t least = 1000, most_intervals = 1024, least_intervals = 16;
  const std::size_t events = plan.extras.timeline_events;
  if (plan.only_bounds && events == 0) return nullptr;
  if (plan.only_bounds)
    throw UsageError("a timeline of placement '" + plan.spec.placement + "', which tells a bound and no run; allowed: other placements");
  if (events != 0 && events < least)
    throw UsageError("a timeline of " + std::to_string(events) + " events; allowed: at least " + std::to_string(least));
  std::vector<std::string> names;
  std::vector<double> bandwidths;
  for (std::size_t resource = 0; resource < shared_resources(plan.machine, plan.topology); ++resource) {
    names.push_back(shared_resource_name(plan.machine, plan.topology, resource));
    bandwidths.push_back(shared_resource_bandwidth(plan.machine, plan.topology, resource));
  }
  const std::size_t intervals = std::clamp(events / 4 / names.size(), least_intervals, most_intervals);
  auto timeline = std::make_shared<Timeline>(events * 3 / 8);
  timeline->set_resources(std::move(names), std::move(bandwidths), intervals);
  return timeline;
}

}  // namespace

std::string heap_of(const Workload& workload, const RunSpec& spec) {
  if (spec.heap != RunSpec{}.heap) return spec.heap;
  const auto calls = [](const ItemPattern& pattern) { return !pattern.heap_events.empty(); };
  return std::any_of(workload.patterns.begin(), workload.patterns.end(), calls) ? "glibc" : "plain";
}

RunPlan make_plan(const Workload& workload, const Machine& machine, const RunSpec& spec, const RunExtras& extras) {
  RunPlan plan{.workload = workload, .machine = machine, .spec = spec, .extras = extras, .topology = Topology{machine}};
  plan.placement = make_placement(machine, spec, extras);
  plan.only_bounds = is_optimal(spec.placement);
  plan.mapping = thread_mappings().make(spec.mapping);
  plan.graph = graph_for(*plan.mapping, workload, spec.mapping, spec.threads);
  plan.heap_name = heap_of(workload, spec);
  plan.heap = heap_managers().make(plan.heap_name);
  plan_distributions(plan);
  require_what_was_recorded(plan);
  plan.pages = page_sizes(spec.pages);
  plan.timeline = make_timeline(plan);
  plan.stores = store_treatment(spec.stores, machine);
  plan.caches = caches_of(plan);
  plan.quantum = extras.quantum.count() > 0 ? extras.quantum : default_quantum(machine);
  return plan;
}

}  // namespace homenode
