#include "models/run/estimate.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "models/caches/choose_caches.hpp"
#include "models/code/core_factors.hpp"
#include "models/code/core_model.hpp"
#include "models/engines/parts/fresh_pages.hpp"
#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"
#include "models/run/distribution_plan.hpp"
#include "models/run/pilot.hpp"
#include "models/run/placement_pass.hpp"
#include "models/systems/page_sizes.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

// What iterations take that are handed out on demand; nothing known: all take no time, and threads ask in turn.
class IterationSeconds {
public:
  IterationSeconds() = default;
  // `cells`: of equal parts of the iterations.
  IterationSeconds(const std::vector<double>& cells, std::int64_t iterations) : iterations_{static_cast<double>(iterations)}, until_{0} {
    for (const double seconds : cells) until_.push_back(until_.back() + seconds);
  }
  double of(ItemRange range) const { return until_.size() < 2 ? 0 : until(range.last) - until(range.first); }

private:
  double until(std::int64_t iteration) const {
    const auto cells = static_cast<double>(until_.size() - 1);
    const double place = std::clamp(static_cast<double>(iteration) * cells / iterations_, 0.0, cells);
    const auto cell = std::min(static_cast<std::size_t>(place), until_.size() - 2);
    return until_[cell] + (place - static_cast<double>(cell)) * (until_[cell + 1] - until_[cell]);
  }
  double iterations_ = 1;
  std::vector<double> until_;
};

// Who runs which iterations: the thread that is free first asks next; of those that are free at once, the next in turn.
std::vector<ScheduledRange> hand_out(WorkDistribution& distribution, std::size_t threads, const IterationSeconds& seconds) {
  std::vector<ScheduledRange> ranges;
  std::vector<bool> finished(threads, false);
  std::vector<double> free_at(threads, 0);
  std::size_t left = threads, idle_turns = 0, last = threads - 1;
  std::vector<ItemRange> running(threads);
  while (left > 0 && idle_turns <= 2 * threads) {
    std::size_t t = threads;
    for (std::size_t turn = 1; turn <= threads; ++turn) {
      const std::size_t other = (last + turn) % threads;
      if (!finished[other] && (t == threads || free_at[other] < free_at[t])) t = other;
    }
    last = t;
    const ThreadId thread{t};
    if (running[t].size() > 0) distribution.complete(std::exchange(running[t], {}), thread, Time{});
    const Decision decision = distribution.next(thread, Time{});
    if (decision.kind == Decision::Kind::finished) {
      finished[t] = true;
      --left;
    } else if (decision.kind == Decision::Kind::run) {
      ranges.push_back({decision.items.first, decision.items.last, thread, decision.overhead.seconds()});
      running[t] = decision.items;
      free_at[t] += seconds.of(decision.items) + decision.overhead.seconds();
      idle_turns = 0;
    } else {
      // It asks again when the next of the others is free.
      double next = free_at[t];
      for (std::size_t other = 0; other < threads; ++other)
        if (!finished[other] && free_at[other] > free_at[t] && (next == free_at[t] || free_at[other] < next)) next = free_at[other];
      free_at[t] = next;
      ++idle_turns;
    }
  }
  return ranges;
}

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Executions one after the other, each thread with a clock of its own between barriers.
class EstimatedProgram {
public:
  EstimatedProgram(const Workload& workload, const Machine& machine, const RunSpec& spec, ProgramOracle& oracle)
      : workload_{workload},
        spec_{spec},
        oracle_{oracle},
        plan_{spec.distribution, false},
        team_{cores_of(workload, machine, spec), &machine},
        clock_(spec.threads, 0.0) {}

  // The placement's pass in front of the program; `seconds` by thread, none without one.
  void touch_first(const std::vector<double>& seconds) {
    if (seconds.empty()) return;
    const double longest = *std::max_element(seconds.begin(), seconds.end()) + oracle_.barrier_seconds();
    result_.regions.push_back({.label = placement_pass_label,
                               .executions = 1,
                               .seconds = longest,
                               .thread_seconds = seconds,
                               .bottleneck = "overhead",
                               .schedule = {},
                               .weights = std::vector<double>(spec_.threads, 0.0)});
    now_ = oracle_.fork_seconds() + longest;
  }

  void add(ExecutionId id) {
    const std::size_t e = id.index();
    const Execution& execution = workload_.executions[e];
    const bool begins = e == 0 || execution.parallel == 0 || workload_.executions[e - 1].parallel != execution.parallel;
    // What was before ended with its last thread, also where no barrier took time.
    if (begins) now_ = std::max(now_, *std::max_element(clock_.begin(), clock_.end()));
    if (begins && execution.parallel != 0) {
      now_ += oracle_.fork_seconds();
      std::fill(clock_.begin(), clock_.end(), now_);
    }
    std::vector<ScheduledRange> schedule = schedule_of(id);
    const auto before = std::chrono::steady_clock::now();
    const RegionEstimate took = oracle_.estimate(id, schedule);
    // The first one of a region also makes tables: the second one counts, if there is one.
    if (KnownRegion& region = regions_[execution.region]; region.row.executions < 2) region.computing = since(before);
    oracle_.record_execution(id, schedule);
    const double seconds = pass_time(id, took.thread_seconds);
    put_down(execution, took, seconds, std::move(schedule));
  }

  Estimate result() && {
    result_.seconds = std::max(now_, *std::max_element(clock_.begin(), clock_.end()));
    double computing = 0;
    for (auto& [id, region] : regions_) {
      computing += region.computing;
      result_.regions.push_back(std::move(region.row));
    }
    if (!regions_.empty()) result_.microseconds_per_estimate = 1e6 * computing / static_cast<double>(regions_.size());
    return std::move(result_);
  }

private:
  struct KnownRegion {
    EstimatedRegion row;
    double longest = 0;    // seconds of its longest execution
    double computing = 0;  // seconds that the host took to estimate one
  };

  std::vector<ScheduledRange> schedule_of(ExecutionId id) {
    const Execution& execution = workload_.executions[id.index()];
    const Region& region = workload_.regions[execution.region.index()];
    if (execution.parallel == 0) return {{0, execution.iterations, ThreadId{0}}};
    if (execution.binding == Binding::free && region.kind != RegionKind::single && region.kind != RegionKind::section) {
      const auto distribution = plan_.make(region.label);
      distribution->prepare(
          {.execution = id, .region = &region, .iterations = execution.iterations, .memory = &memory_, .seed = spec_.seed + id.index()},
          team_, &oracle_);
      if (distribution->fixed_schedule() != nullptr || execution.iterations == 0) return hand_out(*distribution, spec_.threads, {});
      // Told twice, with cold caches and with warm ones: were it told anew each time, no two executions would hand out alike.
      auto& [seconds, told] = known_seconds_[{execution.region, execution.iterations}];
      if (told < 2) seconds = {oracle_.cell_seconds(id), execution.iterations}, ++told;
      return hand_out(*distribution, spec_.threads, seconds);
    }
    std::vector<ScheduledRange> schedule;
    if (execution.binding == Binding::replicated) {
      for (unsigned t = 0; t < spec_.threads; ++t) schedule.push_back({0, 1, ThreadId{t}});
    } else {
      for (std::int64_t i = 0; i < execution.iterations; ++i)
        schedule.push_back({i, i + 1, ThreadId{static_cast<std::size_t>(i) % spec_.threads}});
    }
    return schedule;
  }

  // Moves the clocks on; seconds from the first thread's entry to the end of the barrier.
  double pass_time(ExecutionId id, const std::vector<double>& thread_seconds) {
    const bool parallel = workload_.executions[id.index()].parallel != 0;
    const double entered = parallel ? *std::min_element(clock_.begin(), clock_.end()) : now_;
    const double barrier = oracle_.barrier_seconds(id);
    double end = now_;
    for (std::size_t t = 0; t < clock_.size(); ++t) {
      clock_[t] += thread_seconds[t];
      end = parallel ? std::max(end, clock_[t]) : now_ + thread_seconds[0];
    }
    if (!parallel || barrier > 0) {
      now_ = end + barrier;
      std::fill(clock_.begin(), clock_.end(), now_);
    }
    return (parallel && barrier > 0 ? now_ : end) - entered;
  }

  void put_down(const Execution& execution, const RegionEstimate& took, double seconds, std::vector<ScheduledRange> schedule) {
    KnownRegion& region = regions_[execution.region];
    EstimatedRegion& row = region.row;
    row.label = workload_.regions[execution.region.index()].label;
    ++row.executions;
    row.seconds += seconds;
    row.thread_seconds.resize(spec_.threads, 0.0);
    row.weights.assign(spec_.threads, 0.0);
    for (std::size_t t = 0; t < took.thread_seconds.size(); ++t) row.thread_seconds[t] += took.thread_seconds[t];
    for (const ScheduledRange& range : schedule)
      row.weights[range.thread.index()] +=
          static_cast<double>(range.last - range.first) / static_cast<double>(std::max<std::int64_t>(execution.iterations, 1));
    if (row.executions == 1 || took.seconds > region.longest) {
      region.longest = took.seconds;
      row.bottleneck = took.bottleneck;
    }
    row.schedule = std::move(schedule);
  }

  const Workload& workload_;
  const RunSpec& spec_;
  ProgramOracle& oracle_;
  DistributionPlan plan_;
  Team team_;
  LoopMemory memory_;
  std::map<RegionId, KnownRegion> regions_;
  std::map<std::pair<RegionId, std::int64_t>, std::pair<IterationSeconds, int>> known_seconds_;  // by region and iterations
  std::vector<double> clock_;                                                                    // of each thread, within a construct
  double now_ = 0;
  Estimate result_;
};

// Of a machine and a run, all that a table depends on: how touches are cut, what private caches hold, core time.
std::string what_a_table_sees(const Machine& machine, const RunSpec& spec) {
  const LineTouchOptions touches = LineTouchOptions::of(machine, store_treatment(spec.stores, machine));
  std::ostringstream text;
  text << std::hexfloat << touches.line_bytes << ' ' << touches.miss_buffers << ' ' << touches.prefetched_lines << ' '
       << touches.prefetch_stride_limit << ' ' << touches.prefetch_trigger << ' ' << touches.prefetch_streams << ' '
       << static_cast<int>(touches.stores) << ' ' << touches.group_lines << "; pages " << spec.pages << "; nodes";
  for (const NodeId node : machine.core_node) text << ' ' << node.value();
  for (const CacheDescription& cache : machine.caches)
    text << "; cache " << cache.size.count() << ' ' << cache.line.count() << ' ' << cache.ways << ' ' << cache.cores_per_cache << ' '
         << static_cast<int>(cache.inclusion) << ' ' << static_cast<int>(cache.victim);
  const auto& [issue, integer, add, multiply, fma, divide, load, store, branch, cpu, block_time, misprediction, smt_slowdown, smt_fetch] =
      machine.core;
  text << "; core " << machine.clock.hertz();
  for (const double each :
       {issue, integer, add, multiply, fma, divide, load, store, branch, block_time, misprediction, smt_slowdown, smt_fetch})
    text << ' ' << each;
  text << ' ' << cpu << ' ' << spec.core << ' ' << spec.core_factors << "; caches " << spec.caches;
  return text.str();
}

constexpr double most_missing = 0.02;  // of the lines that a sample is to stand for

// One in so many: as `flow` follows them.
unsigned lines_followed(const Workload& workload, const Machine& machine, const RunSpec& spec) {
  return choose_caches(spec.caches, workload, machine, LineTouchOptions::of(machine, store_treatment(spec.stores, machine))).one_in;
}

// Estimates of one program mostly differ in latencies and policies, which its table does not see.
std::shared_ptr<const TrafficTable> table_of(const Workload& workload, const Machine& machine, const RunSpec& spec) {
  struct OfMachine {
    Machine machine;  // that the table refers to
    TrafficTable table;
    OfMachine(const Workload& program, const Machine& of, const RunSpec& run, unsigned one_in)
        : machine{of},
          table{program,
                machine,
                store_treatment(run.stores, machine),
                page_sizes(run.pages).page,
                with_core_factors(code_cycles(program, machine, run.core), run.core_factors),
                one_in} {}
  };
  const auto made = workload.traffic_table.get<OfMachine>(what_a_table_sees(machine, spec), [&] {
    auto table = std::make_shared<const OfMachine>(workload, machine, spec, lines_followed(workload, machine, spec));
    if (table->table.sampling_error() > most_missing) table = std::make_shared<const OfMachine>(workload, machine, spec, 1U);
    return table;
  });
  return {made, &made->table};
}

}  // namespace

std::vector<CoreId> cores_of(const Workload& workload, const Machine& machine, const RunSpec& spec) {
  const auto mapping = thread_mappings().make(spec.mapping);
  mapping->prepare(graph_for(*mapping, workload, spec.mapping, spec.threads).get(), machine, spec.threads);
  std::vector<CoreId> cores;
  for (unsigned t = 0; t < spec.threads; ++t) {
    const std::vector<CoreId> allowed = mapping->affinity(ThreadId{t}, Time{});
    cores.push_back(allowed.size() == 1 ? allowed.front() : allowed[t % allowed.size()]);
  }
  return cores;
}

OracleOfRun make_oracle(const Workload& workload, const Machine& machine, const RunSpec& spec, const RunExtras& extras) {
  OracleOfRun made;
  made.topology = std::make_unique<Topology>(machine);
  made.table = table_of(workload, machine, spec);
  made.placement = page_placements().make(extras.own_placement ? RunSpec{}.placement : spec.placement);
  AccessSummary summary;
  if (made.placement->wants_summary()) {
    const DistributionPlan plan{spec.distribution, false};
    const auto graph = graph_for(*thread_mappings().make(spec.mapping), workload, spec.mapping, spec.threads);
    summary = pilot_summary({.workload = workload,
                             .machine = machine,
                             .spec = spec,
                             .extras = extras,
                             .make_distribution = [&](const std::string& label) { return plan.make(label); },
                             .graph = graph.get()});
  }
  made.placement->prepare(made.placement->wants_summary() ? &summary : nullptr, machine);
  const PageSizes pages = page_sizes(spec.pages);
  made.oracle = make_closed_form(workload, machine, *made.topology, *made.table, *made.placement, cores_of(workload, machine, spec),
                                 system_of(machine, extras), are_zeroed_in_caches(workload, machine, pages.page, pages.huge));
  made.touched_seconds = made.oracle->touch_first(made.placement->touched_first());
  return made;
}

Estimate estimate(const Workload& workload, const Machine& machine, const RunSpec& spec, const RunExtras& extras) {
  if (spec.threads < 1 || spec.threads > machine.cores())
    throw UsageError(std::to_string(spec.threads) + " threads on machine '" + machine.name + "'; allowed: 1 to " +
                     std::to_string(machine.cores()));
  std::vector<std::string> labels;
  for (const Region& region : workload.regions) labels.push_back(region.label);
  DistributionPlan{spec.distribution, false}.check_labels(labels);
  const auto begin = std::chrono::steady_clock::now();
  const OracleOfRun made = make_oracle(workload, machine, spec, extras);
  const double table_seconds = since(begin);

  EstimatedProgram program{workload, machine, spec, *made.oracle};
  program.touch_first(made.touched_seconds);
  for (std::size_t e = 0; e < workload.executions.size(); ++e) program.add(ExecutionId{e});
  Estimate result = std::move(program).result();
  result.table_seconds = table_seconds;
  return result;
}

}  // namespace homenode
