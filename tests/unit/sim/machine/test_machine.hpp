// A small machine that validates: `sockets` sockets with one node of `cores_per_socket` cores each, and the given links.
#pragma once

#include <utility>
#include <vector>

#include "sim/machine/machine.hpp"

namespace homenode {

inline Machine small_machine(unsigned sockets, unsigned cores_per_socket, const std::vector<std::pair<unsigned, unsigned>>& links) {
  Machine machine;
  machine.name = "small";
  machine.clock = Frequency::hertz(2e9);
  machine.sockets = sockets;
  for (unsigned socket = 0; socket < sockets; ++socket) {
    machine.nodes.push_back({SocketId{socket}, Bytes{1 << 30}, Time::nanoseconds(60), {}});
    machine.controllers.push_back({NodeId{socket}, Bandwidth::bytes_per_second(20e9), Bandwidth::bytes_per_second(16e9), {}});
    for (unsigned core = 0; core < cores_per_socket; ++core) machine.core_node.push_back(NodeId{socket});
  }
  CacheDescription first;
  first.level = 1;
  first.size = Bytes{32 * 1024};
  first.ways = 8;
  first.latency = Time::nanoseconds(2);
  CacheDescription last;
  last.level = 2;
  last.size = Bytes{1 << 20};
  last.ways = 16;
  last.cores_per_cache = cores_per_socket;
  last.latency = Time::nanoseconds(15);
  machine.caches = {first, last};
  for (const auto& [from, to] : links)
    machine.links.push_back({SocketId{from}, SocketId{to}, Bandwidth::bytes_per_second(9e9), Time::nanoseconds(40)});
  machine.core_to_core_local = Time::nanoseconds(30);
  machine.core_to_core_remote = Time::nanoseconds(70);
  machine.fork_base = machine.barrier_base = Time::nanoseconds(500);
  return machine;
}

}  // namespace homenode
