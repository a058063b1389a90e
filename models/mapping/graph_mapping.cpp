#include "models/mapping/register.hpp"
#include "sim/program/recorded.hpp"

namespace homenode {

std::shared_ptr<const ThreadGraph> graph_for(const ThreadMapping& mapping, const Workload& workload, const std::string& name,
                                             unsigned threads) {
  if (!mapping.wants_graph()) return nullptr;
  require(workload, Recorded::threads, "mapping '" + name + "'");
  return known_thread_graph(workload, threads);
}

}  // namespace homenode
