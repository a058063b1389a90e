#include "models/engines/parts/traffic_counts.hpp"

#include <algorithm>
#include <array>

#include "sim/machine/line_bytes.hpp"

namespace homenode {

Distance distance(const Machine& machine, const Topology& topology, NodeId reader, NodeId home) {
  if (reader == home) return Distance::local;
  constexpr auto nearest = static_cast<std::size_t>(Distance::same_socket), farthest = static_cast<std::size_t>(Distance::more_hops);
  return static_cast<Distance>(std::min(nearest + topology.hops(machine.socket_of(reader), machine.socket_of(home)), farthest));
}

const char* name_of(Distance distance) {
  static constexpr std::array<const char*, 5> names{"local", "same socket", "1 hop", "2 hops", "more hops"};
  return names.at(static_cast<std::size_t>(distance));
}

TrafficCounts::TrafficCounts(const Machine& machine, const Topology& topology) : line_bytes_{line_bytes(machine)} {
  const std::size_t nodes = machine.nodes.size();
  events.nodes = nodes;
  events.traffic_bytes.assign(nodes * nodes, 0);
  events.read_bytes.assign(nodes, 0);
  events.write_bytes.assign(nodes, 0);
  events.link_bytes.assign(topology.directed_links(), 0);
  events.hit_lines.assign(machine.caches.size(), 0);
  if (machine.has_side_caches()) events.side_cache_hits = events.side_cache_misses = std::vector<std::uint64_t>(nodes, 0);
  for (const NodeDescription& node : machine.nodes) side_cache_.push_back(node.has_side_cache());
}

void TrafficCounts::add_thread(ThreadId thread) {
  const std::size_t threads = std::max(events.local_bytes.size(), thread.index() + 1);
  events.local_bytes.resize(threads, 0);
  events.remote_bytes.resize(threads, 0);
}

void TrafficCounts::memory(NodeId node, ThreadId thread, NodeId home, std::uint64_t reads, std::uint64_t writes) {
  const std::uint64_t lines = reads + writes, bytes = lines * line_bytes_;
  events.traffic_bytes[node.index() * events.nodes + home.index()] += bytes;
  events.read_bytes[home.index()] += reads * line_bytes_;
  events.write_bytes[home.index()] += writes * line_bytes_;
  events.memory_lines += lines;
  (node == home ? events.local_bytes : events.remote_bytes)[thread.index()] += bytes;
}

void TrafficCounts::remembered(NodeId home, std::uint64_t reads, std::uint64_t hits, std::uint64_t noted) {
  if (side_cache_[home.index()]) {
    events.side_cache_hits[home.index()] += hits;
    events.side_cache_misses[home.index()] += reads - hits;
  }
  events.directory_bytes += noted * line_bytes_;
}

void TrafficCounts::at_end(NodeId home, std::uint64_t lines) {
  const std::uint64_t bytes = lines * line_bytes_;
  events.traffic_bytes[home.index() * events.nodes + home.index()] += bytes;
  events.write_bytes[home.index()] += bytes;
  events.memory_lines += lines;
}

}  // namespace homenode
