#include "models/run/estimate.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"
#include "models/run/distribution_plan.hpp"
#include "models/run/pilot.hpp"
#include "models/run/placement_pass.hpp"
#include "models/systems/page_sizes.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

constexpr std::uint64_t timed_executions = 2;  // of each region

std::vector<CoreId> cores_of(const Workload& workload, const Machine& machine, const RunOptions& options) {
  const auto mapping = thread_mappings().make(options.mapping);
  mapping->prepare(graph_for(*mapping, workload, options.mapping, options.threads).get(), machine, options.threads);
  std::vector<CoreId> cores;
  for (unsigned t = 0; t < options.threads; ++t) {
    const std::vector<CoreId> allowed = mapping->affinity(ThreadId{t}, Time{});
    cores.push_back(allowed.size() == 1 ? allowed.front() : allowed[t % allowed.size()]);
  }
  return cores;
}

// Who runs which iterations if all threads are equally fast.
std::vector<ScheduledRange> hand_out(WorkDistribution& distribution, std::size_t threads) {
  std::vector<ScheduledRange> ranges;
  std::vector<bool> finished(threads, false);
  std::size_t left = threads, idle_turns = 0;
  std::vector<ItemRange> running(threads);
  for (std::size_t t = 0; left > 0 && idle_turns <= 2 * threads; t = (t + 1) % threads) {
    if (finished[t]) continue;
    const ThreadId thread{t};
    if (running[t].size() > 0) distribution.complete(std::exchange(running[t], {}), thread, Time{});
    const Decision decision = distribution.next(thread, Time{});
    if (decision.kind == Decision::Kind::finished) {
      finished[t] = true;
      --left;
    } else if (decision.kind == Decision::Kind::run) {
      ranges.push_back({decision.items.first, decision.items.last, thread, decision.overhead.seconds()});
      running[t] = decision.items;
      idle_turns = 0;
    } else {
      ++idle_turns;
    }
  }
  return ranges;
}

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

StoreTreatment store_treatment(const std::string& stores, const Machine& machine) {
  if (stores == "machine") return machine.streamable_stores;
  if (stores == "regular") return StoreTreatment::regular;
  if (stores == "nt") return StoreTreatment::nontemporal;
  throw UsageError(unknown_name("store treatment", stores, std::vector<std::string>{"machine", "regular", "nt"}));
}

OracleOfRun make_oracle(const Workload& workload, const Machine& machine, const RunOptions& options) {
  return make_oracle(
      workload, machine, options,
      std::make_unique<TrafficTable>(workload, machine, store_treatment(options.stores, machine), page_sizes(options.pages).page));
}

OracleOfRun make_oracle(const Workload& workload, const Machine& machine, const RunOptions& options, std::unique_ptr<TrafficTable> table) {
  OracleOfRun made;
  made.topology = std::make_unique<Topology>(machine);
  made.table = std::move(table);
  made.placement = page_placements().make(options.own_placement ? RunOptions{}.placement : options.placement);
  AccessSummary summary;
  if (made.placement->wants_summary()) {
    const auto mapping = thread_mappings().make(options.mapping);
    const DistributionPlan plan{options.distribution, false};
    const auto graph = graph_for(*mapping, workload, options.mapping, options.threads);
    summary = pilot_summary({workload, machine, *mapping, [&](const std::string& label) { return plan.make(label); }, options.threads,
                             options.oversubscribe, page_sizes(options.pages).page, options.system.scheduler, options.seed, graph.get()});
  }
  made.placement->prepare(made.placement->wants_summary() ? &summary : nullptr, machine);
  made.oracle = make_closed_form(workload, machine, *made.topology, *made.table, *made.placement, cores_of(workload, machine, options),
                                 options.system);
  made.touched_seconds = made.oracle->touch_first(made.placement->touched_first());
  return made;
}

Estimate estimate(const Workload& workload, const Machine& machine, const RunOptions& options) {
  if (options.threads < 1 || options.threads > machine.cores())
    throw UsageError(std::to_string(options.threads) + " threads on machine '" + machine.name + "'; allowed: 1 to " +
                     std::to_string(machine.cores()));
  const DistributionPlan plan{options.distribution, false};
  std::vector<std::string> labels;
  for (const Region& region : workload.regions) labels.push_back(region.label);
  plan.check_labels(labels);
  Estimate result;
  const auto begin = std::chrono::steady_clock::now();
  const OracleOfRun made = make_oracle(workload, machine, options);
  result.table_seconds = since(begin);

  const Team team{cores_of(workload, machine, options), &machine};
  LoopMemory memory;
  std::map<RegionId, std::pair<EstimatedRegion, double>> regions;  // with the longest execution's seconds
  std::vector<double> clock(options.threads, 0.0);                 // of each thread, within a construct
  double now = 0, computing = 0;
  std::size_t timed = 0;
  if (!made.touched_seconds.empty()) {
    const std::vector<double>& touched = made.touched_seconds;
    const double seconds = *std::max_element(touched.begin(), touched.end()) + made.oracle->barrier_seconds();
    result.regions.push_back({placement_pass_label, 1, seconds, touched, "overhead", {}, std::vector<double>(options.threads, 0.0)});
    now = made.oracle->fork_seconds() + seconds;
  }
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const Execution& execution = workload.executions[e];
    const Region& region = workload.regions[execution.region.index()];
    const ExecutionId id{e};
    const bool parallel = execution.parallel != 0;
    if (parallel && (e == 0 || workload.executions[e - 1].parallel != execution.parallel)) {
      now += made.oracle->fork_seconds();
      std::fill(clock.begin(), clock.end(), now);
    }
    std::vector<ScheduledRange> schedule;
    if (!parallel) {
      schedule.push_back({0, execution.iterations, ThreadId{0}});
    } else if (execution.binding == Binding::free && region.kind != RegionKind::single && region.kind != RegionKind::section) {
      const auto distribution = plan.make(region.label);
      distribution->prepare({id, &region, execution.iterations, nullptr, &memory, options.seed + e}, team, made.oracle.get());
      schedule = hand_out(*distribution, options.threads);
    } else if (execution.binding == Binding::replicated) {
      for (unsigned t = 0; t < options.threads; ++t) schedule.push_back({0, 1, ThreadId{t}});
    } else {
      for (std::int64_t i = 0; i < execution.iterations; ++i)
        schedule.push_back({i, i + 1, ThreadId{static_cast<std::size_t>(i) % options.threads}});
    }
    const RegionEstimate took = made.oracle->estimate(id, schedule);
    if (regions[execution.region].first.executions < timed_executions) {
      const auto before = std::chrono::steady_clock::now();
      made.oracle->estimate(id, schedule);
      computing += since(before);
      ++timed;
    }
    made.oracle->record_execution(id, schedule);

    const double entered = parallel ? *std::min_element(clock.begin(), clock.end()) : now;
    const double barrier = made.oracle->barrier_seconds(id);
    double end = now;
    for (std::size_t t = 0; t < clock.size(); ++t) {
      clock[t] += took.thread_seconds[t];
      end = parallel ? std::max(end, clock[t]) : now + took.thread_seconds[0];
    }
    if (!parallel || barrier > 0) {
      now = end + barrier;
      std::fill(clock.begin(), clock.end(), now);
    }
    auto& [row, longest] = regions[execution.region];
    row.label = region.label;
    ++row.executions;
    row.seconds += (parallel && barrier > 0 ? now : end) - entered;
    row.thread_seconds.resize(options.threads, 0.0);
    row.weights.assign(options.threads, 0.0);
    for (std::size_t t = 0; t < took.thread_seconds.size(); ++t) row.thread_seconds[t] += took.thread_seconds[t];
    for (const ScheduledRange& range : schedule)
      row.weights[range.thread.index()] +=
          static_cast<double>(range.last - range.first) / static_cast<double>(std::max<std::int64_t>(execution.iterations, 1));
    if (row.executions == 1 || took.seconds > longest) {
      longest = took.seconds;
      row.bottleneck = took.bottleneck;
    }
    row.schedule = std::move(schedule);
  }
  result.seconds = std::max(now, *std::max_element(clock.begin(), clock.end()));
  for (auto& [id, row] : regions) result.regions.push_back(std::move(row.first));
  if (timed > 0) result.microseconds_per_estimate = 1e6 * computing / static_cast<double>(timed);
  return result;
}

}  // namespace homenode
