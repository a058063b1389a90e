#include "sim/loop/simulation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/loop/barrier.hpp"
#include "sim/loop/heap_calls.hpp"
#include "sim/loop/prefiltered_slices.hpp"
#include "sim/loop/slice_cutter.hpp"
#include "sim/loop/synchronisation.hpp"
#include "sim/loop/tasks.hpp"
#include "sim/machine/team_costs.hpp"
#include "sim/memory/item_homes.hpp"
#include "sim/scheduler/scheduler.hpp"

namespace homenode {
namespace {

constexpr std::size_t master = 0, nobody = ~std::size_t{0};

class Simulation {
public:
  explicit Simulation(const SimulationInput& input)
      : in_{input},
        threads_(input.threads),
        scheduler_{input.machine, input.scheduler, {input.mapping.spin(), input.mapping.disturbances()}, input.seed},
        heap_{input.heap, input.workload, input.addresses, input.memory, input.seed},
        tasks_{input.workload},
        cutter_{input.workload, input.quantum} {
    check_team();
    map_threads();
    // Slices of the creator's iteration come before and after those of the created thread.
    const auto begins_thread = [this](const Execution& ex) { return is_body(ex); };
    if (std::any_of(in_.workload.executions.begin(), in_.workload.executions.end(), begins_thread)) in_.memory.order_by_time();
    heap_.prepare(in_.machine, team_.core);
    states_.resize(in_.workload.executions.size());
    region_time_.resize(in_.workload.regions.size());
    region_busy_.assign(in_.workload.regions.size(), std::vector<Time>(in_.threads));
    region_executions_.resize(in_.workload.regions.size(), 0);
    core_use_.resize(in_.machine.cores());
  }

  RunReport run() {
    in_.addresses.watch().set_thread_mover({[this](ThreadId thread, NodeId to) { return scheduler_.move(thread, to, now_); },
                                            [this](ThreadId a, ThreadId b) { return scheduler_.exchange(a, b, now_); },
                                            [this](NodeId node) { return scheduler_.threads_on(node); }});
    make_ready(master, Time{});
    while (true) {
      const std::optional<Time> switches = scheduler_.next_event();
      const Time ready = ready_.empty() ? Time::max() : ready_.top().time;
      in_.memory.run_ahead(std::min(ready, switches.value_or(ready)));
      const std::optional<Time> memory_event = in_.memory.next_event();
      if (ready_.empty() && !memory_event && !(switches && scheduler_.anybody_queues())) break;
      if (switches && (!memory_event || *switches < *memory_event) && *switches < ready) {
        pass_time(*switches);
        scheduler_.advance(now_);
      } else if (memory_event && *memory_event <= ready) {
        done_.clear();
        in_.memory.advance(*memory_event, done_);
        now_ = *memory_event;
        for (const Completion& completion : done_) finish_slice(completion);
      } else {
        const Ready next = ready_.top();
        ready_.pop();
        if (next.ticket != threads_[next.thread].ticket) continue;
        pass_time(next.time);
        resume(next.thread);
      }
      run_granted();
    }
    if (threads_[master].execution != in_.workload.executions.size() || synchronisation_.anybody_waits())
      throw DeadlockError(describe_deadlock());
    in_.memory.flush(in_.addresses);
    in_.addresses.watch().set_thread_mover({});
    return report();
  }

private:
  // What a thread runs, and how far it is: it puts this aside while it runs tasks.
  struct Running {
    ItemRange handed_out;         // the current decision
    std::int64_t next = 0;        // its first iteration that is not done
    std::size_t block = 0;        // where that one is
    std::uint64_t sequence = 0;   // how far it is done, when it is cut
    std::size_t heap_events = 0;  // of it that took effect
    std::size_t sync_events = 0;  // of it that were passed
    Time overhead;                // of the next slice
    TaskId task;                  // explicit, or the thread's implicit one

    bool idle() const { return next == handed_out.last; }
  };
  struct Thread : Running {
    std::size_t execution = 0;       // where it is in the program
    bool in_construct = false;       // member of the running team's construct; the master always is between them
    bool body = false;               // created by the program, runs one execution of its own
    bool at_barrier = false;         // at the one behind `execution`; runs tasks meanwhile
    std::int64_t running_until = 0;  // end of the slice that runs; equal to `next` when that is a stretch of one iteration
    std::uint64_t reached = 0;       // where the stretch ends
    Time started, busy;
    std::vector<Running> put_aside;
    std::uint64_t ticket = 0;  // of the last time that it was made ready; earlier ones are void
    bool scheduled = false;    // it was made ready, and the time has not come
    bool pending = false;      // it has something to do, and needs its core for it
    bool in_slice = false;     // the memory model works for it
    bool blocked = false;      // waits asleep, for another thread or for ever
    std::size_t waker = 0;     // who made it ready
    std::optional<Time> spins_since;
    ThreadActivity waits_for = ThreadActivity::count;  // for the timeline, since waits_since; count: for nothing
    Time waits_since;
  };
  struct ExecutionState {
    std::shared_ptr<const ExecutionBody> body;
    std::unique_ptr<ItemHomes> homes;
    std::unique_ptr<WorkDistribution> distribution;
    std::vector<ScheduledRange> ranges;              // handed out, for the oracle
    std::unique_ptr<PrefilteredSlices> prefiltered;  // none if the order of its slices depends on time
    std::int64_t handed_out = 0;
    std::set<std::size_t> served;      // threads that had their rank's or replicated iteration
    std::vector<std::size_t> waiting;  // told to wait by the distribution
    std::size_t left = 0;              // threads that found it finished
    std::size_t at_barrier = 0;
    bool entered = false;
    Time begin, end;
  };
  struct Ready {
    Time time;
    std::size_t thread;
    std::uint64_t ticket;
    bool operator>(const Ready& other) const { return std::tie(time, thread) > std::tie(other.time, other.thread); }
  };

  const Execution& execution(std::size_t index) const { return in_.workload.executions[index]; }
  const Region& region_of(const Execution& execution) const { return in_.workload.regions[execution.region.index()]; }

  void check_team() const {
    const std::size_t cores = in_.machine.cores();
    if (in_.threads < 1) throw UsageError("threads = 0; allowed: at least 1");
    if (in_.threads > cores && !in_.oversubscribe) {
      throw UsageError(std::to_string(in_.threads) + " threads on machine '" + in_.machine.name + "' with " + std::to_string(cores) +
                       " cores; allowed: at most " + std::to_string(cores) + ", or --oversubscribe");
    }
    bool creates_threads = false;
    for (const Execution& execution : in_.workload.executions) {
      creates_threads |= is_body(execution);
      if (is_tasks(execution) && execution.parallel == 0)
        throw PolicyError("region '" + region_of(execution).label + "' consists of tasks that belong to no parallel construct");
      if (execution.binding != Binding::rank || execution.parallel == 0 || execution.team == in_.threads) continue;
      throw UsageError("region '" + region_of(execution).label + "' is bound to the ranks of a team of " + std::to_string(execution.team) +
                       " (its code asks for its thread number, or each thread creates tasks); allowed: --threads " +
                       std::to_string(execution.team) + ", found " + std::to_string(in_.threads));
    }
    const std::size_t created = in_.workload.threads.size();
    if (creates_threads && in_.threads != created) {
      throw UsageError("the program runs " + std::to_string(created) +
                       " threads, its first one and those that it creates itself; allowed: " + "--threads " + std::to_string(created) +
                       ", found " + std::to_string(in_.threads));
    }
  }

  // The routine of a thread that the program creates (pthread_create, std::thread): runs when an event of its creator says so.
  bool is_body(const Execution& execution) const { return execution.parallel == 0 && region_of(execution).kind == RegionKind::thread; }

  // Their iterations are tasks: they run when events of other items create them.
  bool is_tasks(const Execution& execution) const { return region_of(execution).kind == RegionKind::task; }

  void map_threads() {
    in_.mapping.prepare(in_.graph, in_.machine, in_.threads);
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      std::vector<CoreId> allowed = in_.mapping.affinity(ThreadId{t}, Time{});
      if (allowed.empty()) throw PolicyError("the mapping allows thread " + std::to_string(t) + " no core");
      for (const CoreId core : allowed) {
        if (core.index() >= in_.machine.cores())
          throw PolicyError("the mapping put thread " + std::to_string(t) + " on core " + std::to_string(core.value()) +
                            ", which is not there");
      }
      pinned_ &= allowed.size() == 1;
      scheduler_.add(std::move(allowed));
      team_.core.push_back(scheduler_.core_of(ThreadId{t}));
    }
    team_.machine = &in_.machine;
    const TeamCosts costs = team_costs(in_.machine, team_.core);
    fork_ = costs.fork;
    barrier_ = costs.barrier;
    reduction_ = costs.reduction;
  }

  CoreId core_of(std::size_t t) const { return scheduler_.core_of(ThreadId{t}); }
  Place place_of(std::size_t t) const { return {ThreadId{t}, core_of(t), in_.machine.node_of(core_of(t)), now_}; }
  void make_ready(std::size_t t, Time time) {
    threads_[t].scheduled = true;
    threads_[t].waker = on_core_;
    ready_.push({time, t, ++threads_[t].ticket});
  }

  void pass_time(Time to) {
    if (to <= now_) return;
    done_.clear();
    in_.memory.advance(to, done_);
    now_ = to;
  }

  // The thread has something to do, now or as soon as it has a core.
  void resume(std::size_t t) {
    Thread& thread = threads_[t];
    thread.scheduled = false;
    thread.pending = true;
    const ThreadId waker = thread.waker < threads_.size() && thread.waker != t ? ThreadId{thread.waker} : ThreadId::none();
    if (scheduler_.resume(ThreadId{t}, waker, now_)) return run_on_core(t);
    stop_waiting(t, now_);
    wait_for(t, ThreadActivity::core);
  }
  void run_on_core(std::size_t t) {
    Thread& thread = threads_[t];
    thread.pending = thread.blocked = false;
    stop_spinning(t, now_);
    stop_waiting(t, now_);
    on_core_ = t;
    go_on(t);
    on_core_ = nobody;
    if (thread.in_slice || thread.scheduled || heap_.calling(ThreadId{t})) {
      scheduler_.start_computing(ThreadId{t});
    } else {
      if (in_.timeline != nullptr) wait_for(t, cause_of_wait(thread));
      if (!thread.blocked && !scheduler_.throttled()) thread.spins_since = now_;
      // A lock of OpenMP spins for a while, one of threads that the program created itself does not.
      const bool in_team = thread.execution < in_.workload.executions.size() && execution(thread.execution).parallel != 0;
      using Wait = Scheduler::Wait;
      scheduler_.start_waiting(ThreadId{t}, !thread.blocked ? Wait::spins : in_team ? Wait::yields : Wait::sleeps, now_);
    }
  }
  void stop_spinning(std::size_t t, Time now) {
    if (!threads_[t].spins_since) return;
    constexpr Time longest = Time::picoseconds(200'000'000'000);  // KMP_BLOCKTIME, 200 ms; of a mapping that says nothing
    const Time spin = in_.mapping.spin() > Time{} ? in_.mapping.spin() : longest;
    core_use_[core_of(t).index()].spinning += std::min(now - *std::exchange(threads_[t].spins_since, std::nullopt), spin);
  }
  // What the thread waits for that has nothing to do, for the timeline.
  ThreadActivity cause_of_wait(const Thread& thread) const {
    if (thread.idle())
      return thread.at_barrier ? ThreadActivity::barrier : thread.in_construct ? ThreadActivity::items : ThreadActivity::count;
    const ItemPattern& pattern = running_pattern(thread);
    if (thread.sync_events == pattern.sync_events.size()) return ThreadActivity::count;
    switch (pattern.sync_events[thread.sync_events].operation) {
      case SyncOperation::wait:
      case SyncOperation::atomic_wait:
        return ThreadActivity::signal;
      case SyncOperation::barrier:
        return ThreadActivity::barrier;
      case SyncOperation::join:
        return ThreadActivity::join;
      case SyncOperation::ordered_enter:
        return ThreadActivity::turn;
      case SyncOperation::task_submit:
      case SyncOperation::task_wait:
      case SyncOperation::task_group_end:
        return ThreadActivity::tasks;
      default:
        return ThreadActivity::lock;
    }
  }
  void wait_for(std::size_t t, ThreadActivity what) {
    Thread& thread = threads_[t];
    if (in_.timeline == nullptr || thread.waits_for != ThreadActivity::count) return;
    thread.waits_for = what;
    thread.waits_since = now_;
  }
  void stop_waiting(std::size_t t, Time end) {
    Thread& thread = threads_[t];
    if (thread.waits_for == ThreadActivity::count) return;
    const bool between = thread.idle() && thread.execution < in_.workload.executions.size();
    record(std::exchange(thread.waits_for, ThreadActivity::count), t, between ? ExecutionId{thread.execution} : thread.handed_out.execution,
           thread.waits_since, end);
  }
  void record(ThreadActivity doing, std::size_t t, ExecutionId execution, Time from, Time to) {
    if (in_.timeline == nullptr) return;
    const Thread& thread = threads_[t];
    const bool stretch = thread.running_until == thread.next;
    const ItemRange items{execution, thread.next, stretch ? thread.next + 1 : thread.running_until};
    in_.timeline->record(doing, ThreadId{t}, in_.workload, doing == ThreadActivity::work ? items : ItemRange{execution, 0, 0}, from, to);
  }
  void run_granted() {
    for (std::vector<ThreadId> granted = scheduler_.take_granted(); !granted.empty(); granted = scheduler_.take_granted()) {
      for (const ThreadId thread : granted)
        if (threads_[thread.index()].pending && scheduler_.has_core(thread)) run_on_core(thread.index());
    }
  }

  // The thread has nothing to run: finds its next work, or the barrier it has to wait at.
  void go_on(std::size_t t) {
    Thread& thread = threads_[t];
    if (heap_.calling(ThreadId{t})) {
      resume_heap_call(t);
      return;
    }
    while (thread.idle()) {
      if (!thread.put_aside.empty()) {
        static_cast<Running&>(thread) = thread.put_aside.back();
        thread.put_aside.pop_back();
        continue;
      }
      if (thread.at_barrier) {
        if (release_barrier(t)) return;
        if (run_next_task(t)) break;
        wait_for_tasks(t);
        return;
      }
      if (thread.execution == in_.workload.executions.size()) return;
      const Execution& ex = execution(thread.execution);
      if ((is_body(ex) && !thread.body) || is_tasks(ex)) {
        ++thread.execution;
        continue;
      }
      if (ex.parallel == 0) {
        if (!run_serial(t)) {
          if (!thread.body) continue;
          thread.execution = in_.workload.executions.size();
          thread.blocked = true;
          released_.clear();
          synchronisation_.thread_ended(ThreadId{t}, released_);
          wake(t);
          return;
        }
        break;
      }
      if (!thread.in_construct) {  // only the master comes here on its own
        fork(thread.execution);
        return;
      }
      ExecutionState& state = enter(thread.execution);
      const Decision decision = decide(t, ex, state);
      if (decision.kind == Decision::Kind::wait) {
        state.waiting.push_back(t);
        return;
      }
      if (decision.kind == Decision::Kind::busy) {
        busy(t, ThreadActivity::runtime, ExecutionId{thread.execution}, now_, now_ + decision.overhead);
        for (const std::size_t waiting : state.waiting) make_ready(waiting, now_);
        state.waiting.clear();
        make_ready(t, now_ + decision.overhead);
        return;
      }
      if (decision.kind == Decision::Kind::run) {
        accept(t, decision, ex, state);
        break;
      }
      leave(t, ex, state);
      if (ex.barrier_after || last_of_construct(thread.execution)) {
        thread.at_barrier = true;
        ++state.at_barrier;
        continue;
      }
      ++thread.execution;
    }
    start_slice(t);
  }

  bool run_serial(std::size_t t) {
    Thread& thread = threads_[t];
    const Execution& ex = execution(thread.execution);
    ExecutionState& state = enter(thread.execution);
    if (ex.iterations == 0 || state.handed_out != 0) {
      leave(t, ex, state);
      close(thread.execution, state, now_);
      ++thread.execution;
      return false;
    }
    accept(t, {Decision::Kind::run, {ExecutionId{thread.execution}, 0, ex.iterations}, Time{}}, ex, state);
    return true;
  }

  void fork(std::size_t first) {
    team_overhead_ += fork_;
    wait_for(master, ThreadActivity::fork);
    begin_tasks(first);
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      threads_[t].execution = first;
      threads_[t].in_construct = true;
      threads_[t].task = TaskId{t};
      make_ready(t, now_ + fork_);
    }
  }

  bool last_of_construct(std::size_t index) const {
    std::size_t next = index + 1;
    while (same_construct(index, next) && is_tasks(execution(next))) ++next;
    return !same_construct(index, next);
  }
  bool same_construct(std::size_t index, std::size_t other) const {
    return other < in_.workload.executions.size() && execution(other).parallel == execution(index).parallel;
  }

  ExecutionState& enter(std::size_t index) {
    ExecutionState& state = states_[index];
    if (state.entered) return state;
    state.entered = true;
    state.begin = now_;
    state.body = in_.workload.body(ExecutionId{index});
    const Execution& ex = execution(index);
    if (ex.parallel != 0) find_team();
    if (ex.binding == Binding::free && ex.parallel != 0 && !first_come(ex) && !is_tasks(ex)) {
      state.distribution = in_.make_distribution(region_of(ex).label);
      state.homes = std::make_unique<WrittenHomes>(in_.workload, state.body, in_.addresses);
      state.distribution->prepare({ExecutionId{index}, &region_of(ex), ex.iterations, state.homes.get(), &loop_memory_, in_.seed + index},
                                  team_, in_.oracle);
    }
    if (threads_.size() > 1 && ex.parallel != 0) filter_ahead(index, state);
    return state;
  }

  // Lets the slices of the execution pass the caches in an order that does not depend on time, if they have one.
  void filter_ahead(std::size_t index, ExecutionState& state) {
    std::unique_ptr<WorkDistribution> hands_out = is_free_of_synchronisation(index, state) ? fixed_schedule(index, state) : nullptr;
    if (!hands_out) {
      in_.memory.order_by_time();
      return;
    }
    std::vector<Place> places;
    for (std::size_t t = 0; t < threads_.size(); ++t) places.push_back(place_of(t));
    state.prefiltered = std::make_unique<PrefilteredSlices>(std::move(hands_out), std::move(places), state.body, cutter_);
  }

  std::unique_ptr<WorkDistribution> fixed_schedule(std::size_t index, const ExecutionState& state) const {
    if (state.distribution) return state.distribution->fixed_schedule();
    return one_iteration_each(ExecutionId{index}, execution(index).binding);
  }

  // Every thread begins the execution behind a barrier, keeps its core, and meets nobody until the next barrier.
  bool is_free_of_synchronisation(std::size_t index, const ExecutionState& state) const {
    const Execution& ex = execution(index);
    if (!in_.memory.can_filter_ahead(in_.addresses) || !pinned_ || ex.parallel == 0 || first_come(ex) || is_tasks(ex) || tasks_.active())
      return false;
    if (region_of(ex).ordered) return false;
    const bool alone_before = index == 0 || !same_construct(index, index - 1) || execution(index - 1).barrier_after;
    if (!alone_before || !(ex.barrier_after || last_of_construct(index))) return false;
    return std::none_of(state.body->blocks.begin(), state.body->blocks.end(), [this](const ItemBlock& block) {
      const ItemPattern& pattern = pattern_of(block);
      return !pattern.heap_events.empty() || !pattern.sync_events.empty();
    });
  }

  void find_team() {
    for (std::size_t t = 0; t < threads_.size(); ++t) team_.core[t] = core_of(t);
  }

  // Singles and sections go to whoever comes first, one by one.
  bool first_come(const Execution& ex) const {
    const RegionKind kind = region_of(ex).kind;
    return kind == RegionKind::single || kind == RegionKind::section;
  }

  Decision decide(std::size_t t, const Execution& ex, ExecutionState& state) {
    const ExecutionId id{static_cast<std::size_t>(&ex - in_.workload.executions.data())};
    const auto rank = static_cast<std::int64_t>(t);
    switch (ex.binding) {
      case Binding::rank:
        return state.served.insert(t).second ? Decision{Decision::Kind::run, {id, rank, rank + 1}, Time{}} : Decision{};
      case Binding::replicated:
        return state.served.insert(t).second ? Decision{Decision::Kind::run, {id, 0, 1}, Time{}} : Decision{};
      case Binding::free:
        break;
    }
    if (!state.distribution) {
      return state.handed_out < ex.iterations ? Decision{Decision::Kind::run, {id, state.handed_out, state.handed_out + 1}, Time{}}
                                              : Decision{};
    }
    return state.distribution->next(ThreadId{t}, now_);
  }

  void accept(std::size_t t, const Decision& decision, const Execution& ex, ExecutionState& state) {
    const ItemRange& items = decision.items;
    if (items.first < 0 || items.last > ex.iterations || items.size() <= 0) {
      throw PolicyError("the distribution of region '" + region_of(ex).label + "' handed out iterations " + std::to_string(items.first) +
                        " to " + std::to_string(items.last) + "; there are 0 to " + std::to_string(ex.iterations));
    }
    state.handed_out += items.size();
    if (ex.binding == Binding::free && state.handed_out > ex.iterations) {
      throw PolicyError("the distribution of region '" + region_of(ex).label + "' handed out more iterations than the " +
                        std::to_string(ex.iterations) + " there are");
    }
    if (in_.keep_log) log_.push_back({items, ThreadId{t}, decision.overhead});
    if (in_.oracle != nullptr) state.ranges.push_back({items.first, items.last, ThreadId{t}, decision.overhead.seconds()});
    Thread& thread = threads_[t];
    thread.handed_out = items;
    thread.next = items.first;
    const std::vector<ItemBlock>& blocks = state.body->blocks;
    const auto behind = [](std::int64_t iteration, const ItemBlock& block) { return iteration < block.last; };
    thread.block = static_cast<std::size_t>(std::upper_bound(blocks.begin(), blocks.end(), items.first, behind) - blocks.begin());
    thread.overhead = decision.overhead;
  }

  const ItemPattern& pattern_of(const ItemBlock& block) const { return in_.workload.patterns[block.pattern.index()]; }

  void start_slice(std::size_t t) {
    Thread& thread = threads_[t];
    const ExecutionId execution = thread.handed_out.execution;
    const std::vector<ItemBlock>& blocks = states_[execution.index()].body->blocks;
    while (thread.block < blocks.size() && blocks[thread.block].last <= thread.next) ++thread.block;
    thread.running_until = thread.sequence == 0 ? cutter_.end(blocks, thread.block, thread.next, thread.handed_out.last) : thread.next;
    Work work{place_of(t), {execution, thread.next, thread.running_until}, thread.overhead};
    if (thread.running_until == thread.next) {
      if (!pass_events(t)) {  // waits; the core is free for others, unless the thread is in a heap call
        if (heap_.calling(ThreadId{t})) thread.started = now_;
        return;
      }
      if (thread.sequence == Stretch::to_the_end) {
        end_iteration(t);
        make_ready(t, now_);
        return;
      }
      work.items.last = thread.next + 1;
      work.stretch = {thread.sequence, next_event(thread), in_.quantum};
    }
    work.overhead += scheduler_.take_delay(ThreadId{t});
    thread.started = now_;
    thread.in_slice = true;
    scheduler_.start_computing(ThreadId{t});
    if (PrefilteredSlices* const prefiltered = states_[execution.index()].prefiltered.get())
      prefiltered->before_start(ThreadId{t}, in_.memory, in_.addresses);
    thread.reached = in_.memory.start(work, in_.addresses).reached;
    thread.overhead = Time{};
  }

  void busy(std::size_t t, ThreadActivity doing, ExecutionId in_execution, Time from, Time to) {
    const Time time = to - from;
    threads_[t].busy += time;
    core_use_[core_of(t).index()].busy += time;
    region_busy_[execution(in_execution.index()).region.index()][t] += time;
    record(doing, t, in_execution, from, to);
  }

  void finish_slice(const Completion& completion) {
    const std::size_t t = completion.thread.index();
    Thread& thread = threads_[t];
    busy(t, ThreadActivity::work, thread.handed_out.execution, thread.started, now_);
    thread.in_slice = false;
    if (thread.running_until > thread.next) {
      if (region_of(execution(thread.handed_out.execution.index())).ordered)
        for (std::int64_t i = thread.next; i < thread.running_until; ++i) turn_done(t, i);
      thread.next = thread.running_until;
      if (thread.idle()) complete(t);
    } else {
      thread.sequence = thread.reached;
      const ItemPattern& pattern = running_pattern(thread);
      if (thread.reached == Stretch::to_the_end && thread.heap_events == pattern.heap_events.size() &&
          thread.sync_events == pattern.sync_events.size())
        end_iteration(t);
    }
    scheduler_.slice_ended(completion.thread, now_);
    make_ready(t, now_);
  }

  void end_iteration(std::size_t t) {
    Thread& thread = threads_[t];
    if (region_of(execution(thread.handed_out.execution.index())).ordered) turn_done(t, thread.next);
    ++thread.next;
    thread.sequence = 0;
    thread.heap_events = thread.sync_events = 0;
    if (thread.idle()) complete(t);
  }

  void complete(std::size_t t) {
    ExecutionState& state = states_[threads_[t].handed_out.execution.index()];
    if (is_tasks(execution(threads_[t].handed_out.execution.index()))) {
      tasks_.complete(threads_[t].task, ThreadId{t}, now_);
      state.end = now_;
      wake_task_waiters();
    }
    if (state.distribution) state.distribution->complete(threads_[t].handed_out, ThreadId{t}, now_);
    for (const std::size_t waiting : state.waiting) make_ready(waiting, now_);
    state.waiting.clear();
  }

  const ItemBlock& running_block(const Thread& thread) const {
    return states_[thread.handed_out.execution.index()].body->blocks[thread.block];
  }
  const ItemPattern& running_pattern(const Thread& thread) const { return pattern_of(running_block(thread)); }

  // The number of the access before which the next heap call or synchronisation of the iteration comes.
  std::uint64_t next_event(const Thread& thread) const {
    const ItemPattern& pattern = running_pattern(thread);
    std::uint64_t next = Stretch::to_the_end;
    if (thread.heap_events < pattern.heap_events.size()) next = pattern.heap_events[thread.heap_events].sequence;
    if (thread.sync_events < pattern.sync_events.size()) next = std::min(next, pattern.sync_events[thread.sync_events].sequence);
    return next;
  }

  // Heap calls and synchronisation before the next access of the thread, in order (of two at the same place the heap call
  // first, as in a lock taken for memory that was just allocated). False: it waits, or a heap call of it takes time.
  bool pass_events(std::size_t t) {
    Thread& thread = threads_[t];
    const ItemBlock& block = running_block(thread);
    const ItemPattern& pattern = pattern_of(block);
    while (next_event(thread) <= thread.sequence) {
      const bool heap = thread.heap_events < pattern.heap_events.size();
      const bool sync = thread.sync_events < pattern.sync_events.size();
      if (!heap && !sync) break;  // all accesses done, and nothing behind them
      if (heap && (!sync || pattern.heap_events[thread.heap_events].sequence <= pattern.sync_events[thread.sync_events].sequence)) {
        const HeapEvent& event = pattern.heap_events[thread.heap_events++];
        heap_wakes_.clear();
        const bool done = heap_.begin(place_of(t), event.operation, block.slots[event.slot].object, heap_wakes_);
        for (const HeapCalls::Wake& wake : heap_wakes_) make_ready(wake.thread.index(), wake.time);
        if (!done) return false;
      } else if (is_task_event(pattern.sync_events[thread.sync_events])) {
        if (!task_event(t, pattern.sync_events[thread.sync_events])) return false;
      } else if (sync_event(t, pattern.sync_events[thread.sync_events])) {
        ++thread.sync_events;
      } else {
        return false;
      }
    }
    return true;
  }

  void resume_heap_call(std::size_t t) {
    Thread& thread = threads_[t];
    heap_wakes_.clear();
    const bool done = heap_.resume(place_of(t), heap_wakes_);
    for (const HeapCalls::Wake& wake : heap_wakes_) make_ready(wake.thread.index(), wake.time);
    if (!done) return;
    busy(t, ThreadActivity::heap_call, thread.handed_out.execution, thread.started, now_);
    start_slice(t);
  }

  bool sync_event(std::size_t t, SyncEvent event) {
    if (event.operation == SyncOperation::create) create(event);
    if (event.operation == SyncOperation::ordered_enter || event.operation == SyncOperation::ordered_leave) {
      event.object = threads_[t].handed_out.execution.value();
      event.match = static_cast<std::uint64_t>(threads_[t].next);
    }
    released_.clear();
    const bool goes_on = synchronisation_.pass(ThreadId{t}, event, released_);
    threads_[t].blocked = !goes_on && event.operation != SyncOperation::ordered_enter;
    wake(t);
    return goes_on;
  }

  // Those that the thread released have passed the event that they waited at, and hear of it over the caches.
  void wake(std::size_t by) {
    for (const ThreadId other : released_) {
      ++threads_[other.index()].sync_events;
      const CoreId here = core_of(by), there = core_of(other.index());
      const bool near = in_.machine.socket_of(there) == in_.machine.socket_of(here);
      const Time way = here == there ? Time{} : near ? in_.machine.core_to_core_local : in_.machine.core_to_core_remote;
      make_ready(other.index(), in_.memory.signal(place_of(by), place_of(other.index())).value_or(now_ + way));
    }
  }

  void turn_done(std::size_t t, std::int64_t iteration) {
    released_.clear();
    synchronisation_.turn_done(threads_[t].handed_out.execution.value(), static_cast<std::uint64_t>(iteration), released_);
    wake(t);
  }

  void create(const SyncEvent& event) {
    const auto created = static_cast<std::size_t>(event.object), body = static_cast<std::size_t>(event.match);
    if (created == master || created >= threads_.size() || body >= in_.workload.executions.size() || !is_body(execution(body)) ||
        threads_[created].body)
      throw PolicyError("an event creates thread " + std::to_string(created) + " with execution " + std::to_string(body) +
                        ", which is no routine of a new thread");
    threads_[created].body = true;
    threads_[created].execution = body;
    if (on_core_ != nobody) {
      scheduler_.add_created(ThreadId{created}, core_of(on_core_), now_);
      scheduler_.delay(ThreadId{on_core_}, in_.mapping.pinning_cost());
    }
    make_ready(created, now_ + in_.machine.fork_base);
  }

  // Thread t found the execution finished.
  void leave(std::size_t, const Execution& ex, ExecutionState& state) {
    const std::size_t members = ex.parallel == 0 ? 1 : threads_.size();
    if (++state.left < members) return;
    const bool incomplete = ex.binding == Binding::free && state.handed_out != ex.iterations;
    if (incomplete) {
      throw PolicyError("the distribution of region '" + region_of(ex).label + "' handed out " + std::to_string(state.handed_out) + " of " +
                        std::to_string(ex.iterations) + " iterations");
    }
    state.distribution.reset();
    state.prefiltered.reset();
    state.homes.reset();
    if (ex.parallel != 0 && !ex.barrier_after) close(static_cast<std::size_t>(&ex - in_.workload.executions.data()), state, now_);
  }

  // A barrier's time, from the last one's arrival.
  Time barrier_time(std::size_t last) {
    places_.clear();
    for (std::size_t member = 0; member < threads_.size(); ++member) places_.push_back(place_of(member));
    const std::optional<Time> signals = threads_.size() < 2 ? std::nullopt : barrier_latency(in_.memory, places_, last);
    if (!signals) return barrier_;
    return in_.machine.barrier_base + Time::from_seconds(signals->seconds() * in_.machine.barrier_log_factor / 2);
  }

  // Once all of the team are there and no task is left.
  bool release_barrier(std::size_t t) {
    const std::size_t index = threads_[t].execution;
    const Execution& ex = execution(index);
    ExecutionState& state = states_[index];
    if (state.at_barrier < threads_.size() || tasks_.unfinished() > 0) return false;
    const Time release = now_ + barrier_time(t) + (region_of(ex).reduction ? reduction_ : Time{});
    team_overhead_ += release - now_;
    close(index, state, release);
    const bool join = last_of_construct(index);
    if (join) end_tasks();
    task_waiters_.clear();
    wait_for(t, ThreadActivity::barrier);
    for (std::size_t member = 0; member < threads_.size(); ++member) {
      stop_waiting(member, release);
      threads_[member].execution = index + 1;
      threads_[member].in_construct = !join;
      threads_[member].at_barrier = false;
      if (!join || member == master)
        make_ready(member, release);
      else
        ++threads_[member].ticket;  // it may have been woken for a task that somebody else took
    }
    return true;
  }

  // What the construct's items create as tasks.
  void begin_tasks(std::size_t first) {
    while (first > 0 && same_construct(first, first - 1)) --first;
    find_team();
    std::vector<ExecutionId> executions;
    std::vector<std::unique_ptr<WorkDistribution>> distributions;
    for (std::size_t index = first; same_construct(first, index); ++index) {
      const Execution& ex = execution(index);
      if (!is_tasks(ex)) continue;
      distributions.push_back(in_.make_distribution(region_of(ex).label));
      if (!distributions.back()->can_run_tasks())
        throw PolicyError("the distribution of region '" + region_of(ex).label + "' does not run tasks");
      states_[index].homes = std::make_unique<WrittenHomes>(in_.workload, in_.workload.body(ExecutionId{index}), in_.addresses);
      distributions.back()->prepare(
          {ExecutionId{index}, &region_of(ex), ex.iterations, states_[index].homes.get(), &loop_memory_, in_.seed + index}, team_,
          in_.oracle);
      executions.emplace_back(index);
    }
    tasks_.begin(std::move(executions), std::move(distributions), threads_.size());
  }

  void end_tasks() {
    for (const ExecutionId id : tasks_.executions()) {
      ExecutionState& state = states_[id.index()];
      if (state.entered) close(id.index(), state, state.end);
      state.homes.reset();
    }
    tasks_.end();
  }

  static bool is_task_event(const SyncEvent& event) {
    switch (event.operation) {
      case SyncOperation::depend:
      case SyncOperation::task_submit:
      case SyncOperation::task_wait:
      case SyncOperation::task_group_begin:
      case SyncOperation::task_group_end:
        return true;
      default:
        return false;
    }
  }

  // The thread passes the event if it goes on at once (true) or after a while of its own; otherwise it waits at it, or runs a task
  // meanwhile.
  bool task_event(std::size_t t, const SyncEvent& event) {
    Thread& thread = threads_[t];
    if (!thread.in_construct || !tasks_.active())
      throw PolicyError("region '" + region_of(execution(thread.handed_out.execution.index())).label +
                        "' has an event of tasks outside of a parallel construct with tasks");
    switch (event.operation) {
      case SyncOperation::depend:
        tasks_.depend(thread.task, event.object, event.match != 1);
        break;
      case SyncOperation::task_group_begin:
        tasks_.group_begin(thread.task);
        break;
      case SyncOperation::task_submit: {
        ++thread.sync_events;
        const TaskPool::Submitted submitted = tasks_.submit(thread.task, event, thread.next, ThreadId{t}, now_);
        wake_task_waiters();
        if (submitted.run_now) {
          run_task(t, {*submitted.run_now, submitted.item, submitted.overhead});
          make_ready(t, now_);
          return false;
        }
        if (submitted.overhead == Time{}) return true;
        busy(t, ThreadActivity::runtime, threads_[t].handed_out.execution, now_, now_ + submitted.overhead);
        make_ready(t, now_ + submitted.overhead);
        return false;
      }
      default: {
        const TaskPool::WaitFor what = awaited_by(thread);
        if (tasks_.wait_is_over(thread.task, what)) break;
        if (const auto taken = tasks_.take_while_waiting(thread.task, what, ThreadId{t})) {
          run_task(t, *taken);
          make_ready(t, now_);
        } else {
          wait_for_tasks(t);
        }
        return false;
      }
    }
    ++thread.sync_events;
    return true;
  }

  TaskPool::WaitFor awaited_by(const Thread& thread) const {
    const SyncEvent& event = running_pattern(thread).sync_events[thread.sync_events];
    if (event.operation == SyncOperation::task_group_end) return TaskPool::WaitFor::group;
    return event.match == 1 ? TaskPool::WaitFor::dependences : TaskPool::WaitFor::children;
  }

  bool run_next_task(std::size_t t) {
    if (!tasks_.active()) return false;
    const auto taken = tasks_.next(ThreadId{t}, now_);
    if (taken) run_task(t, *taken);
    return taken.has_value();
  }

  void run_task(std::size_t t, const TaskPool::Taken& taken) {
    Thread& thread = threads_[t];
    thread.put_aside.push_back(static_cast<const Running&>(thread));
    static_cast<Running&>(thread) = {};
    const std::size_t index = taken.item.execution.index();
    accept(t, {Decision::Kind::run, taken.item, taken.overhead}, execution(index), enter(index));
    thread.task = taken.task;
  }

  void wait_for_tasks(std::size_t t) {
    if (tasks_.active()) task_waiters_.insert(t);
  }
  // Whatever changed, each looks for itself.
  void wake_task_waiters() {
    for (const std::size_t t : task_waiters_) make_ready(t, now_);
    task_waiters_.clear();
  }

  void close(std::size_t index, ExecutionState& state, Time end) {
    if (!state.body) return;
    if (in_.oracle != nullptr) in_.oracle->record_execution(ExecutionId{index}, std::exchange(state.ranges, {}));
    state.end = end;
    const std::size_t region = execution(index).region.index();
    region_time_[region] += state.end - state.begin;
    ++region_executions_[region];
    state.body.reset();
    end_ = std::max(end_, end);
  }

  std::string describe_deadlock() const {
    std::string text = "deadlock in simulated time at " + to_string(now_) + ":";
    const bool tasks = tasks_.active() && tasks_.unfinished() > 0;
    if (synchronisation_.anybody_waits()) text += " " + synchronisation_.describe_waits() + (tasks ? ";" : "");
    if (synchronisation_.anybody_waits() && !tasks) return text;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      const Thread& thread = threads_[t];
      if (tasks && task_waiters_.contains(t) && !thread.idle()) {
        text += " thread " + std::to_string(t) + " waits in " + tasks_.describe(thread.task) + " for " +
                tasks_.describe_wait(thread.task, awaited_by(thread)) + ";";
        continue;
      }
      if (synchronisation_.anybody_waits() && !thread.at_barrier) continue;
      if (threads_[t].execution >= in_.workload.executions.size()) continue;
      text += " thread " + std::to_string(t) + " waits in region '" + region_of(execution(threads_[t].execution)).label + "';";
    }
    return text;
  }

  void set_lower_bound(RunReport& report) const {
    const std::optional<LeastTime> least = in_.memory.least_time();
    if (!least) return;
    const Time spread = Time::picoseconds(least->work.count() / static_cast<std::int64_t>(threads_.size()));
    report.team_overhead = team_overhead_;
    report.lower_bound = team_overhead_ + std::max(least->phases, spread);
    for (std::size_t t = 0; t < std::min(report.threads.size(), least->by_thread.size()); ++t)
      report.threads[t].least = least->by_thread[t];
    std::size_t row = 0;
    for (std::size_t region = 0; region < region_time_.size(); ++region) {
      if (region_executions_[region] == 0) continue;
      if (region < least->by_region.size()) report.regions[row].least = least->by_region[region];
      ++row;
    }
  }

  // A core on which somebody works while another thread of it waits does not spin.
  std::vector<CoreUse> core_use(Time end) {
    for (std::size_t t = 0; t < threads_.size(); ++t) stop_spinning(t, end);
    for (std::size_t core = 0; core < core_use_.size(); ++core) {
      CoreUse& use = core_use_[core];
      use.spinning = std::max(Time{}, std::min(use.spinning, end - use.busy));
      use.switches = scheduler_.switches(CoreId{core});
      use.wakeups = scheduler_.wakeups(CoreId{core});
    }
    return std::move(core_use_);
  }

  RunReport report() {
    RunReport report;
    report.time = std::max(end_, now_);
    report.cores = core_use(report.time);
    report.counts = in_.memory.counts();
    const auto binding = in_.memory.bottlenecks();
    for (std::size_t region = 0; region < region_time_.size(); ++region) {
      if (region_executions_[region] == 0) continue;
      report.regions.push_back({in_.workload.regions[region].label, region_time_[region], region_executions_[region], Time{},
                                region < binding.size() ? binding[region] : std::vector<BottleneckTime>{}, region_busy_[region]});
    }
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      const Thread& thread = threads_[t];
      ThreadReport row{ThreadId{t}, core_of(t), in_.machine.node_of(core_of(t)), thread.busy, report.time - thread.busy};
      if (t < report.counts.local_bytes.size()) row.local_bytes = report.counts.local_bytes[t];
      if (t < report.counts.remote_bytes.size()) row.remote_bytes = report.counts.remote_bytes[t];
      report.threads.push_back(row);
    }
    set_lower_bound(report);
    report.pages_by_node = in_.addresses.pages_by_node();
    report.page_faults = in_.addresses.page_faults();
    report.migrated_pages = in_.addresses.migrated_pages();
    report.hinting_faults = in_.addresses.watch().hinting_faults();
    report.remote_pages = in_.addresses.remote_pages();
    report.thread_moves = scheduler_.moves();
    report.log = std::move(log_);
    report.heap = heap_.report();
    return report;
  }

  const SimulationInput& in_;
  std::vector<Thread> threads_;
  Scheduler scheduler_;
  std::size_t on_core_ = nobody;  // whose code runs
  Team team_;
  bool pinned_ = true;
  Time fork_, barrier_, reduction_, now_, end_;
  std::vector<Place> places_;  // scratch
  Time team_overhead_;         // forks, barriers and reductions, in which nobody works
  std::vector<ExecutionState> states_;
  std::vector<Time> region_time_;
  std::vector<std::vector<Time>> region_busy_;  // by region, by thread
  std::vector<std::uint64_t> region_executions_;
  std::vector<CoreUse> core_use_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::vector<Completion> done_;
  Synchronisation synchronisation_;
  HeapCalls heap_;
  TaskPool tasks_;
  SliceCutter cutter_;
  std::set<std::size_t> task_waiters_;
  std::vector<HeapCalls::Wake> heap_wakes_;  // scratch
  std::vector<ThreadId> released_;           // scratch
  std::vector<HandOut> log_;
  LoopMemory loop_memory_;
};

}  // namespace

RunReport simulate(const SimulationInput& input) { return Simulation{input}.run(); }

Bytes default_quantum(const Machine& machine) {
  constexpr std::int64_t slices = 16;
  return machine.caches.empty() ? Bytes{1 << 20} : Bytes{std::max<std::int64_t>(machine.caches.back().size.count() / slices, 4096)};
}

}  // namespace homenode
