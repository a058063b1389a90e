// Which cores an operating system balances against each other, from near to far: those of one last-level cache, of one node, of one
// socket, all. A level that adds no core to the one below it is left out.
#pragma once

#include <vector>

#include "sim/base/ids.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

class SchedulingDomains {
public:
  using Cores = std::vector<CoreId>;

  explicit SchedulingDomains(const Machine&);

  std::size_t levels() const { return levels_.size(); }
  const Cores& domain(std::size_t level, CoreId core) const { return levels_[level].domains[levels_[level].of_core[core.index()]]; }
  // What the domain consists of: the domains of the level below, single cores on the lowest. The core's own comes first, the others follow
  // in ascending order and go round, as in Linux's sched_domain::groups.
  std::vector<Cores> groups(std::size_t level, CoreId core) const;

private:
  struct Level {
    std::vector<Cores> domains;
    std::vector<std::size_t> of_core;
  };
  std::vector<Level> levels_;
};

}  // namespace homenode
