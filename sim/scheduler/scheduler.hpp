// Which thread runs on which core, as in Linux's fair scheduler (kernel/sched/fair.c): a run queue for each core, time slices, choice of
// a core at creation and at wake-up, load balancing by domains. A thread with one allowed core stays there. What a real system leaves
// to chance (which idle core is the first, when daemons wake) is drawn from the seed of the run.
//
// Threads yield only at the end of a slice of work, so preemption is at most a quantum late. Simplified: all threads have
// the same weight; a domain's load is its number of runnable threads a core; a daemon runs on its own core only and has priority
// there; daemons never disturb threads that are pinned to one core.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <random>
#include <vector>

#include "sim/machine/machine.hpp"
#include "sim/machine/scheduler_settings.hpp"
#include "sim/machine/scheduling_domains.hpp"

namespace homenode {

class Scheduler {
public:
  // `spin`: how long a waiting thread spins. `disturbances`: factor on the system's rate of daemons.
  struct Waiting {
    Time spin;
    double disturbances = 1;
  };
  Scheduler(const Machine&, const SchedulerSettings&, Waiting, std::uint64_t seed);

  // Adds the next thread, asleep. It gets the allowed core with the least load so far.
  void add(std::vector<CoreId> allowed);
  // The thread is created now by a thread on `creator`: chooses its core anew, by the present load. It must never have run.
  void add_created(ThreadId, CoreId creator, Time now);
  CoreId core_of(ThreadId thread) const { return threads_[thread.index()].core; }
  bool has_core(ThreadId thread) const { return threads_[thread.index()].state == State::on_core; }

  // The thread has work to do, because of `waker` (none: nobody). True: it has its core. False: it gets one later (`take_granted`).
  bool resume(ThreadId, ThreadId waker, Time now);
  // The thread keeps its core until `slice_ended`, or until it is resumed.
  void start_computing(ThreadId);
  // True: it keeps the core. False: it queues.
  bool slice_ended(ThreadId, Time now);
  // The thread has its core but no work. It spins and keeps the core; or it polls, so that others may have the core, but does not sleep;
  // or it sleeps, and its core pays for the wake-up.
  enum class Wait : std::uint8_t { spins, yields, sleeps };
  void start_waiting(ThreadId, Wait, Time now);
  // Threads that got a core since the last call.
  std::vector<ThreadId> take_granted();
  bool anybody_queues() const { return queued_ > 0; }

  // Ends of time slices, balancing, daemons: only while they may change who runs.
  std::optional<Time> next_event();
  void advance(Time now);

  // Migrates to an idle core of the node at the end of the thread's slice; false if its mapping allows none.
  bool move(ThreadId, NodeId, Time now);
  // Exchanges the cores of two threads, each at the end of its slice; false if their mappings do not allow it.
  bool exchange(ThreadId, ThreadId, Time now);
  std::vector<ThreadId> threads_on(NodeId) const;
  // The thread, which waits asleep, had no time to fall asleep: its core does not have to wake up.
  void stay_awake(ThreadId thread) { of(thread).awake = true; }
  // Time of context switches, migrations and other charges of the thread since the last call.
  void delay(ThreadId thread, Time time) { of(thread).delay += time; }
  Time take_delay(ThreadId);
  std::uint64_t moves() const { return moves_; }
  // Counts of a core. switches: to another thread. wakeups: from idle to a thread that had not spun meanwhile.
  std::uint64_t switches(CoreId core) const { return cores_[core.index()].switches; }
  std::uint64_t wakeups(CoreId core) const { return cores_[core.index()].wakeups; }
  bool throttled() const { return threads_.size() > cores_.size(); }

private:
  enum class State : std::uint8_t { asleep, queued, on_core };
  struct Thread {
    std::vector<CoreId> allowed;
    CoreId core;
    State state = State::asleep;
    bool spinning = false, ran = false;
    bool awake = false;  // it waits for its team: its core does not sleep
    Time spin_end, last_ran, delay;
    Time virtual_time;  // that it has run, comparable within a core
    CoreId wish = CoreId::none();
  };
  struct Core {
    ThreadId holder = ThreadId::none(), last = ThreadId::none();
    bool computing = false;  // the holder does not yield now
    bool preempt = false;    // a thread with priority woke up
    Time since, accounted;   // of the holder: got the core, its virtual time was brought up to date
    Time least_virtual_time;
    std::vector<ThreadId> queue;
    Time daemon_until, daemons_due;  // the daemon that runs; work of those that wait for the end of a slice
    bool daemon = false;
    Time idle_since, average_idle;
    std::uint64_t switches = 0, wakeups = 0;
    std::uint64_t timer = 0;         // its last one; earlier ones are void
    std::vector<Time> last_balance;  // by level
    std::vector<unsigned> failed;    // by level: attempts in a row that found only cache-hot threads
  };
  enum class Kind : std::uint8_t { timer, daemon, tick };
  struct Event {
    Time time;
    Kind kind;
    std::size_t core;
    std::uint64_t number;
    bool operator>(const Event& other) const {
      return std::tie(time, kind, core, number) > std::tie(other.time, other.kind, other.core, other.number);
    }
  };

  Thread& of(ThreadId id) { return threads_[id.index()]; }
  Core& of(CoreId id) { return cores_[id.index()]; }
  bool may_run(const Thread&, CoreId) const;
  Time up_to(Time most);
  Time exponential(double mean_seconds);

  // Queues and slices (scheduler_queues.cpp).
  void settle(CoreId, Time now);
  bool idle(CoreId, Time now);
  std::size_t running(CoreId, Time now);
  bool is_deep(const Core&, Time now) const;
  void take(CoreId, ThreadId, Time now);
  void leave(CoreId, Time now);
  void account(Core&, Time now);
  Time slice(const Core&) const;
  void enqueue(CoreId, ThreadId, Time now);
  void unqueue(ThreadId);
  ThreadId first_in(const Core&) const;
  void pass_on(CoreId, Time now);
  void yield_if_due(CoreId, Time now);

  // What happens at a time of its own (scheduler_events.cpp).
  void arm(CoreId, Time now);
  void arm_tick(Time now);
  void daemon_comes(CoreId, Time now);

  // Threads that are told where to go (scheduler_moves.cpp).
  bool follow_wish(ThreadId, Time now);
  void relocate(ThreadId, CoreId to, Time now);

  // Choice of cores and balancing (scheduler_balancing.cpp).
  CoreId for_new(const Thread&, CoreId creator, const std::vector<unsigned>& load);
  CoreId for_woken(ThreadId, ThreadId waker, Time now);
  Time balance_interval(CoreId, std::size_t level, bool is_idle) const;
  void balance(Time now);
  bool balance(CoreId, std::size_t level, bool is_idle, Time now);
  bool pull_when_idle(CoreId, Time now);
  ThreadId to_pull(CoreId from, CoreId to, bool even_hot, Time now) const;
  double load(const SchedulingDomains::Cores&, Time now);
  std::size_t idle_cores(const SchedulingDomains::Cores&, Time now);

  const Machine& machine_;
  SchedulerSettings settings_;
  Waiting waiting_;
  SchedulingDomains domains_;
  std::vector<Thread> threads_;
  std::vector<Core> cores_;
  std::vector<unsigned> placed_;  // threads by core, for those that are added
  std::vector<ThreadId> granted_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::mt19937_64 random_;
  std::size_t queued_ = 0;
  bool ticking_ = false, free_ = false;  // free_: some thread may move
  std::uint64_t moves_ = 0;
};

}  // namespace homenode
