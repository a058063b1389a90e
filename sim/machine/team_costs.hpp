// Time of a fork, a barrier and a reduction of a team: base + b x ceil(log2 threads) x core-to-core latency.
#pragma once

#include <bit>
#include <span>

#include "sim/machine/machine.hpp"

namespace homenode {

struct TeamCosts {
  Time fork, barrier, reduction;
};

inline TeamCosts team_costs(const Machine& machine, std::span<const CoreId> team) {
  if (team.size() < 2) return {};
  bool one_socket = true;
  for (const CoreId core : team) one_socket &= machine.socket_of(core) == machine.socket_of(team.front());
  const Time signal = one_socket ? machine.core_to_core_local : machine.core_to_core_remote;
  const double steps = static_cast<double>(std::bit_width(team.size() - 1)) * signal.seconds();
  return {machine.fork_base + Time::from_seconds(machine.fork_log_factor * steps),
          machine.barrier_base + Time::from_seconds(machine.barrier_log_factor * steps),
          Time::from_seconds(machine.reduction_log_factor * steps)};
}

}  // namespace homenode
