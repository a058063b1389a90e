// The beginnings and ends of parallel constructs and the barriers in them, for the team as a whole.
#pragma once

#include <vector>

#include "sim/loop/task_events.hpp"
#include "sim/machine/team_costs.hpp"

namespace homenode {

class TeamEvents {
public:
  // All must outlive it. What forks and barriers cost depends on where the threads are at this moment.
  TeamEvents(Threads&, Executions&, TaskEvents&, TimeAccounts&);

  // The first thread comes to a construct, whose first execution this is: all of the team begin it. Throws UsageError if one of them is
  // in a routine that the program created it for.
  void fork(std::size_t first);
  // The thread comes to the barrier, or has nothing left to do at it: true if all go on from it now or, where the construct ends, the
  // first thread does. They are all there, and no task is left.
  bool release_barrier(std::size_t t);

  Time overhead() const { return overhead_; }  // forks, barriers and reductions, in which nobody works

private:
  void check_all_are_there(RegionId) const;
  Time barrier_time(std::size_t last);
  void leave_barrier(std::size_t t, Time release, bool construct_ends);

  Threads& threads_;
  Executions& executions_;
  TaskEvents& tasks_;
  TimeAccounts& accounts_;
  TeamCosts costs_;
  Time overhead_;
  std::vector<Place> places_;  // scratch
};

}  // namespace homenode
