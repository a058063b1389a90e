// What the engine line counts: bytes by home, thread and link, and how long lines took by where they came from.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "models/engines/line/line_routes.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

// Where a line that a core waited for came from.
enum class LineSource : std::uint8_t {
  l2,
  l3,
  local,
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

class LineCounts {
public:
  // Machine and topology must outlive it.
  LineCounts(const Machine&, const Topology&);

  EventCounts events;  // but latencies

  void add_thread(ThreadId);  // before anything of it is counted
  void memory(const Asker&, ThreadId, NodeId home, bool write, std::uint64_t lines);
  void at_end(NodeId home, std::uint64_t lines);  // written back when nobody runs
  void latency(LineSource source, std::int64_t picoseconds) {
    if (source == LineSource::non_temporal) return;
    const std::int64_t nanoseconds = (picoseconds + 500) / 1000;
    if (nanoseconds < short_latencies)
      ++short_[static_cast<std::size_t>(source)][static_cast<std::size_t>(nanoseconds)];
    else
      ++long_[static_cast<std::size_t>(source)][nanoseconds];
  }
  LineSource memory_source(const Asker&, NodeId home) const;
  EventCounts all() const;

private:
  static constexpr std::int64_t short_latencies = 4096;  // nanoseconds
  static constexpr auto sources = static_cast<std::size_t>(LineSource::count);

  const Machine& machine_;
  const Topology& topology_;
  std::uint64_t line_bytes_;
  std::array<std::vector<std::uint64_t>, sources> short_;
  std::array<std::map<std::int64_t, std::uint64_t>, sources> long_;
};

}  // namespace homenode
