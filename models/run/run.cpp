#include "models/run/run.hpp"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "models/code/core_factors.hpp"
#include "models/code/core_model.hpp"
#include "models/engines/engines.hpp"
#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"
#include "models/run/balanced_time.hpp"
#include "models/run/best_placement.hpp"
#include "models/run/estimate.hpp"
#include "models/run/pilot.hpp"
#include "models/run/placement_pass.hpp"
#include "models/run/run_fields.hpp"
#include "models/run/run_plan.hpp"
#include "models/run/used_policies.hpp"
#include "sim/base/errors.hpp"
#include "sim/loop/simulation.hpp"
#include "sim/machine/mixed_bits.hpp"

namespace homenode {
namespace {

// What happens in front of the program to enact a placement.
struct FirstTouches {
  std::vector<TouchedPages> pages;
  std::optional<RunReport> pass;
};

EngineOptions staged_options(const RunPlan& plan, PageDemand& demand) {
  EngineOptions staged;
  staged.stores = plan.stores;
  staged.system = system_of(plan.machine, plan.extras);
  if (plan.pages.huge < Bytes{2 << 20}) staged.system.fault.huge.reset();  // its time is of a page of 2 MiB
  staged.page = plan.pages.page;
  if (plan.only_bounds) staged.page_demand = &demand;
  staged.seed = plan.spec.seed;
  if (!plan.machine.has_one_clock()) staged.team = cores_of(plan.workload, plan.machine, plan.spec);
  staged.code = with_core_factors(code_cycles(plan.workload, plan.machine, plan.spec.core), plan.spec.core_factors);
  staged.timeline = plan.timeline.get();
  staged.warp = plan.spec.warp;
  staged.fresh_pages = are_zeroed_in_caches(plan.workload, plan.machine, plan.pages.page, plan.pages.huge);
  return staged;
}

std::unique_ptr<MemoryModel> engine_for(const RunPlan& plan, const Workload& program, const EngineOptions& staged) {
  const bool reads = staged.record && staged.record->ready(staged.recorded);
  auto caches = reads ? nullptr : make_caches(plan.caches.name, plan.machine, plan.spec.seed);
  if (caches) caches->use_host_threads(plan.extras.host_threads);
  return make_engine(plan.spec.engine, program, plan.machine, plan.topology, plan.spec.threads, staged, std::move(caches));
}

// What the pass in front of the program and the program itself are both run with.
SimulationInput input_for(const RunPlan& plan, const Workload& program, ThreadMapping& mapping, MemoryModel& memory,
                          AddressSpace& addresses) {
  return {.workload = program,
          .machine = plan.machine,
          .mapping = mapping,
          .make_distribution = plan.make_distribution,
          .memory = memory,
          .addresses = addresses,
          .threads = plan.spec.threads,
          .oversubscribe = plan.spec.oversubscribe,
          .quantum = plan.quantum,
          .seed = plan.spec.seed,
          .scheduler = system_of(plan.machine, plan.extras).scheduler,
          .map_costs = system_of(plan.machine, plan.extras).mapping,
          .task_costs = system_of(plan.machine, plan.extras).tasks,
          .graph = plan.graph.get(),
          .timeline = plan.timeline.get()};
}

// Second phase, first half: what placements want to know beforehand.
AccessSummary prepare_placement(const RunPlan& plan) {
  AccessSummary summary;
  if (plan.placement->wants_summary()) {
    summary = pilot_summary({.workload = plan.workload,
                             .machine = plan.machine,
                             .spec = plan.spec,
                             .extras = plan.extras,
                             .make_distribution = plan.make_distribution,
                             .graph = plan.graph.get()});
  }
  plan.placement->prepare(plan.placement->wants_summary() ? &summary : nullptr, plan.machine);
  return summary;
}

// Second phase, second half: the pass that touches pages where they are to lie.
FirstTouches touch_first(const RunPlan& plan, const AccessSummary& summary, const EngineOptions& staged, AddressSpace& addresses) {
  FirstTouches touches{plan.placement->touched_first(), std::nullopt};
  // A heap that was asked for decides itself where blocks lie, when the program asks for them.
  if (plan.spec.heap != RunSpec{}.heap && plan.heap_name != "plain")
    std::erase_if(touches.pages,
                  [&](const TouchedPages& pages) { return plan.workload.objects[pages.object.index()].kind == ObjectKind::heap; });
  const auto pass = placement_pass(plan.workload, summary, touches.pages, plan.spec.threads);
  if (!pass) return touches;
  for (const TouchedPages& pages : touches.pages) addresses.place_object(pages.object, ThreadId{0});
  const auto mapping = thread_mappings().make(plan.spec.mapping);
  EngineOptions of_pass = staged;
  of_pass.code = nullptr;  // it has regions of its own
  const auto memory = engine_for(plan, *pass, of_pass);
  if (plan.timeline) plan.timeline->begin_part(*pass, Time{});
  SimulationInput input = input_for(plan, *pass, *mapping, *memory, addresses);
  // Threads that the program creates one after the other were counted against the cores by how many live at once; the pass has all.
  input.oversubscribe = true;
  touches.pass = simulate(input);
  return touches;
}

// A mapping by who talks to whom also looks at how far apart cores are.
std::string what_maps_threads(const RunPlan& plan) {
  if (!plan.mapping->wants_graph()) return {};
  std::ostringstream text;
  text << "; between cores " << plan.machine.core_to_core_local.count() << ' ' << plan.machine.core_to_core_remote.count() << ' '
       << plan.machine.between_nodes_of_socket.count() << ' ' << plan.machine.core_to_core_nearest().count();
  for (const LinkDescription& link : plan.machine.links) text << ' ' << link.latency.count();
  return text.str();
}

// 128 bits of the hand-outs, if they are given.
std::string what_is_followed(const std::vector<HandOut>& log) {
  std::uint64_t one = log.size(), other = ~one;
  for (const HandOut& out : log)
    for (const std::int64_t number : {std::int64_t{out.items.execution.value()}, out.items.first, out.items.last,
                                      std::int64_t{out.thread.value()}, std::int64_t{out.overhead.count()}}) {
      one = mixed_bits(one ^ static_cast<std::uint64_t>(number)) + 1;
      other = mixed_bits(other + static_cast<std::uint64_t>(number)) ^ one;
    }
  return log.empty() ? std::string{} : "; follows " + std::to_string(one) + ' ' + std::to_string(other);
}

// Where threads may run on several cores the seed decides on which one each begins. Mappings by a graph give each thread one core.
bool are_pinned(const RunPlan& plan) {
  if (plan.mapping->wants_graph()) return true;
  plan.mapping->prepare(nullptr, plan.machine, plan.spec.threads);  // the main run does so again
  return plan.mapping->affinity(ThreadId{0}, Time{}).size() == 1;
}

// An extension's policy may look at all of the machine to decide where threads, chunks and blocks go.
bool decides_by_what_nobody_knows(const RunSpec& spec) {
  const std::vector<UsedPolicy> used = used_policies(spec);
  return std::any_of(used.begin(), used.end(), [](const UsedPolicy& one) { return !one.built_in && one.kind != page_placements().kind(); });
}

// Runs share what their slices did to the caches. Where pages move, objects were given their addresses before, or chunks depend on the
// machine, the caches see something else.
void share_record(const RunPlan& plan, const FirstTouches& touches, EngineOptions& staged) {
  if (!plan.extras.record || plan.wants_estimates || !touches.pages.empty() || plan.pages.huge.count() != 0 ||
      plan.placement->watches() != Watch::nothing || decides_by_what_nobody_knows(plan.spec))
    return;
  RunSpec seen = plan.spec;
  seen.caches = plan.caches.name;
  seen.heap = plan.heap_name;
  staged.record = plan.extras.record;
  const bool sees_seed = is_by_lines(seen.caches) || !are_pinned(plan);
  // Which loads a core waits for is of its model.
  const std::string core = staged.code == nullptr ? "classes" : plan.machine.core.llvm_cpu;
  staged.recorded = what_caches_see(seen, sees_seed) + "quantum " + std::to_string(plan.quantum.count()) + "; core " + core + "; " +
                    what_caches_see(plan.machine) + what_is_followed(plan.extras.follow) + what_maps_threads(plan);
}

std::vector<PageNumber> placed(const AddressSpace& addresses) {
  std::vector<PageNumber> pages;
  for (PageNumber page{0}; page.value() < addresses.pages(); page = page + 1)
    if (!addresses.home_of_page(page).is_none()) pages.push_back(page);
  return pages;
}

// Third phase.
RunReport main_run(const RunPlan& plan, const FirstTouches& touches, EngineOptions staged, AddressSpace& addresses,
                   const std::shared_ptr<TouchLog>& log) {
  if (plan.timeline) plan.timeline->begin_part(plan.workload, touches.pass ? touches.pass->time : Time{});
  share_record(plan, touches, staged);
  if (touches.pass) staged.pages_in_use = placed(addresses);
  std::unique_ptr<MemoryModel> memory = engine_for(plan, plan.workload, staged);
  if (log) memory = std::make_unique<LoggedMemory>(std::move(memory), log);
  OracleOfRun of_run;
  if (plan.wants_estimates) of_run = make_oracle(plan.workload, plan.machine, plan.spec, plan.extras);
  SimulationInput input = input_for(plan, plan.workload, *plan.mapping, *memory, addresses);
  input.keep_log = plan.extras.keep_log;
  input.heap = plan.heap.get();
  input.oracle = of_run.oracle.get();
  RunReport report = simulate(input);
  if (plan.timeline) report.over_time = plan.timeline->overview();
  if (plan.extras.timeline_events != 0) report.timeline = plan.timeline;
  report.pages = addresses.placed_pages();
  report.huge_pages = addresses.huge_pages();
  report.overflowed_pages = addresses.memory().overflowed();
  return report;
}

// Where the first mapping lies: of a huge page's multiple, any number of pages behind it.
std::uint64_t base_pages(std::uint64_t seed) {
  constexpr std::uint64_t of_bases = 0x6d6d617062617365;  // tells this use of the seed from others
  return mixed_bits(seed ^ of_bases);
}

// Where balancing is to be told of a longer run.
std::shared_ptr<TouchLog> log_of(const RunPlan& plan) {
  if (!plan.extras.balanced_for) return nullptr;
  if (plan.placement->watches() != Watch::hinting_faults)
    throw UsageError("placement '" + plan.spec.placement +
                     "' for a longer run with balancing; allowed: placements with automatic balancing, "
                     "such as 'first-touch+autonuma'");
  return std::make_shared<TouchLog>(plan.workload);
}

}  // namespace

RunReport run(const Workload& workload, const Machine& machine, const RunSpec& spec, const RunExtras& extras) {
  RunPlan plan = make_plan(workload, machine, spec, extras);
  const std::shared_ptr<PagePlacement> balancing = plan.placement;
  const std::shared_ptr<TouchLog> log = log_of(plan);
  if (log) plan.placement = std::make_shared<LoggedPlacement>(balancing, log);
  PageDemand demand;
  const EngineOptions staged = staged_options(plan, demand);

  const AccessSummary summary = prepare_placement(plan);
  AddressSpace addresses{machine, workload, *plan.placement, plan.pages.page, plan.pages.huge, base_pages(plan.spec.seed)};
  if (extras.keep_log) addresses.keep_placed_pages();
  const FirstTouches touches = touch_first(plan, summary, staged, addresses);

  RunReport report = main_run(plan, touches, staged, addresses, log);
  if (log) report.balanced = balanced_time({*log, addresses, machine, staged.system}, *balancing, extras.balanced_for->seconds());

  if (plan.only_bounds) report = bound_of(plan, demand, report, addresses);
  if (touches.pass) put_in_front(*touches.pass, report);
  report.caches = plan.caches.name;
  report.core = !staged.code ? "classes" : core_factors(plan.spec.core_factors).empty() ? "blocks" : "anchored";
  report.caches_region = plan.caches.region;
  report.caches_lines_per_touch = plan.caches.lines_per_touch;
  return report;
}

}  // namespace homenode
