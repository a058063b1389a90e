#include "models/engines/line/line_counts.hpp"

namespace homenode {

LineCounts::LineCounts(const Machine& machine, const Topology& topology)
    : TrafficCounts{machine, topology}, machine_{machine}, topology_{topology} {
  for (auto& of_source : short_) of_source.assign(static_cast<std::size_t>(short_latencies), 0);
}

LineSource LineCounts::memory_source(const Asker& asker, NodeId home) const {
  const auto local = static_cast<std::uint8_t>(LineSource::local);
  return static_cast<LineSource>(local + static_cast<std::uint8_t>(distance(machine_, topology_, asker.node, home)));
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
