#include "sim/loop/team_events.hpp"

#include <optional>

#include "sim/base/errors.hpp"
#include "sim/loop/barrier.hpp"
#include "sim/loop/constructs.hpp"

namespace homenode {

TeamEvents::TeamEvents(Threads& threads, Executions& executions, TaskEvents& tasks, TimeAccounts& accounts)
    : threads_{threads},
      executions_{executions},
      tasks_{tasks},
      accounts_{accounts},
      costs_{team_costs(threads.in.machine, threads.cores())} {}

// All threads make up the team, so that none may be in a routine of its own.
void TeamEvents::check_all_are_there(RegionId region) const {
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    if (!threads_[t].is_created || threads_[t].has_ended) continue;
    throw UsageError("thread " + std::to_string(t) + ", which the program created itself, has not ended where a team begins region '" +
                     threads_.in.workload.regions[region.index()].label +
                     "'; allowed: parallel regions of OpenMP while no created thread is there");
  }
}

void TeamEvents::fork(std::size_t first) {
  check_all_are_there(threads_.in.workload.executions[first].region);
  overhead_ += costs_.fork;
  const RegionId region = threads_.in.workload.executions[first].region;
  accounts_.shares().fork(region, threads_.now, threads_.now + costs_.fork);
  accounts_.start_waiting(ThreadId{master}, ThreadActivity::fork, threads_.now);
  tasks_.begin_construct(first);
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    threads_[t].execution = first;
    threads_[t].role = TeamRole::member;
    threads_[t].task = TaskId{t};
    threads_.make_ready(t, threads_.now + costs_.fork);
  }
}

bool TeamEvents::release_barrier(std::size_t t) {
  const Workload& workload = threads_.in.workload;
  const std::size_t index = threads_[t].execution;
  if (executions_[index].at_barrier < threads_.size() || tasks_.pool().unfinished() > 0) return false;
  const bool reduces = region_of(workload, workload.executions[index]).reduction;
  const Time release = threads_.now + barrier_time(t) + (reduces ? costs_.reduction : Time{});
  overhead_ += release - threads_.now;
  accounts_.shares().barrier(workload.executions[index].region, threads_.now, release);
  executions_.close(index, release);
  const bool construct_ends = is_last_of_construct(workload, index);
  if (construct_ends) tasks_.end_construct();
  tasks_.forget_waiters();
  accounts_.start_waiting(ThreadId{t}, ThreadActivity::barrier, threads_.now);
  for (std::size_t member = 0; member < threads_.size(); ++member) leave_barrier(member, release, construct_ends);
  return true;
}

void TeamEvents::leave_barrier(std::size_t t, Time release, bool construct_ends) {
  Thread& thread = threads_[t];
  accounts_.stop_waiting(ThreadId{t}, thread.current_execution(threads_.in.workload), release);
  ++thread.execution;
  thread.role = construct_ends ? TeamRole::outside : TeamRole::member;
  if (!construct_ends || t == master) {
    threads_.make_ready(t, release);
  } else {
    threads_.stand_down(t);
  }
}

// From the last one's arrival.
Time TeamEvents::barrier_time(std::size_t last) {
  places_.clear();
  for (std::size_t member = 0; member < threads_.size(); ++member) places_.push_back(threads_.place_of(member));
  const std::optional<Time> signals = threads_.size() < 2 ? std::nullopt : barrier_latency(threads_.in.memory, places_, last);
  if (!signals) return costs_.barrier;
  const Machine& machine = threads_.in.machine;
  return machine.barrier_base + Time::from_seconds(signals->seconds() * machine.barrier_log_factor / 2);
}

}  // namespace homenode
