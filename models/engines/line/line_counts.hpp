// What the engine line counts: bytes (traffic_counts.hpp), and how long lines took by where they came from.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "models/engines/line/line_routes.hpp"
#include "models/engines/parts/traffic_counts.hpp"

namespace homenode {

// Where a line that a core waited for came from.
enum class LineSource : std::uint8_t {
  l2,
  l3,
  local,  // from memory, in the order of Distance
  same_socket,
  one_hop,
  two_hops,
  more_hops,
  clean_copy,
  dirty_copy,
  upgraded,
  non_temporal,  // went to memory; nobody waited for data
  count
};

class LineCounts : public TrafficCounts {  // `events`: but latencies
public:
  // Machine and topology must outlive it.
  LineCounts(const Machine&, const Topology&);

  void latency(LineSource source, std::int64_t picoseconds, std::uint64_t lines = 1) {
    if (source == LineSource::non_temporal) return;
    const std::int64_t nanoseconds = (picoseconds + 500) / 1000;
    if (nanoseconds < short_latencies)
      short_[static_cast<std::size_t>(source)][static_cast<std::size_t>(nanoseconds)] += lines;
    else
      long_[static_cast<std::size_t>(source)][nanoseconds] += lines;
  }
  LineSource memory_source(const Asker&, NodeId home) const;
  EventCounts all() const;

private:
  static constexpr std::int64_t short_latencies = 4096;  // nanoseconds
  static constexpr auto sources = static_cast<std::size_t>(LineSource::count);

  const Machine& machine_;
  const Topology& topology_;
  std::array<std::vector<std::uint64_t>, sources> short_;
  std::array<std::map<std::int64_t, std::uint64_t>, sources> long_;
};

}  // namespace homenode
