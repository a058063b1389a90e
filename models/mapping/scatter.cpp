// Threads go round the nodes that have cores (KMP_AFFINITY=scatter, OMP_PROC_BIND=spread with one place a node).
#include "models/mapping/register.hpp"

namespace homenode {
namespace {

class Scatter final : public ThreadMapping {
public:
  void prepare(const ThreadGraph*, const Machine& machine, std::size_t) override {
    std::vector<std::vector<CoreId>> by_node(machine.nodes.size());
    for (std::size_t core = 0; core < machine.cores(); ++core) by_node[machine.core_node[core].index()].push_back(CoreId{core});
    order_.clear();
    for (std::size_t round = 0; order_.size() < machine.cores(); ++round) {
      for (const auto& cores : by_node) {
        if (round < cores.size()) order_.push_back(cores[round]);
      }
    }
  }
  std::vector<CoreId> affinity(ThreadId thread, Time) override { return {order_[thread.index() % order_.size()]}; }

private:
  std::vector<CoreId> order_;
};

}  // namespace

PolicyEntry<ThreadMapping> scatter() {
  return {.name = "scatter",
          .description = "threads round robin over the nodes that have cores",
          .parameters = {},
          .make = [](const Parameters&) { return std::make_unique<Scatter>(); }};
}

}  // namespace homenode
