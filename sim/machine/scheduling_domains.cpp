#include "sim/machine/scheduling_domains.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace homenode {

SchedulingDomains::SchedulingDomains(const Machine& machine) {
  const std::function<std::size_t(CoreId)> keys[] = {
      [&](CoreId core) { return machine.caches.empty() ? core.index() : machine.cache_of(core, machine.caches.size() - 1).index(); },
      [&](CoreId core) { return machine.node_of(core).index(); },
      [&](CoreId core) { return machine.socket_of(core).index(); },
      [](CoreId) { return std::size_t{0}; },
  };
  for (const auto& key : keys) {
    std::map<std::size_t, Cores> by_key;
    for (std::size_t core = 0; core < machine.cores(); ++core) by_key[key(CoreId{core})].push_back(CoreId{core});
    if (by_key.size() == machine.cores() && machine.cores() > 1) continue;
    Level level;
    level.of_core.resize(machine.cores());
    for (auto& [number, cores] : by_key) {
      for (const CoreId core : cores) level.of_core[core.index()] = level.domains.size();
      level.domains.push_back(std::move(cores));
    }
    if (!levels_.empty() && levels_.back().domains.size() <= level.domains.size()) continue;
    levels_.push_back(std::move(level));
  }
}

std::vector<SchedulingDomains::Cores> SchedulingDomains::groups(std::size_t level, CoreId core) const {
  std::vector<Cores> groups;
  std::size_t own = 0;
  for (const CoreId member : domain(level, core)) {
    if (level == 0) {
      if (member == core) own = groups.size();
      groups.push_back({member});
    } else if (const Cores& group = domain(level - 1, member); group.front() == member) {
      if (std::find(group.begin(), group.end(), core) != group.end()) own = groups.size();
      groups.push_back(group);
    }
  }
  std::rotate(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(own), groups.end());
  return groups;
}

}  // namespace homenode
