#include "models/core/bottlenecks.hpp"

#include <algorithm>

namespace homenode {
namespace {

// In use for so large a part of the cycles, a port or the front end is the bottleneck: none is full in every cycle.
constexpr double saturated = 0.9;

}  // namespace

void CoreActivity::add(const CoreActivity& other) {
  cycles += other.cycles;
  operations += other.operations;
  waits_for_data += other.waits_for_data;
  waits_for_ports += other.waits_for_ports;
  waits_for_code += other.waits_for_code;
  for (const auto& [resource, used] : other.busy) busy[resource] += used;
}

std::string bottleneck(const CoreActivity& activity, const llvm::MCSchedModel& model) {
  if (activity.cycles == 0) return "front end";  // retires with what was before it
  const auto cycles = static_cast<double>(activity.cycles);
  const double front_end = static_cast<double>(activity.operations) / (cycles * model.IssueWidth);
  double most = 0;
  unsigned busiest = 0;
  for (const auto& [resource, used] : activity.busy) {
    const double share = used / (cycles * std::max(1U, model.getProcResource(resource)->NumUnits));
    if (share > most) {
      most = share;
      busiest = resource;
    }
  }
  const auto port = [&] { return "port " + std::string{model.getProcResource(busiest)->Name}; };
  if (std::max(front_end, most) >= saturated) return most > front_end ? port() : "front end";
  if (activity.waits_for_code > std::max(activity.waits_for_data, activity.waits_for_ports)) return "front end";
  if (activity.waits_for_data == 0 && activity.waits_for_ports == 0 && front_end > 0.5) return "front end";
  return activity.waits_for_ports > activity.waits_for_data && most > 0 ? port() : "latency";
}

}  // namespace homenode
