#include "models/energy/energy_model.hpp"

#include <algorithm>
#include <numeric>

namespace homenode {
namespace {

template <class Number>
double sum(const std::vector<Number>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0,
                         [](double so_far, Number next) { return so_far + static_cast<double>(next); });
}

Energy sum(const std::vector<EnergyComponent>& components) {
  Energy total;
  for (const EnergyComponent& component : components) total += component.energy;
  return total;
}

std::vector<EnergyComponent> of_cores(const EnergyModel& model, const Machine& machine, const RunReport& report) {
  double busy = 0, spinning = 0, wakeups = 0;
  for (const CoreUse& use : report.cores) {
    // Where a report's time is a bound (placement `optimal`), its cores' may be longer.
    const Time working = std::min(use.busy, report.time);
    busy += working.seconds();
    spinning += std::min(use.spinning, report.time - working).seconds();
    wakeups += static_cast<double>(use.wakeups);
  }
  const double idle = report.time.seconds() * machine.cores() - busy - spinning;
  return {{"busy", Energy::joules(model.core.busy.watts() * busy)},
          {"spinning", Energy::joules(model.core.spinning.watts() * spinning)},
          {"idle", Energy::joules(model.core.idle.watts() * std::max(idle, 0.0))},
          {"wakeups", model.core.wakeup * wakeups}};
}

Energy of_caches(const EnergyModel& model, const Machine& machine, const EventCounts& counts) {
  Energy energy = model.cache.first_level * static_cast<double>(counts.accesses);
  for (std::size_t level = 1; level < counts.hit_lines.size(); ++level) {
    const bool shared = machine.caches[level].cores_per_cache > 1;
    energy += (shared ? model.cache.shared_line : model.cache.private_line) * static_cast<double>(counts.hit_lines[level]);
  }
  return energy + model.cache.transfer * static_cast<double>(counts.transfer_lines);
}

std::vector<EnergyComponent> of_background(const EnergyModel& model, const Machine& machine, Time time) {
  const auto of = [&](Power each, std::size_t count) { return each * static_cast<double>(count) * time; };
  const auto own_links =
      std::count_if(machine.nodes.begin(), machine.nodes.end(), [](const NodeDescription& node) { return node.link_read.has_value(); });
  return {{"sockets", of(model.background.socket, machine.sockets)},
          {"controllers", of(model.background.controller, machine.controllers.size())},
          {"links", of(model.background.link, machine.links.size() + static_cast<std::size_t>(own_links))}};
}

}  // namespace

Energy EnergyReport::total() const { return sum(components); }

EnergyReport energy_of(const EnergyModel& model, const Machine& machine, const RunReport& report) {
  EnergyReport result;
  result.cores = of_cores(model, machine, report);
  result.background = of_background(model, machine, report.time);
  const EventCounts& counts = report.counts;
  result.components = {{"cores", sum(result.cores)},
                       {"caches", of_caches(model, machine, counts)},
                       {"controllers", model.controller.read * sum(counts.read_bytes) + model.controller.write * sum(counts.write_bytes)},
                       {"links", model.link.byte * sum(counts.link_bytes)},
                       {"static", sum(result.background)}};
  return result;
}

}  // namespace homenode
