// The user's own mapping: thread t on the t-th core of a list, and again from its front.
#include "models/mapping/register.hpp"

namespace homenode {
namespace {

class Cores final : public ThreadMapping {
public:
  explicit Cores(const Parameters& parameters) : list_{parameters.list("list")} {}
  void prepare(const ThreadGraph*, const Machine& machine, std::size_t) override {
    order_.clear();
    for (const std::int64_t core : list_) {
      if (core >= machine.cores())
        throw UsageError("mapping 'cores' names core " + std::to_string(core) + " of machine '" + machine.name + "'; allowed: 0 to " +
                         std::to_string(machine.cores() - 1));
      order_.emplace_back(static_cast<std::size_t>(core));
    }
    for (std::size_t core = 0; list_.empty() && core < machine.cores(); ++core) order_.emplace_back(core);
  }
  std::vector<CoreId> affinity(ThreadId thread, Time) override { return {order_[thread.index() % order_.size()]}; }

private:
  std::vector<std::int64_t> list_;
  std::vector<CoreId> order_;
};

}  // namespace

PolicyEntry<ThreadMapping> cores() {
  return {.name = "cores",
          .description = "thread t on the t-th core of a list; the list repeats",
          .parameters = {list_parameter("list", "core", "core of each thread, as 0:4:1:5; if left out, all cores in order", 0, 65534)},
          .make = [](const Parameters& parameters) { return std::make_unique<Cores>(parameters); }};
}

}  // namespace homenode
