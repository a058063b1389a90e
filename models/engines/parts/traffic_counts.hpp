// Bytes at the controllers, by who moved them and where they live.
#pragma once

#include <cstdint>

#include "sim/hardware/memory_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

// Between a core's node and a line's home.
enum class Distance : std::uint8_t { local, same_socket, one_hop, two_hops, more_hops };
Distance distance(const Machine&, const Topology&, NodeId reader, NodeId home);
const char* name_of(Distance);  // as a source of latencies

class TrafficCounts {
public:
  TrafficCounts(const Machine&, const Topology&);

  EventCounts events;

  void add_thread(ThreadId);                                                                   // before anything of it is counted
  void memory(NodeId node, ThreadId, NodeId home, std::uint64_t reads, std::uint64_t writes);  // lines
  // Of a home's reads: what its memory-side cache had; and lines written for the directory in memory, which are bytes of its controllers.
  void remembered(NodeId home, std::uint64_t reads, std::uint64_t hits, std::uint64_t noted);
  void at_end(NodeId home, std::uint64_t lines);  // written back when nobody runs, counted as written by the home's own node

private:
  std::uint64_t line_bytes_;
  std::vector<bool> side_cache_;  // by node
};

}  // namespace homenode
