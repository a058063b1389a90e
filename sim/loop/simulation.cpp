#include "sim/loop/simulation.hpp"

#include <algorithm>
#include <optional>

#include "sim/base/errors.hpp"
#include "sim/loop/deadlock.hpp"
#include "sim/loop/next_work.hpp"
#include "sim/loop/run_report.hpp"
#include "sim/loop/slices.hpp"
#include "sim/loop/team_check.hpp"

namespace homenode {
namespace {

// The event loop proper: the next thing that happens, and who goes on then.
class Simulation {
public:
  Simulation(const SimulationInput& input, const CreatedThreads& created)
      : in_{input},
        threads_{input, created},
        accounts_{input.workload, {.threads = input.threads, .cores = input.machine.cores()}, input.mapping.spin(), input.timeline},
        cutter_{input.workload, input.quantum},
        pool_{input.workload, input.task_costs},
        executions_{threads_, pool_, cutter_},
        tasks_{threads_, pool_, executions_, accounts_},
        team_{threads_, executions_, tasks_, accounts_},
        sync_{threads_, accounts_},
        slices_{{.threads = threads_, .executions = executions_, .tasks = tasks_, .sync = sync_, .accounts = accounts_}, cutter_},
        next_work_{{.threads = threads_, .executions = executions_, .tasks = tasks_, .sync = sync_, .team = team_}, accounts_} {}

  RunReport run() {
    in_.addresses.watch().set_thread_mover(
        {[this](ThreadId thread, NodeId to) { return threads_.scheduler.move(thread, to, threads_.now); },
         [this](ThreadId a, ThreadId b) { return threads_.scheduler.exchange(a, b, threads_.now); },
         [this](NodeId node) { return threads_.scheduler.threads_on(node); }});
    threads_.make_ready(master, Time{});
    while (step()) {}
    if (threads_[master].execution != in_.workload.executions.size() || sync_.synchronisation().anybody_waits())
      throw DeadlockError(describe_deadlock(threads_, sync_.synchronisation(), tasks_));
    in_.memory.flush(in_.addresses);
    in_.addresses.watch().set_thread_mover({});
    return report();
  }

private:
  // What happens first: the scheduler switches threads, the memory model ends slices, or a thread goes on. False: nothing any more.
  bool step() {
    const std::optional<Time> switches = threads_.scheduler.next_event();
    const Time ready = threads_.ready.next_time();
    in_.memory.run_ahead(std::min(ready, switches.value_or(ready)));
    const std::optional<Time> memory_event = in_.memory.next_event();
    if (threads_.ready.empty() && !memory_event && !(switches && threads_.scheduler.anybody_queues())) return false;
    if (switches && (!memory_event || *switches < *memory_event) && *switches < ready) {
      pass_time(*switches);
      threads_.scheduler.advance(threads_.now);
    } else if (memory_event && *memory_event <= ready) {
      done_.clear();
      in_.memory.advance(*memory_event, done_);
      threads_.now = *memory_event;
      for (const Completion& completion : done_) slices_.finish(completion);
    } else {
      const std::optional<std::size_t> next = threads_.ready.pop();
      if (!next) return true;
      pass_time(ready);
      resume(*next);
    }
    run_granted();
    return true;
  }

  void pass_time(Time to) {
    if (to <= threads_.now) return;
    done_.clear();
    in_.memory.advance(to, done_);
    threads_.now = to;
  }

  // The thread has something to do, now or as soon as it has a core.
  void resume(std::size_t t) {
    const std::size_t by = threads_[t].waker;
    const ThreadId waker = by < threads_.size() && by != t ? ThreadId{by} : ThreadId::none();
    if (threads_.scheduler.resume(ThreadId{t}, waker, threads_.now)) return run_on_core(t);
    threads_[t].state.become(ThreadState::needs_core);
    stop_waiting(t);
    accounts_.start_waiting(ThreadId{t}, ThreadActivity::core, threads_.now);
  }

  void run_granted() {
    for (std::vector<ThreadId> granted = threads_.scheduler.take_granted(); !granted.empty(); granted = threads_.scheduler.take_granted()) {
      for (const ThreadId thread : granted)
        if (threads_[thread.index()].state.is(ThreadState::needs_core) && threads_.scheduler.has_core(thread)) run_on_core(thread.index());
    }
  }

  void run_on_core(std::size_t t) {
    Thread& thread = threads_[t];
    thread.state.become(ThreadState::deciding);
    accounts_.stop_spinning(ThreadId{t}, threads_.core_of(t), threads_.now);
    stop_waiting(t);
    threads_.on_core = t;
    if (slices_.is_calling_heap(t)) {
      slices_.resume_heap_call(t);
    } else if (next_work_.find(t)) {
      slices_.start(t);
    }
    threads_.on_core = nobody;
    if (thread.state.is(ThreadState::deciding))
      thread.state.become(slices_.is_calling_heap(t) ? ThreadState::in_heap_call : ThreadState::waiting);
    if (thread.state.is(ThreadState::computing) || thread.state.is(ThreadState::ready) || thread.state.is(ThreadState::in_heap_call)) {
      threads_.scheduler.start_computing(ThreadId{t});
    } else {
      start_waiting(t);
    }
  }

  // It is awake, or sleeps.
  void start_waiting(std::size_t t) {
    const Thread& thread = threads_[t];
    const bool is_awake = thread.state.is(ThreadState::waiting);
    if (in_.timeline != nullptr && in_.timeline->keeps_spans()) {
      const ItemPattern* const running = thread.idle() ? nullptr : &executions_.running_pattern(thread);
      accounts_.start_waiting(ThreadId{t}, cause_of_wait(thread, running), threads_.now);
    }
    if (is_awake && !threads_.scheduler.throttled()) accounts_.start_spinning(ThreadId{t}, threads_.now);
    // A lock of OpenMP spins for a while, one of threads that the program created itself does not.
    const bool in_team = thread.execution < in_.workload.executions.size() && in_.workload.executions[thread.execution].parallel != 0;
    using Wait = Scheduler::Wait;
    threads_.scheduler.start_waiting(ThreadId{t}, is_awake ? Wait::spins : in_team ? Wait::yields : Wait::sleeps, threads_.now);
  }

  void stop_waiting(std::size_t t) { accounts_.stop_waiting(ThreadId{t}, threads_[t].current_execution(in_.workload), threads_.now); }

  RunReport report() {
    const Time end = std::max(executions_.end(), threads_.now);
    for (std::size_t t = 0; t < threads_.size(); ++t) accounts_.stop_spinning(ThreadId{t}, threads_.core_of(t), end);
    accounts_.shares().end(end);
    RunReport report = report_of(threads_, executions_, accounts_, team_.overhead());
    report.heap = slices_.heap_report();
    return report;
  }

  const SimulationInput& in_;
  Threads threads_;
  TimeAccounts accounts_;
  SliceCutter cutter_;
  TaskPool pool_;
  Executions executions_;
  TaskEvents tasks_;
  TeamEvents team_;
  SyncEvents sync_;
  Slices slices_;
  NextWork next_work_;
  std::vector<Completion> done_;  // scratch
};

}  // namespace

RunReport simulate(const SimulationInput& input) {
  const CreatedThreads created = created_threads(input.workload);
  check_team(input, created);
  return Simulation{input, created}.run();
}

Bytes default_quantum(const Machine& machine) {
  constexpr std::int64_t slices = 16;
  return machine.caches.empty() ? Bytes{1 << 20} : Bytes{std::max<std::int64_t>(machine.caches.back().size.count() / slices, 4096)};
}

}  // namespace homenode
