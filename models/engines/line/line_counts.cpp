#include "models/engines/line/line_counts.hpp"

#include <algorithm>

namespace homenode {

LineCounts::LineCounts(const Machine& machine, const Topology& topology)
    : machine_{machine},
      topology_{topology},
      line_bytes_{static_cast<std::uint64_t>(machine.caches.empty() ? 64 : machine.caches.front().line.count())} {
  const std::size_t nodes = machine.nodes.size();
  events.nodes = nodes;
  events.traffic_bytes.assign(nodes * nodes, 0);
  events.read_bytes.assign(nodes, 0);
  events.write_bytes.assign(nodes, 0);
  events.link_bytes.assign(topology.directed_links(), 0);
  events.hit_lines.assign(machine.caches.size(), 0);
  for (auto& of_source : short_) of_source.assign(static_cast<std::size_t>(short_latencies), 0);
}

void LineCounts::add_thread(ThreadId thread) {
  const std::size_t threads = std::max(events.local_bytes.size(), thread.index() + 1);
  events.local_bytes.resize(threads, 0);
  events.remote_bytes.resize(threads, 0);
}

void LineCounts::memory(const Asker& asker, ThreadId thread, NodeId home, bool write, std::uint64_t lines) {
  const std::uint64_t bytes = lines * line_bytes_;
  events.traffic_bytes[asker.node.index() * events.nodes + home.index()] += bytes;
  (write ? events.write_bytes : events.read_bytes)[home.index()] += bytes;
  events.memory_lines += lines;
  (asker.node == home ? events.local_bytes : events.remote_bytes)[thread.index()] += bytes;
}

void LineCounts::at_end(NodeId home, std::uint64_t lines) {
  const std::uint64_t bytes = lines * line_bytes_;
  events.traffic_bytes[home.index() * events.nodes + home.index()] += bytes;
  events.write_bytes[home.index()] += bytes;
  events.memory_lines += lines;
}

LineSource LineCounts::memory_source(const Asker& asker, NodeId home) const {
  if (asker.node == home) return LineSource::local;
  switch (topology_.hops(asker.socket, machine_.socket_of(home))) {
    case 0:
      return LineSource::same_socket;
    case 1:
      return LineSource::one_hop;
    case 2:
      return LineSource::two_hops;
    default:
      return LineSource::more_hops;
  }
}

EventCounts LineCounts::all() const {
  static constexpr std::array<const char*, sources> names{
      "L2", "L3", "local", "same socket", "1 hop", "2 hops", "more hops", "clean transfer", "transfer", "upgrade", "non_temporal"};
  EventCounts counts = events;
  for (std::size_t source = 0; source < sources; ++source) {
    for (std::size_t nanoseconds = 0; nanoseconds < short_[source].size(); ++nanoseconds) {
      const std::uint64_t lines = short_[source][nanoseconds];
      if (lines != 0) counts.latency_ns[names[source]][static_cast<std::int64_t>(nanoseconds)] += lines;
    }
    for (const auto& [nanoseconds, lines] : long_[source]) counts.latency_ns[names[source]][nanoseconds] += lines;
  }
  return counts;
}

}  // namespace homenode
