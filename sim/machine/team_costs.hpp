// Time of a fork, a barrier and a reduction of a team: base + b x the signals of a tree, one for each of its ceil(log2 threads) levels. A
// level takes as long as its slowest signal: between cores of a socket, or of two (machine.core_to_core_local, _remote). Thread v is
// below v without its lowest bit, as in the barriers of models that send signals themselves (sim/loop/barrier.hpp).
#pragma once

#include <algorithm>
#include <span>

#include "sim/machine/machine.hpp"

namespace homenode {

struct TeamCosts {
  Time fork, barrier, reduction;
};

// Sum over the tree's levels of the slowest signal: `near` between cores of a socket, `far` between those of two.
inline double tree_of_signals(const Machine& machine, std::span<const CoreId> team, double near, double far) {
  double all = 0;
  for (std::size_t level = 1; level < team.size(); level *= 2) {
    double slowest = 0;
    for (std::size_t below = level; below < team.size(); below += 2 * level)
      slowest = std::max(slowest, machine.socket_of(team[below]) == machine.socket_of(team[below - level]) ? near : far);
    all += slowest;
  }
  return all;
}

inline TeamCosts team_costs(const Machine& machine, std::span<const CoreId> team) {
  if (team.size() < 2) return {};
  const double steps = tree_of_signals(machine, team, machine.core_to_core_local.seconds(), machine.core_to_core_remote.seconds());
  return {machine.fork_base + Time::from_seconds(machine.fork_log_factor * steps),
          machine.barrier_base + Time::from_seconds(machine.barrier_log_factor * steps),
          Time::from_seconds(machine.reduction_log_factor * steps)};
}

}  // namespace homenode
