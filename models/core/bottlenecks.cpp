#include "models/core/bottlenecks.hpp"

#include <algorithm>

namespace homenode {
namespace {

// In use for so large a part of the cycles, a port or the front end is the bottleneck: none is full in every cycle.
constexpr double saturated = 0.9;

struct Port {
  double share = 0;  // of the cycles
  unsigned resource = 0;
};

Port busiest_port(const CoreActivity& activity, const llvm::MCSchedModel& model) {
  Port most;
  for (const auto& [resource, used] : activity.busy) {
    const double share = used / (static_cast<double>(activity.cycles) * std::max(1U, model.getProcResource(resource)->NumUnits));
    if (share > most.share) most = {.share = share, .resource = resource};
  }
  return most;
}

double dispatching(const CoreActivity& activity, const llvm::MCSchedModel& model) {
  return static_cast<double>(activity.operations) / (static_cast<double>(activity.cycles) * model.IssueWidth);
}

}  // namespace

SharedUse shared_use(const CoreActivity& activity, const llvm::MCSchedModel& model) {
  if (activity.cycles == 0) return {};
  const double units = std::max(dispatching(activity, model), busiest_port(activity, model).share);
  return {.units = std::min(1.0, units), .fetching = std::min(1.0, activity.fetching / static_cast<double>(activity.cycles))};
}

void CoreActivity::add(const CoreActivity& other) {
  cycles += other.cycles;
  operations += other.operations;
  waits_for_data += other.waits_for_data;
  waits_for_ports += other.waits_for_ports;
  waits_for_code += other.waits_for_code;
  fetching += other.fetching;
  for (const auto& [resource, used] : other.busy) busy[resource] += used;
}

std::string bottleneck(const CoreActivity& activity, const llvm::MCSchedModel& model) {
  if (activity.cycles == 0) return "front end";  // retires with what was before it
  const double front_end = dispatching(activity, model);
  const auto [most, busiest] = busiest_port(activity, model);
  const auto port = [&, resource = busiest] { return "port " + std::string{model.getProcResource(resource)->Name}; };
  if (std::max(front_end, most) >= saturated) return most > front_end ? port() : "front end";
  if (activity.waits_for_code > std::max(activity.waits_for_data, activity.waits_for_ports)) return "front end";
  if (activity.waits_for_data == 0 && activity.waits_for_ports == 0 && front_end > 0.5) return "front end";
  return activity.waits_for_ports > activity.waits_for_data && most > 0 ? port() : "latency";
}

}  // namespace homenode
