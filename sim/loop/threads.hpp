// The data that the parts of the event loop share: the threads, which of them goes on when, and the time.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/place.hpp"
#include "sim/loop/ready_queue.hpp"
#include "sim/loop/simulation.hpp"
#include "sim/loop/thread_state.hpp"
#include "sim/program/created_threads.hpp"
#include "sim/scheduler/scheduler.hpp"

namespace homenode {

inline constexpr std::size_t master = 0, nobody = ~std::size_t{0};

// The iterations that a thread runs, and how far it is: it puts this aside while it runs tasks.
struct ItemsInHand {
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

// A thread's part in the running construct. Between constructs the first thread goes on alone. At a barrier, the one behind its
// execution, a thread runs tasks meanwhile.
enum class TeamRole : std::uint8_t { outside, member, at_barrier };

struct Thread : ItemsInHand {
  ThreadStateMachine state;
  TeamRole role = TeamRole::outside;
  bool is_created = false;         // by the program: it runs one execution of its own
  bool has_ended = false;          // of one that is created
  std::size_t execution = 0;       // where it is in the program
  std::int64_t running_until = 0;  // end of the slice that runs; equal to `next` when that is a stretch of one iteration
  std::uint64_t reached = 0;       // where the stretch ends
  Time started;                    // its slice or heap call
  std::vector<ItemsInHand> put_aside;
  std::size_t waker = 0;  // who made it ready
  // When it is asleep: not while its call of the system lasts, and never if it polls. None: its team polls, or nothing is to be waited for.
  std::optional<Time> sleeps_since{};

  // Of what it has in hand, or comes to next.
  ExecutionId current_execution(const Workload& workload) const {
    return idle() && execution < workload.executions.size() ? ExecutionId{execution} : handed_out.execution;
  }
};

struct Threads {
  // Asks the mapping where the threads run. Of threads that the program creates, one that comes after another takes its place, unless the
  // mapping itself looks at who creates whom. Throws PolicyError if it names no core that there is. Both must outlive it.
  Threads(const SimulationInput&, const CreatedThreads&);

  const SimulationInput& in;
  const CreatedThreads& created;
  std::vector<Thread> all;
  ReadyQueue ready;
  Scheduler scheduler;
  Time now;
  std::size_t on_core = nobody;  // whose part of the loop runs
  bool are_pinned = true;        // each to one core

  Thread& operator[](std::size_t t) { return all[t]; }
  const Thread& operator[](std::size_t t) const { return all[t]; }
  std::size_t size() const { return all.size(); }
  CoreId core_of(std::size_t t) const { return scheduler.core_of(ThreadId{t}); }
  std::vector<CoreId> cores() const;
  Place place_of(std::size_t t) const { return {ThreadId{t}, core_of(t), in.machine.node_of(core_of(t)), now}; }
  // It goes on then, whatever it was to do before.
  void make_ready(std::size_t t, Time time) {
    all[t].state.become(ThreadState::ready);
    all[t].waker = on_core;
    ready.push(t, time);
  }
  // The construct is over. What the thread may have been woken for, another one did.
  void stand_down(std::size_t t) {
    ready.withdraw(t);
    if (all[t].state.is(ThreadState::ready)) all[t].state.become(ThreadState::waiting);
  }
};

}  // namespace homenode
