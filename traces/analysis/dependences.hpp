// Who writes data that another reads, among the threads of a generation tree.
#pragma once

#include "traces/analysis/generation.hpp"

namespace homenode::analysis {

struct FoundDependence {
  Dependence between;
  ObjectId object;  // one that both reach
  const Access* write;
  const Access* read;
};

// At most one for each ordered pair of nodes, a certain one where there is one. The order is that of the nodes.
std::vector<FoundDependence> find_dependences(const std::vector<ThreadNode>&, Summaries&);

}  // namespace homenode::analysis
