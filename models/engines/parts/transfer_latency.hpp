// How long a line takes from another core's cache: within a socket, or by the links between the two sockets.
#pragma once

#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

inline Time transfer_latency(const Machine& machine, const Topology& topology, SocketId from, SocketId to) {
  if (from == to) return machine.core_to_core_local;
  return machine.core_to_core_remote * static_cast<std::int64_t>(topology.hops(from, to));
}

}  // namespace homenode
