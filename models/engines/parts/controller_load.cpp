#include "models/engines/parts/controller_load.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace homenode {

namespace {

Time extra_latency(const std::vector<LoadedLatencyPoint>& curve, double idle, double offered) {
  double before = 0, extra_before = 0;  // the curve's last point that the system has passed
  for (const LoadedLatencyPoint& point : curve) {
    const double extra = point.extra.seconds();
    const double equilibrium = offered * idle / (idle + extra);
    if (equilibrium < point.utilisation) {
      // r (L0 + extra(r)) = r0 L0 with extra linear between the points: a quadratic in r.
      const double slope = (extra - extra_before) / (point.utilisation - before);
      const double constant = idle + extra_before - slope * before;
      if (slope <= 0) return Time::from_seconds(extra_before);
      const double r = (-constant + std::sqrt(constant * constant + 4 * slope * offered * idle)) / (2 * slope);
      return Time::from_seconds(extra_before + slope * std::max(0.0, r - before));
    }
    before = point.utilisation;
    extra_before = extra;
  }
  return Time::from_seconds(extra_before);
}

}  // namespace

Time extra_latency(const Machine& machine, const Topology& topology, std::size_t controller, double offered) {
  const ControllerDescription& description = machine.controllers[controller];
  return extra_latency(description.loaded_latency, topology.latency(description.node, description.node).seconds(), offered);
}

Time extra_latency_of_side_cache(const Machine& machine, NodeId id, double offered) {
  const NodeDescription& node = machine.nodes[id.index()];
  return extra_latency(node.memory_side_loaded_latency, node.memory_side_latency.value_or(node.latency).seconds(), offered);
}

namespace {
constexpr std::array<const char*, 6> rings{"data ring up",      "data ring down",      "address ring up",
                                           "address ring down", "acknowledge ring up", "acknowledge ring down"};
}  // namespace

std::size_t first_side_cache(const Machine& machine, const Topology& topology) {
  return machine.controllers.size() + topology.directed_links() + (machine.ring ? rings.size() : 0);
}

std::size_t first_port(const Machine& machine, const Topology& topology) {
  return first_side_cache(machine, topology) + (machine.has_side_caches() ? machine.nodes.size() : 0);
}

std::size_t shared_resources(const Machine& machine, const Topology& topology) {
  const std::size_t ports = machine.has_ports() ? 2 * (machine.cores() / machine.caches.back().cores_per_cache) : 0;
  return first_port(machine, topology) + ports + 2;
}

std::string shared_resource_name(const Machine& machine, const Topology& topology, std::size_t resource) {
  if (resource + 1 == shared_resources(machine, topology)) return "page faults";
  if (resource + 2 == shared_resources(machine, topology)) return "contended line";
  if (resource < machine.controllers.size()) return "controller " + std::to_string(resource);
  if (const std::size_t first = first_port(machine, topology); resource >= first)
    return "port of cache " + std::to_string((resource - first) / 2) + ((resource - first) % 2 == 0 ? ", in" : ", out");
  if (const std::size_t first = first_side_cache(machine, topology); resource >= first)
    return "memory-side cache " + std::to_string(resource - first);
  const std::size_t link = resource - machine.controllers.size();
  if (link >= topology.directed_links()) return rings[link - topology.directed_links()];
  return "link " + topology.name(LinkId{link});
}

double shared_resource_bandwidth(const Machine& machine, const Topology& topology, std::size_t resource) {
  if (resource < machine.controllers.size()) return machine.controllers[resource].read_only.bytes_per_second();
  const std::size_t link = resource - machine.controllers.size();
  if (link < topology.directed_links()) return topology.bandwidth(LinkId{link}).bytes_per_second();
  if (resource + 2 >= shared_resources(machine, topology)) return 0;
  const auto of = [](const std::optional<Bandwidth>& bandwidth) { return bandwidth ? bandwidth->bytes_per_second() : 0; };
  if (const std::size_t first = first_port(machine, topology); resource >= first)
    return of((resource - first) % 2 == 0 ? machine.caches.back().port_read : machine.caches.back().port_write);
  if (const std::size_t first = first_side_cache(machine, topology); resource >= first)
    return of(machine.nodes[resource - first].memory_side_read_only);
  return 0;
}

}  // namespace homenode
