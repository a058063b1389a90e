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
// Likewise a node's memory-side cache to the lines that it has.
Time extra_latency_of_side_cache(const Machine&, NodeId, double offered);

// Controllers come first, then directed links, then rings (data, address, acknowledge, each upwards and downwards), then memory-side caches
// by node, then ports of outermost caches (each inwards, then outwards), then the line that is handed over most (contended_lines.hpp), then
// the lock that page faults take. Of memory-side caches and of ports there are none, or as many as nodes and outermost caches.
std::size_t shared_resources(const Machine&, const Topology&);
std::size_t first_side_cache(const Machine&, const Topology&);
std::size_t first_port(const Machine&, const Topology&);
std::string shared_resource_name(const Machine&, const Topology&, std::size_t resource);
// Bytes a second: of a controller for reads only, of a link one way; 0 where there is nothing to carry.
double shared_resource_bandwidth(const Machine&, const Topology&, std::size_t resource);

}  // namespace homenode
