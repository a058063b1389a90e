// Tiny machines with round numbers, so that a test can write its equation down. None of them is a real machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/machine/machine.hpp"

namespace homenode::test {

// `sockets` sockets of one node and `cores` cores each, joined by `links`; every number is the same everywhere:
//   clock 2 GHz; L1 32 KiB 1 ns, L2 256 KiB 5 ns (private), L3 8 MiB 20 ns (one a socket, inclusive); lines of 64 bytes;
//   memory 100 ns local, 50 ns more each hop; controllers read 24 GB/s, 1:1 mix 16 GB/s (so writes alone: 12 GB/s),
//   latency under load + 0 up to half use, + 100 ns at full use; links 12 GB/s in each direction;
//   10 demand misses and 16 prefetched lines in flight, from a stream's first line on; core-to-core 40 ns in a socket, 100 ns over a hop;
//   directory; no TLB.
inline Machine machine(std::string name, unsigned sockets, unsigned cores, const std::vector<std::pair<unsigned, unsigned>>& links) {
  Machine m;
  m.name = name;
  m.description = "a machine for tests";
  m.hash = "test-" + std::move(name);
  m.clock = Frequency::hertz(2e9);
  m.sockets = sockets;
  for (unsigned socket = 0; socket < sockets; ++socket) {
    m.nodes.push_back({SocketId{socket}, Bytes{std::int64_t{4} << 30}, Time::nanoseconds(100), {}});
    m.controllers.push_back({NodeId{socket},
                             Bandwidth::bytes_per_second(24e9),
                             Bandwidth::bytes_per_second(16e9),
                             {{0.5, Time{}}, {1.0, Time::nanoseconds(100)}}});
    for (unsigned core = 0; core < cores; ++core) m.core_node.push_back(NodeId{socket});
  }
  const auto cache = [&](unsigned level, std::int64_t size, unsigned ways, unsigned shared_by, double nanoseconds) {
    CacheDescription description;
    description.level = level;
    description.size = Bytes{size};
    description.ways = ways;
    description.cores_per_cache = shared_by;
    description.latency = Time::nanoseconds(nanoseconds);
    m.caches.push_back(description);
  };
  cache(1, 32 << 10, 8, 1, 1);
  cache(2, 256 << 10, 8, 1, 5);
  cache(3, 8 << 20, 16, cores, 20);
  for (const auto& [from, to] : links)
    m.links.push_back({SocketId{from}, SocketId{to}, Bandwidth::bytes_per_second(12e9), Time::nanoseconds(50)});
  m.core_to_core_local = Time::nanoseconds(40);
  m.core_to_core_remote = Time::nanoseconds(100);
  m.prefetch_trigger = 0;
  m.fork_base = m.barrier_base = Time::nanoseconds(100);
  return m;
}

inline Machine one_node(unsigned cores = 4) { return machine("one-node", 1, cores, {}); }
inline Machine two_sockets(unsigned cores = 4) { return machine("two-sockets", 2, cores, {{0, 1}}); }
// 0-1, 0-2, 1-3, 2-3: the diagonals take two hops.
inline Machine four_socket_square(unsigned cores = 4) { return machine("four-socket-square", 4, cores, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}); }
inline Machine four_socket_mesh(unsigned cores = 4) {
  return machine("four-socket-mesh", 4, cores, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}});
}

// One socket whose four cores share two last levels (chiplets): core to core 15 ns in one, 40 ns between the two.
inline Machine chiplets() {
  Machine m = one_node();
  m.name = "chiplets";
  m.caches[2].cores_per_cache = 2;
  m.core_to_core_shared_cache = Time::nanoseconds(15);
  return m;
}
// The same with a second node, which has no cores and is behind a link of its own: 250 ns, 8 GB/s towards the cores, 4 GB/s towards the
// memory.
inline Machine chiplets_and_far_memory() {
  Machine m = chiplets();
  m.name = "chiplets-and-far-memory";
  NodeDescription far = m.nodes.front();
  far.latency = Time::nanoseconds(250);
  far.link_read = Bandwidth::bytes_per_second(8e9);
  far.link_write = Bandwidth::bytes_per_second(4e9);
  m.nodes.push_back(far);
  ControllerDescription controller = m.controllers.front();
  controller.node = NodeId{1u};
  m.controllers.push_back(controller);
  return m;
}

}  // namespace homenode::test
