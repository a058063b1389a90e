#include "models/run/run.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "models/caches/choose_caches.hpp"
#include "models/distribution/follow_log.hpp"
#include "models/engines/parts/controller_load.hpp"
#include "models/heap/register.hpp"
#include "models/mapping/register.hpp"
#include "models/optimum/page_demand.hpp"
#include "models/placement/register.hpp"
#include "models/placement/system_kernel.hpp"
#include "models/run/best_placement.hpp"
#include "models/run/distribution_plan.hpp"
#include "models/run/estimate.hpp"
#include "models/run/pilot.hpp"
#include "models/run/placement_pass.hpp"
#include "models/systems/page_sizes.hpp"
#include "sim/base/errors.hpp"
#include "sim/loop/simulation.hpp"
#include "sim/program/recorded.hpp"
#include "sim/report/timeline.hpp"

namespace homenode {
namespace {

// All that what leaves the caches depends on, beside the workload.
std::string recorded_run(const Machine& machine, const RunOptions& options, StoreTreatment stores, Bytes quantum,
                         const std::string& caches) {
  std::ostringstream text;
  text << options.threads << " threads, mapping " << options.mapping << ", distribution " << options.distribution << ", heap "
       << options.heap << ", stores " << static_cast<int>(stores) << ", caches " << caches << ", pages " << options.pages << ", quantum "
       << quantum.count() << ", frames " << (caches == "lines" ? options.seed : 0) << "; " << machine.sockets << " sockets, nodes of cores";
  for (const NodeId node : machine.core_node) text << ' ' << node.value() << '/' << machine.socket_of(node).value();
  for (const CacheDescription& cache : machine.caches) {
    text << "; cache " << cache.level << ' ' << cache.size.count() << ' ' << cache.ways << ' ' << cache.line.count() << ' '
         << cache.cores_per_cache << ' ' << static_cast<int>(cache.inclusion) << ' ' << cache.slices;
  }
  text << "; misses " << machine.miss_buffers << ' ' << machine.prefetched_lines << ' ' << machine.prefetch_stride_limit.count()
       << "; translations " << machine.tlb.entries << ' ' << machine.tlb.large_entries;
  return text.str();
}

// The report of a run that takes just what no placement can beat.
RunReport bound_of(RunReport report) {
  if (!report.lower_bound) throw UsageError("placement 'optimal' needs an engine that tells a lower bound; allowed: flow, simgrid");
  report.time = *report.lower_bound;
  for (RegionReport& region : report.regions) {
    region.time = region.least;
    region.busy.clear();  // of the threads' least no more than the sum is known
  }
  for (ThreadReport& thread : report.threads) {
    thread.busy = thread.least;
    thread.idle = report.time - thread.busy;
  }
  return report;
}

// An event for each span and each execution that spans lie in, the rest for changes of counters.
std::shared_ptr<Timeline> make_timeline(const Machine& machine, const Topology& topology, std::size_t events) {
  constexpr std::size_t least = 1000, most_intervals = 1024, least_intervals = 16;
  if (events < least) throw UsageError("a timeline of " + std::to_string(events) + " events; allowed: at least " + std::to_string(least));
  std::vector<std::string> names;
  std::vector<double> bandwidths;
  for (std::size_t resource = 0; resource < shared_resources(machine, topology); ++resource) {
    names.push_back(shared_resource_name(machine, topology, resource));
    bandwidths.push_back(shared_resource_bandwidth(machine, topology, resource));
  }
  const std::size_t intervals = std::clamp(events / 4 / names.size(), least_intervals, most_intervals);
  auto timeline = std::make_shared<Timeline>(events * 3 / 8);
  timeline->set_resources(std::move(names), std::move(bandwidths), intervals);
  return timeline;
}

}  // namespace

RunReport run(const Workload& workload, const Machine& machine, const RunOptions& options) {
  const std::string placement_text =
      options.system.balancing.available == 0 ? options.placement : with_kernel_of(options.system, options.placement);
  const std::shared_ptr<PagePlacement> placement =
      options.own_placement ? page_placements().modify(placement_text, options.own_placement) : page_placements().make(placement_text);
  const auto mapping = thread_mappings().make(options.mapping);
  const auto graph = graph_for(*mapping, workload, options.mapping, options.threads);
  const auto heap = heap_managers().make(options.heap);
  const auto has_tasks = [](const Region& region) { return region.kind == RegionKind::task; };
  const DistributionPlan plan{options.distribution, std::any_of(workload.regions.begin(), workload.regions.end(), has_tasks)};
  std::vector<std::string> labels;
  for (const Region& region : workload.regions) labels.push_back(region.label);
  plan.check_labels(labels);
  std::set<std::string> labels_of_tasks;
  bool wants_estimates = false;
  for (const Region& region : workload.regions) {
    if (region.kind == RegionKind::task) labels_of_tasks.insert(region.label);
    if (region.kind == RegionKind::task) plan.make_for_tasks(region.label);
    if (region.kind == RegionKind::loop) wants_estimates |= plan.make(region.label)->wants_estimates() && options.follow.empty();
  }
  if (options.distribution != RunOptions{}.distribution && options.follow.empty())
    require(workload, Recorded::iterations, "distribution '" + options.distribution + "'");
  if (options.stores == "nt") require(workload, Recorded::streamable_stores, "store treatment 'nt'");

  const PageSizes sizes = page_sizes(options.pages);
  if (placement->watches() == Watch::hinting_faults && options.system.balancing.available == 0) {
    throw UsageError("placement '" + options.placement + "' needs automatic NUMA balancing; allowed: systems that have it, found '" +
                     options.system.name + "'");
  }

  const Topology topology{machine};
  EngineOptions staged;
  std::shared_ptr<Timeline> timeline;
  if (options.timeline_events != 0) {
    if (placement->only_bounds())
      throw UsageError("a timeline of placement '" + options.placement + "', which tells a bound and no run; allowed: other placements");
    timeline = make_timeline(machine, topology, options.timeline_events);
    staged.timeline = timeline.get();
  }
  staged.system = options.system;
  staged.page = sizes.page;
  PageDemand page_demand;
  if (placement->only_bounds()) staged.page_demand = &page_demand;
  staged.seed = options.seed;
  staged.stores = store_treatment(options.stores, machine);
  const bool by_lines = options.engine == "line";
  if (by_lines && options.caches == "runs") throw UsageError("engine 'line' follows every line; found caches 'runs'; allowed: auto, lines");
  const CacheChoice caches = choose_caches(by_lines ? "lines" : options.caches, workload, LineTouchOptions::of(machine, staged.stores));
  const auto make_distribution = [&](const std::string& label) {
    if (!options.follow.empty()) return follow_log(options.follow);
    return labels_of_tasks.contains(label) ? plan.make_for_tasks(label) : plan.make(label);
  };
  const Bytes quantum = options.quantum.count() > 0 ? options.quantum : default_quantum(machine);
  const auto engine_for = [&](const Workload& program) {
    const bool reads = staged.record && staged.record->ready(staged.recorded);
    return make_engine(options.engine, program, machine, topology, options.threads, staged,
                       reads ? nullptr : make_caches(caches.name, machine, options.seed));
  };
  AccessSummary summary;
  if (placement->wants_summary()) {
    const auto pilot_mapping = thread_mappings().make(options.mapping);
    summary = pilot_summary({workload, machine, *pilot_mapping, make_distribution, options.threads, options.oversubscribe, sizes.page,
                             options.system.scheduler, options.seed, graph.get()});
  }
  placement->prepare(placement->wants_summary() ? &summary : nullptr, machine);
  AddressSpace addresses{machine, workload, *placement, sizes.page, sizes.huge};
  if (options.keep_log) addresses.keep_placed_pages();
  std::vector<TouchedPages> touched = placement->touched_first();
  // Another heap than the default one decides itself where blocks lie, when they are asked for.
  if (options.heap != RunOptions{}.heap)
    std::erase_if(touched, [&](const TouchedPages& pages) { return workload.objects[pages.object.index()].kind == ObjectKind::heap; });
  std::optional<RunReport> pass_report;
  if (const auto pass = placement_pass(workload, summary, touched, options.threads)) {
    for (const TouchedPages& pages : touched) addresses.place_object(pages.object, ThreadId{0});
    const auto pass_mapping = thread_mappings().make(options.mapping);
    const auto pass_memory = engine_for(*pass);
    if (timeline) timeline->begin_part(*pass, Time{});
    pass_report =
        simulate({*pass, machine, *pass_mapping, make_distribution, *pass_memory, addresses, options.threads, options.oversubscribe,
                  quantum, false, nullptr, options.seed, options.system.scheduler, nullptr, graph.get(), timeline.get()});
  }
  if (timeline) timeline->begin_part(workload, pass_report ? pass_report->time : Time{});
  // Where pages move, objects were given their addresses before, or chunks depend on the machine, the caches see something else.
  if (options.record && !wants_estimates && options.follow.empty() && touched.empty() && sizes.huge.count() == 0 &&
      placement->watches() == Watch::nothing) {
    staged.record = options.record;
    staged.recorded = recorded_run(machine, options, staged.stores, quantum, caches.name);
  }
  const auto memory = engine_for(workload);
  OracleOfRun of_run;
  if (wants_estimates) of_run = make_oracle(workload, machine, options);
  RunReport report =
      simulate({workload, machine, *mapping, make_distribution, *memory, addresses, options.threads, options.oversubscribe, quantum,
                options.keep_log, heap.get(), options.seed, options.system.scheduler, of_run.oracle.get(), graph.get(), timeline.get()});
  report.timeline = timeline;
  report.pages = addresses.placed_pages();
  report.huge_pages = addresses.huge_pages();
  report.overflowed_pages = addresses.memory().overflowed();
  if (placement->only_bounds()) {
    RunReport bound = bound_of(report);
    bound.best = best_placement(workload, machine, topology, options, page_demand, report, addresses);
    report = std::move(bound);
  }
  if (pass_report) put_in_front(*pass_report, report);
  report.caches = caches.name;
  report.caches_region = caches.region;
  report.caches_lines_per_touch = caches.lines_per_touch;
  return report;
}

}  // namespace homenode
