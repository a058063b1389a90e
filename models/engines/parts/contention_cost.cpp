#include "models/engines/parts/contention_cost.hpp"

#include <algorithm>

#include "sim/machine/transfer_latency.hpp"

namespace homenode {
namespace {

// Entries of a store buffer: 42 of Haswell; 32 of Nehalem, 56 of Skylake (Intel 248966), 64 of Zen 3. One for all machines; where plain
// stores are held up by their line, they take time in inverse proportion.
constexpr double stores_waiting = 42;

}  // namespace

ContentionCost contention_cost(const Contention& contention, CoreId core, double alone, const Machine& machine, const Topology& topology) {
  ContentionCost cost;
  if (!contention.any()) return cost;
  double transfer = 0;
  for (const Contention::Writer& writer : contention.writers)
    transfer += writer.share * transfer_latency(machine, topology, core, writer.core).seconds();
  const Contention::Updates &updates = contention.updates, &late = contention.late, &busiest = contention.busiest;
  const double interval = alone * static_cast<double>(contention.lines) / updates.all();
  const double others = late.all() / std::max(updates.all() - late.all(), 1.0);  // as many cores as this one makes updates
  // Updates each time that the core has the line.
  const double atomic_run = interval > 0 ? std::max(1.0, transfer / (others * interval)) : 1;
  const double plain_run = interval > 0 ? std::clamp((others + 1) * transfer / interval, 1.0, stores_waiting) : 1;
  const double atomic = std::min(late.atomic, updates.atomic / atomic_run), plain = std::min(late.plain, updates.plain / plain_run);
  const auto share = [](double part, double all) { return all > 0 ? part / all : 0; };
  cost.waits = transfer * (atomic + share(late.plain_read, late.plain) * plain / plain_run);
  cost.line = share(busiest.atomic, late.atomic) * atomic * (transfer + (atomic_run - 1) * interval) +
              share(busiest.plain, late.plain) * plain * transfer;
  cost.handed = atomic + plain;
  cost.transfer = Time::from_seconds(transfer);
  return cost;
}

}  // namespace homenode
