#include "sim/loop/executions.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/loop/constructs.hpp"
#include "sim/memory/item_homes.hpp"

namespace homenode {

Executions::Executions(Threads& threads, const TaskPool& tasks, SliceCutter& cutter)
    : threads_{threads},
      tasks_{tasks},
      cutter_{cutter},
      team_{.core = threads.cores(), .machine = &threads.in.machine},
      states_(threads.in.workload.executions.size()),
      regions_(threads.in.workload.regions.size()) {
  // Slices of the creator's iteration come before and after those of the created thread.
  const Workload& workload = threads.in.workload;
  const auto starts_thread = [&](const Execution& execution) { return is_thread_routine(workload, execution); };
  if (std::any_of(workload.executions.begin(), workload.executions.end(), starts_thread)) threads.in.memory.order_by_time();
}

const Region& Executions::region(std::size_t index) const { return region_of(threads_.in.workload, execution(index)); }

ExecutionState& Executions::enter(std::size_t index) {
  ExecutionState& state = states_[index];
  if (state.entered) return state;
  const Workload& workload = threads_.in.workload;
  const Execution& ex = execution(index);
  state.entered = true;
  state.begin = threads_.now;
  state.body = workload.body(ExecutionId{index});
  if (ex.parallel == 0) return state;
  find_team();
  if (ex.binding == Binding::free && !is_first_come(workload, ex) && !is_tasks(workload, ex))
    state.distribution = make_distribution(index, state.body);
  filter_ahead(index, state);
  return state;
}

std::unique_ptr<WorkDistribution> Executions::make_distribution(std::size_t index, std::shared_ptr<const ExecutionBody> body) {
  const SimulationInput& in = threads_.in;
  const Region& region = this->region(index);
  std::unique_ptr<WorkDistribution> distribution = in.make_distribution(region.label);
  if (region.kind == RegionKind::task && !distribution->can_run_tasks())
    throw PolicyError("the distribution of region '" + region.label + "' does not run tasks");
  states_[index].homes = std::make_unique<WrittenHomes>(in.workload, std::move(body), in.addresses);
  const RegionView view{.execution = ExecutionId{index},
                        .region = &region,
                        .iterations = execution(index).iterations,
                        .homes = states_[index].homes.get(),
                        .memory = &loop_memory_,
                        .seed = in.seed + index};
  distribution->prepare(view, team_, in.oracle);
  return distribution;
}

// Lets the slices of the execution pass the caches in an order that does not depend on time, if they have one. A team of one has no other;
// ahead of time it can jump over rounds that repeat.
void Executions::filter_ahead(std::size_t index, ExecutionState& state) {
  std::unique_ptr<WorkDistribution> hands_out = is_free_of_synchronisation(index, state) ? fixed_schedule(index, state) : nullptr;
  if (!hands_out) {
    if (threads_.size() > 1) threads_.in.memory.order_by_time();
    return;
  }
  std::vector<Place> places;
  for (std::size_t t = 0; t < threads_.size(); ++t) places.push_back(threads_.place_of(t));
  state.prefiltered = std::make_unique<PrefilteredSlices>(std::move(hands_out), std::move(places), state.body, cutter_);
}

std::unique_ptr<WorkDistribution> Executions::fixed_schedule(std::size_t index, const ExecutionState& state) const {
  if (state.distribution) return state.distribution->fixed_schedule();
  return one_iteration_each(ExecutionId{index}, execution(index));
}

// Every thread begins the execution behind a barrier, keeps its core, and meets nobody until the next barrier.
bool Executions::is_free_of_synchronisation(std::size_t index, const ExecutionState& state) const {
  const Workload& workload = threads_.in.workload;
  const Execution& ex = execution(index);
  if (!threads_.in.memory.can_filter_ahead(threads_.in.addresses) || !threads_.are_pinned || tasks_.active()) return false;
  if (is_first_come(workload, ex) || is_tasks(workload, ex) || region(index).ordered) return false;
  const bool alone_before = index == 0 || !is_same_construct(workload, index, index - 1) || execution(index - 1).barrier_after;
  if (!alone_before || !(ex.barrier_after || is_last_of_construct(workload, index))) return false;
  return std::none_of(state.body->blocks.begin(), state.body->blocks.end(), [this](const ItemBlock& block) {
    const ItemPattern& pattern = pattern_of(block);
    return !pattern.heap_events.empty() || !pattern.sync_events.empty();
  });
}

Decision Executions::decide(std::size_t t, std::size_t index) {
  const ExecutionId id{index};
  ExecutionState& state = states_[index];
  const Execution& ex = execution(index);
  const auto run = [id](std::int64_t item) { return Decision{Decision::Kind::run, {id, item, item + 1}, Time{}}; };
  if (ex.binding == Binding::rank && static_cast<std::int64_t>(t) >= ex.iterations) return {};
  if (ex.binding != Binding::free) {
    if (!state.served.insert(t).second) return {};
    return run(ex.binding == Binding::rank ? static_cast<std::int64_t>(t) : 0);
  }
  if (state.distribution) return state.distribution->next(ThreadId{t}, threads_.now);
  return state.handed_out < ex.iterations ? run(state.handed_out) : Decision{};
}

void Executions::accept(std::size_t t, std::size_t index, const Decision& decision) {
  const SimulationInput& in = threads_.in;
  const ItemRange& items = decision.items;
  const Execution& ex = execution(index);
  ExecutionState& state = states_[index];
  if (items.first < 0 || items.last > ex.iterations || items.size() <= 0) {
    throw PolicyError("the distribution of region '" + region(index).label + "' handed out iterations " + std::to_string(items.first) +
                      " to " + std::to_string(items.last) + "; there are 0 to " + std::to_string(ex.iterations));
  }
  state.handed_out += items.size();
  if (ex.binding == Binding::free && state.handed_out > ex.iterations) {
    throw PolicyError("the distribution of region '" + region(index).label + "' handed out more iterations than the " +
                      std::to_string(ex.iterations) + " there are");
  }
  if (in.keep_log) log_.push_back({items, ThreadId{t}, decision.overhead});
  if (in.oracle != nullptr) state.ranges.push_back({items.first, items.last, ThreadId{t}, decision.overhead.seconds()});
  Thread& thread = threads_[t];
  thread.handed_out = items;
  thread.next = items.first;
  const std::vector<ItemBlock>& blocks = state.body->blocks;
  const auto behind = [](std::int64_t iteration, const ItemBlock& block) { return iteration < block.last; };
  thread.block = static_cast<std::size_t>(std::upper_bound(blocks.begin(), blocks.end(), items.first, behind) - blocks.begin());
  thread.overhead = decision.overhead;
}

void Executions::leave(std::size_t index) {
  ExecutionState& state = states_[index];
  const Execution& ex = execution(index);
  const std::size_t members = ex.parallel == 0 ? 1 : threads_.size();
  if (++state.left < members) return;
  if (ex.binding == Binding::free && state.handed_out != ex.iterations) {
    throw PolicyError("the distribution of region '" + region(index).label + "' handed out " + std::to_string(state.handed_out) + " of " +
                      std::to_string(ex.iterations) + " iterations");
  }
  state.distribution.reset();
  state.prefiltered.reset();
  state.homes.reset();
  if (ex.parallel != 0 && !ex.barrier_after) close(index, threads_.now);
}

void Executions::close(std::size_t index, Time end) {
  ExecutionState& state = states_[index];
  if (!state.body) return;
  if (threads_.in.oracle != nullptr) threads_.in.oracle->record_execution(ExecutionId{index}, std::exchange(state.ranges, {}));
  state.end = end;
  RegionSpans& of_region = regions_[execution(index).region.index()];
  if (!of_region.spans.empty() && state.begin >= of_region.spans.back().begin && state.begin <= of_region.spans.back().end) {
    of_region.spans.back().end = std::max(of_region.spans.back().end, end);
  } else {
    of_region.spans.push_back({state.begin, end});
  }
  ++of_region.executions;
  state.body.reset();
  end_ = std::max(end_, end);
}

// Executions of one region overlap where threads run a routine at once, or a loop's threads go on to the next without a barrier.
std::vector<Executions::RegionTotal> Executions::region_totals() const {
  std::vector<RegionTotal> totals;
  for (const RegionSpans& region : regions_) {
    std::vector<Span> spans = region.spans;
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    RegionTotal total{Time{}, region.executions};
    Time until;
    for (const Span& span : spans) {
      total.time += std::max(Time{}, span.end - std::max(span.begin, until));
      until = std::max(until, span.end);
    }
    totals.push_back(total);
  }
  return totals;
}

void Executions::wake_waiting(ExecutionState& state) {
  for (const std::size_t waiting : state.waiting) threads_.make_ready(waiting, threads_.now);
  state.waiting.clear();
}

}  // namespace homenode
