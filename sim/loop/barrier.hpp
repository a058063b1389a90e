// A barrier as signals between cores, for memory models that have them: a tree over the team (thread v below v without its lowest bit).
// Whoever comes last tells those above it, one after the other; the root tells everybody below it, each of them those below it. On an idle
// machine that is at most a round trip between cores for each of the tree's ceil(log2 threads) levels, which is what the machine's formula
// says (team_costs.hpp, factor 2).
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "sim/hardware/memory_model.hpp"

namespace homenode {

// From the last one's arrival, at `team[last].now`, until all may go on; nothing from a model without signals.
inline std::optional<Time> barrier_latency(MemoryModel& memory, std::span<const Place> team, std::size_t last) {
  const Time begin = team[last].now;
  const auto tell = [&](std::size_t from, std::size_t to, Time at) {
    Place writer = team[from];
    writer.now = at;
    return memory.signal(writer, team[to]);
  };
  Time at = begin;
  for (std::size_t below = last; below != 0; below &= below - 1) {
    const std::optional<Time> heard = tell(below, below & (below - 1), at);
    if (!heard) return std::nullopt;
    at = *heard;
  }
  std::vector<Time> knows(team.size(), at);
  Time all = at;
  // Numbers grow on the way down, so whoever is above knows already.
  for (std::size_t below = 1; below < team.size(); ++below) {
    const std::optional<Time> heard = tell(below & (below - 1), below, knows[below & (below - 1)]);
    if (!heard) return std::nullopt;
    knows[below] = *heard;
    all = std::max(all, *heard);
  }
  return all - begin;
}

}  // namespace homenode
