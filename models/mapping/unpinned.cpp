// No affinity at all: each thread may run on every core, and the operating system's scheduler (sim/scheduler/scheduler.hpp) decides.
#include "models/mapping/register.hpp"

namespace homenode {
namespace {

class Unpinned final : public ThreadMapping {
public:
  explicit Unpinned(const Parameters& parameters)
      : spin_{parameters.time("spin")}, disturbances_{static_cast<double>(parameters.get("disturbances")) / 100} {}
  void prepare(const ThreadGraph*, const Machine& machine, std::size_t) override {
    cores_.clear();
    for (std::size_t core = 0; core < machine.cores(); ++core) cores_.emplace_back(core);
  }
  std::vector<CoreId> affinity(ThreadId, Time) override { return cores_; }
  Time spin() const override { return spin_; }
  double disturbances() const override { return disturbances_; }

private:
  std::vector<CoreId> cores_;
  Time spin_;
  double disturbances_;
};

}  // namespace

PolicyEntry<ThreadMapping> unpinned() {
  return {
      .name = "unpinned",
      .description = "no pinning: the operating system's scheduler places and migrates threads",
      .parameters =  // Intel's OpenMP: KMP_BLOCKTIME, 200 ms; libgomp: GOMP_SPINCOUNT, 300 000 turns of its loop, about 1 ms.
      {time_parameter("spin", "how long a thread spins at a barrier before it sleeps; always 0 s with more threads than cores",
                      Time::from_seconds(0.2), Time{}),
       integer_parameter("disturbances", "%", "how often daemons take a core, relative to the description of the system", 100, 0, 1000000)},
      .make = [](const Parameters& parameters) { return std::make_unique<Unpinned>(parameters); }};
}

}  // namespace homenode
