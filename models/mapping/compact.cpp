// Thread t on core t: neighbours in rank are neighbours on the machine (KMP_AFFINITY=compact, OMP_PROC_BIND=close).
#include "models/mapping/register.hpp"

namespace homenode {
namespace {

class Compact final : public ThreadMapping {
public:
  void prepare(const ThreadGraph*, const Machine& machine, std::size_t) override { cores_ = machine.cores(); }
  std::vector<CoreId> affinity(ThreadId thread, Time) override { return {CoreId{thread.index() % cores_}}; }

private:
  std::size_t cores_ = 1;
};

}  // namespace

PolicyEntry<ThreadMapping> compact() {
  return {.name = "compact",
          .description = "thread t on core t, so that one node is filled after the other",
          .parameters = {},
          .make = [](const Parameters&) { return std::make_unique<Compact>(); }};
}

}  // namespace homenode
