#include "sim/simulation.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <queue>
#include <set>

#include "sim/errors.hpp"
#include "sim/footprint.hpp"

namespace homenode {
namespace {

constexpr std::size_t master = 0;

unsigned log2_ceiling(std::size_t threads) { return threads <= 1 ? 0 : static_cast<unsigned>(std::bit_width(threads - 1)); }

class Simulation {
public:
  explicit Simulation(const SimulationInput& input) : in_{input}, threads_(input.threads), cores_(input.machine.cores()) {
    check_team();
    map_threads();
    states_.resize(in_.workload.executions.size());
    region_time_.resize(in_.workload.regions.size());
    region_executions_.resize(in_.workload.regions.size(), 0);
    footprint_.assign(in_.workload.patterns.size(), 0);
  }

  RunReport run() {
    make_ready(master, Time{});
    while (true) {
      const std::optional<Time> memory_event = in_.memory.next_event();
      if (ready_.empty() && !memory_event) break;
      if (memory_event && (ready_.empty() || *memory_event <= ready_.top().time)) {
        done_.clear();
        in_.memory.advance(*memory_event, done_);
        now_ = *memory_event;
        for (const Completion& completion : done_) finish_slice(completion);
      } else {
        const Ready next = ready_.top();
        ready_.pop();
        if (next.time > now_) {
          done_.clear();
          in_.memory.advance(next.time, done_);
          now_ = next.time;
        }
        go_on(next.thread);
      }
    }
    if (threads_[master].execution != in_.workload.executions.size()) throw DeadlockError(describe_deadlock());
    in_.memory.flush(in_.addresses);
    return report();
  }

private:
  struct Thread {
    CoreId core;
    std::size_t execution = 0;      // where it is in the program
    bool in_construct = false;      // member of the running team's construct; the master always is between them
    std::vector<ItemRange> slices;  // of the current decision, last one next
    Time overhead;                  // of the next slice
    ItemRange running;
    Time started, busy;
  };
  struct Core {
    std::optional<std::size_t> running;
    std::deque<std::size_t> waiting;  // threads that share the core take turns, slice by slice
  };
  struct ExecutionState {
    std::unique_ptr<WorkDistribution> distribution;
    std::shared_ptr<const ExecutionBody> body;
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
    for (const Execution& execution : in_.workload.executions) {
      if (execution.binding != Binding::rank || execution.parallel == 0 || execution.team == in_.threads) continue;
      throw UsageError("region '" + region_of(execution).label + "' is bound to the ranks of a team of " + std::to_string(execution.team) +
                       " (its code asks for its thread number); allowed: --threads " + std::to_string(execution.team) + ", found " +
                       std::to_string(in_.threads));
    }
  }

  void map_threads() {
    in_.mapping.prepare(nullptr, in_.machine, in_.threads);
    std::vector<unsigned> load(in_.machine.cores(), 0);
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      const std::vector<CoreId> allowed = in_.mapping.affinity(ThreadId{t}, Time{});
      if (allowed.empty()) throw PolicyError("the mapping allows thread " + std::to_string(t) + " no core");
      CoreId best = allowed.front();
      for (const CoreId core : allowed) {
        if (core.index() >= load.size())
          throw PolicyError("the mapping put thread " + std::to_string(t) + " on core " + std::to_string(core.value()) +
                            ", which is not there");
        if (load[core.index()] < load[best.index()]) best = core;
      }
      ++load[best.index()];
      threads_[t].core = best;
      team_.core.push_back(best);
    }
    team_.machine = &in_.machine;
    bool one_socket = true;
    for (const CoreId core : team_.core) one_socket &= in_.machine.socket_of(core) == in_.machine.socket_of(team_.core.front());
    const Time signal = one_socket ? in_.machine.core_to_core_local : in_.machine.core_to_core_remote;
    const double steps = log2_ceiling(in_.threads) * signal.seconds();
    if (in_.threads > 1) {
      fork_ = in_.machine.fork_base + Time::from_seconds(in_.machine.fork_log_factor * steps);
      barrier_ = in_.machine.barrier_base + Time::from_seconds(in_.machine.barrier_log_factor * steps);
      reduction_ = Time::from_seconds(in_.machine.reduction_log_factor * steps);
    }
  }

  Place place_of(std::size_t t) const { return {ThreadId{t}, threads_[t].core, in_.machine.node_of(threads_[t].core), now_}; }
  void make_ready(std::size_t t, Time time) { ready_.push({time, t}); }

  // The thread has nothing to run: finds its next work, or the barrier it has to wait at.
  void go_on(std::size_t t) {
    Thread& thread = threads_[t];
    while (thread.slices.empty()) {
      if (thread.execution == in_.workload.executions.size()) return;
      const Execution& ex = execution(thread.execution);
      if (ex.parallel == 0) {
        if (!run_serial(t)) continue;
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
      if (decision.kind == Decision::Kind::run) {
        accept(t, decision, ex, state);
        break;
      }
      leave(t, ex, state);
      if (ex.barrier_after || last_of_construct(thread.execution)) {
        arrive(t, ex, state);
        return;
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
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      threads_[t].execution = first;
      threads_[t].in_construct = true;
      make_ready(t, now_ + fork_);
    }
  }

  bool last_of_construct(std::size_t index) const {
    return index + 1 == in_.workload.executions.size() || execution(index + 1).parallel != execution(index).parallel;
  }

  ExecutionState& enter(std::size_t index) {
    ExecutionState& state = states_[index];
    if (state.entered) return state;
    state.entered = true;
    state.begin = now_;
    state.body = in_.workload.body(ExecutionId{index});
    const Execution& ex = execution(index);
    if (ex.binding == Binding::free && ex.parallel != 0 && !first_come(ex)) {
      state.distribution = in_.make_distribution(region_of(ex).label);
      state.distribution->prepare({ExecutionId{index}, &region_of(ex), ex.iterations}, team_, nullptr);
    }
    return state;
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
    cut(items, *state.body, threads_[t].slices);
    threads_[t].overhead = decision.overhead;
  }

  // Slices of at most a quantum, last one first.
  void cut(const ItemRange& items, const ExecutionBody& body, std::vector<ItemRange>& slices) {
    auto block = std::upper_bound(body.blocks.begin(), body.blocks.end(), items.first,
                                  [](std::int64_t iteration, const ItemBlock& b) { return iteration < b.last; });
    const auto quantum = static_cast<std::uint64_t>(in_.quantum.count());
    std::int64_t first = items.first, position = items.first;
    std::uint64_t bytes = 0;
    while (position < items.last && block != body.blocks.end()) {
      const std::uint64_t each = std::max<std::uint64_t>(footprint(block->pattern), 1);
      const std::int64_t end = std::min(items.last, block->last);
      while (position < end) {
        const std::uint64_t room = bytes < quantum ? (quantum - bytes) / each : 0;
        if (room == 0 && position > first) {
          slices.push_back({items.execution, first, position});
          first = position;
          bytes = 0;
          continue;
        }
        const std::int64_t take = std::min<std::int64_t>(end - position, static_cast<std::int64_t>(std::max<std::uint64_t>(room, 1)));
        position += take;
        bytes += each * static_cast<std::uint64_t>(take);
      }
      ++block;
    }
    slices.push_back({items.execution, first, items.last});
    std::reverse(slices.begin(), slices.end());
  }

  std::uint64_t footprint(PatternId pattern) {
    std::uint64_t& bytes = footprint_[pattern.index()];
    if (bytes == 0) bytes = footprint_bytes(in_.workload.patterns[pattern.index()]) + 1;
    return bytes;
  }

  void start_slice(std::size_t t) {
    Core& core = cores_[threads_[t].core.index()];
    if (core.running) {
      core.waiting.push_back(t);
      return;
    }
    Thread& thread = threads_[t];
    core.running = t;
    thread.running = thread.slices.back();
    thread.slices.pop_back();
    thread.started = now_;
    heap_events(t, true);
    in_.memory.start({place_of(t), thread.running, thread.overhead}, in_.addresses);
    thread.overhead = Time{};
  }

  void finish_slice(const Completion& completion) {
    const std::size_t t = completion.thread.index();
    Thread& thread = threads_[t];
    thread.busy += now_ - thread.started;
    heap_events(t, false);
    Core& core = cores_[thread.core.index()];
    core.running.reset();
    if (!core.waiting.empty()) {
      const std::size_t next = core.waiting.front();
      core.waiting.pop_front();
      start_slice(next);
    }
    if (thread.slices.empty()) {
      ExecutionState& state = states_[thread.running.execution.index()];
      if (state.distribution) state.distribution->complete(thread.running, completion.thread, now_);
      for (const std::size_t waiting : state.waiting) make_ready(waiting, now_);
      state.waiting.clear();
    }
    make_ready(t, now_);
  }

  // Allocations take effect before the slice that makes them, releases after it.
  void heap_events(std::size_t t, bool before) {
    const ItemRange& items = threads_[t].running;
    const std::vector<ItemBlock>& blocks = states_[items.execution.index()].body->blocks;
    auto block = std::upper_bound(blocks.begin(), blocks.end(), items.first,
                                  [](std::int64_t iteration, const ItemBlock& b) { return iteration < b.last; });
    for (; block != blocks.end() && block->first < items.last; ++block) {
      for (const HeapEvent& event : in_.workload.patterns[block->pattern.index()].heap_events) {
        const ObjectId object = block->slots[event.slot].object;
        const bool allocates = event.operation == HeapOperation::allocate || event.operation == HeapOperation::map ||
                               event.operation == HeapOperation::reallocate;
        if (allocates && before) in_.addresses.place_object(object, ThreadId{t});
        if (!allocates && !before && in_.addresses.placed(object)) {
          const AddressRange range = in_.addresses.release_object(object);
          in_.memory.drop(range.first, range.last, true);
        }
      }
    }
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
    if (ex.parallel != 0 && !ex.barrier_after) close(static_cast<std::size_t>(&ex - in_.workload.executions.data()), state, now_);
  }

  void arrive(std::size_t t, const Execution& ex, ExecutionState& state) {
    if (++state.at_barrier < threads_.size()) return;
    const std::size_t index = threads_[t].execution;
    const Time release = now_ + barrier_ + (region_of(ex).reduction ? reduction_ : Time{});
    close(index, state, release);
    const bool join = last_of_construct(index);
    for (std::size_t member = 0; member < threads_.size(); ++member) {
      threads_[member].execution = index + 1;
      threads_[member].in_construct = !join;
      if (!join || member == master) make_ready(member, release);
    }
  }

  void close(std::size_t index, ExecutionState& state, Time end) {
    if (!state.body) return;
    state.end = end;
    const std::size_t region = execution(index).region.index();
    region_time_[region] += state.end - state.begin;
    ++region_executions_[region];
    state.body.reset();
    end_ = std::max(end_, end);
  }

  std::string describe_deadlock() const {
    std::string text = "deadlock in simulated time at " + to_string(now_) + ":";
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      if (threads_[t].execution >= in_.workload.executions.size()) continue;
      text += " thread " + std::to_string(t) + " waits in region '" + region_of(execution(threads_[t].execution)).label + "';";
    }
    return text;
  }

  RunReport report() {
    RunReport report;
    report.time = std::max(end_, now_);
    report.counts = in_.memory.counts();
    const auto binding = in_.memory.binding();
    for (std::size_t region = 0; region < region_time_.size(); ++region) {
      if (region_executions_[region] == 0) continue;
      report.regions.push_back({in_.workload.regions[region].label, region_time_[region], region_executions_[region],
                                region < binding.size() ? binding[region] : std::vector<BindingTime>{}});
    }
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      const Thread& thread = threads_[t];
      ThreadReport row{ThreadId{t}, thread.core, in_.machine.node_of(thread.core), thread.busy, report.time - thread.busy};
      if (t < report.counts.local_bytes.size()) row.local_bytes = report.counts.local_bytes[t];
      if (t < report.counts.remote_bytes.size()) row.remote_bytes = report.counts.remote_bytes[t];
      report.threads.push_back(row);
    }
    report.pages_by_node = in_.addresses.pages_by_node();
    report.page_faults = in_.addresses.page_faults();
    report.migrated_pages = in_.addresses.migrated_pages();
    report.remote_pages = in_.addresses.remote_pages();
    report.log = std::move(log_);
    return report;
  }

  const SimulationInput& in_;
  std::vector<Thread> threads_;
  std::vector<Core> cores_;
  Team team_;
  Time fork_, barrier_, reduction_, now_, end_;
  std::vector<ExecutionState> states_;
  std::vector<Time> region_time_;
  std::vector<std::uint64_t> region_executions_;
  std::vector<std::uint64_t> footprint_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::vector<Completion> done_;
  std::vector<HandOut> log_;
};

}  // namespace

RunReport simulate(const SimulationInput& input) { return Simulation{input}.run(); }

Bytes default_quantum(const Machine& machine) {
  constexpr std::int64_t slices = 16;
  return machine.caches.empty() ? Bytes{1 << 20} : Bytes{std::max<std::int64_t>(machine.caches.back().size.count() / slices, 4096)};
}

}  // namespace homenode
