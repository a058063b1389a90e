// Latency under load, and what shared resources are called.
#pragma once

#include <cstddef>
#include <string>

#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

// What a controller adds to the latency of its lines if the running work would use the share `offered` of it at idle latency: at the
// equilibrium of a closed system, r = offered L0 / (L0 + extra(r)), at most 1.
Time extra_latency(const Machine&, const Topology&, std::size_t controller, double offered);

// Controllers come first, then directed links, then rings (data, address, acknowledge, each upwards and downwards), then the lock that
// page faults take.
std::size_t shared_resources(const Machine&, const Topology&);
std::string shared_resource_name(const Machine&, const Topology&, std::size_t resource);
// Bytes a second: of a controller for reads only, of a link one way; 0 where there is nothing to carry.
double shared_resource_bandwidth(const Machine&, const Topology&, std::size_t resource);

}  // namespace homenode
