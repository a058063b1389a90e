// Time of a fork, a barrier and a reduction of a team: base + b x the signals of a tree, one for each of its ceil(log2 threads) levels. A
// level takes as long as its slowest signal: between cores of an outermost cache, of a socket, or of two (Machine::core_to_core). Thread
// v is below v without its lowest bit, as in the barriers of models that send signals themselves (sim/loop/barrier.hpp).
#pragma once

#include <algorithm>
#include <span>

#include "sim/machine/machine.hpp"

namespace homenode {

struct TeamCosts {
  Time fork, barrier, reduction;
};

// Sum over the tree's levels of the slowest signal; `signal`: seconds between two cores.
template <class Signal>
double tree_of_signals(std::span<const CoreId> team, const Signal& signal) {
  double all = 0;
  for (std::size_t level = 1; level < team.size(); level *= 2) {
    double slowest = 0;
    for (std::size_t below = level; below < team.size(); below += 2 * level)
      slowest = std::max(slowest, signal(team[below], team[below - level]));
    all += slowest;
  }
  return all;
}

inline TeamCosts team_costs(const Machine& machine, std::span<const CoreId> team) {
  if (team.size() < 2) return {};
  const double steps = tree_of_signals(team, [&](CoreId a, CoreId b) { return machine.core_to_core(a, b).seconds(); });
  return {machine.fork_base + Time::from_seconds(machine.fork_log_factor * steps),
          machine.barrier_base + Time::from_seconds(machine.barrier_log_factor * steps),
          Time::from_seconds(machine.reduction_log_factor * steps)};
}

}  // namespace homenode
