// What a thread does next that has nothing in hand: it goes on through the program, to iterations, tasks, a fork, a barrier or its end.
#pragma once

#include "sim/loop/executions.hpp"
#include "sim/loop/sync_events.hpp"
#include "sim/loop/task_events.hpp"
#include "sim/loop/team_events.hpp"

namespace homenode {

class NextWork {
public:
  struct Parts {
    Threads& threads;
    Executions& executions;
    TaskEvents& tasks;
    SyncEvents& sync;
    TeamEvents& team;
  };
  // All must outlive it.
  NextWork(const Parts& parts, TimeAccounts& accounts) : parts_{parts}, accounts_{accounts} {}

  // True: the thread, which is deciding, has iterations in hand. False: it waits, is ready at a later time, or has ended.
  bool find(std::size_t t);

private:
  enum class Found { work, none, next_place };  // next_place: go on looking there

  Found look(std::size_t t);
  Found look_at_barrier(std::size_t t);
  Found look_in_serial(std::size_t t);
  Found look_in_construct(std::size_t t);

  Parts parts_;
  TimeAccounts& accounts_;
};

}  // namespace homenode
