// How long a line takes from another core's cache: within an outermost cache, between two of a socket, or by the links between two
// sockets. And how long a non-temporal store takes until memory has it.
#pragma once

#include <algorithm>

#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

inline Time transfer_latency(const Machine& machine, const Topology& topology, SocketId from, SocketId to) {
  if (from == to) return machine.core_to_core_local;
  return machine.core_to_core_remote * static_cast<std::int64_t>(topology.hops(from, to));
}

inline Time transfer_latency(const Machine& machine, const Topology& topology, CoreId from, CoreId to) {
  if (machine.share_outermost_cache(from, to)) return machine.core_to_core_nearest();
  return transfer_latency(machine, topology, machine.socket_of(from), machine.socket_of(to));
}

// There and back, without the DRAM: the controller takes the line into its queue.
inline Time streaming_latency(const Machine& machine, const Topology& topology, NodeId writer, NodeId home) {
  return std::max(Time{}, topology.side_cache_latency(writer, home) - machine.dram.activate - machine.dram.column);
}

}  // namespace homenode
