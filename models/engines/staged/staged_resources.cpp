// What a slice's lines take of what it shares with others: controllers, memory-side caches, links, ports of outermost caches.
#include <algorithm>
#include <cmath>

#include "models/engines/staged/staged_memory_model.hpp"

namespace homenode {

void StagedMemoryModel::use_resources(const Place& place, const CacheOutcome& outcome) {
  const SocketId socket = machine_.socket_of(place.node);
  visits_ = 0;
  use_port(place.core, outcome);
  for (std::size_t home = 0; home < machine_.nodes.size(); ++home) {
    const HomeDemand& demand = demand_.by_home()[home];
    const std::uint64_t writes = demand.writes();
    if (demand.reads + writes == 0) continue;
    const auto& controllers = controllers_of_[home];
    double longest = 0;
    std::fill(visited_links_.begin(), visited_links_.end(), 0);
    std::uint64_t from_memory = demand.reads, to_memory = writes + demand.noted;
    if (machine_.nodes[home].has_side_cache()) {  // as memory_side.hpp says
      const double seconds = static_cast<double>(demand.reads + to_memory) * side_costs_[home].read +
                             static_cast<double>(demand.reads - demand.hits + demand.fills + to_memory) * side_costs_[home].write;
      use_.add(ResourceId{first_side_cache_ + home}, seconds);
      longest = seconds;
      from_memory = demand.reads - demand.hits + demand.fills;
      to_memory = demand.victims;
    }
    for (const std::size_t c : controllers) {  // lines are spread evenly over a node's controllers
      const double all = static_cast<double>(from_memory) * line_costs_[c].read + static_cast<double>(to_memory) * line_costs_[c].write;
      const double seconds = all / static_cast<double>(controllers.size());
      use_.add(ResourceId{c}, seconds);
      longest = std::max(longest, seconds);
    }
    const NodeId there{home};
    if (demand.reads != 0) use_links(messages_.read(socket, there), demand.reads);
    const std::uint64_t non_temporal = demand.non_temporal + demand.zeroed;
    if (non_temporal != 0) use_links(messages_.non_temporal_write(socket, there), non_temporal);
    if (demand.writebacks != 0) use_links(messages_.writeback(socket, there), demand.writebacks);
    visits_ += std::max(longest, *std::max_element(visited_links_.begin(), visited_links_.end()));
  }
}

// Of the core's outermost cache.
void StagedMemoryModel::use_port(CoreId core, const CacheOutcome& outcome) {
  if (!(port_costs_.read > 0)) return;
  double in = 0, out = 0;
  for (const HomeDemand& demand : demand_.by_home()) {
    in += static_cast<double>(demand.reads);
    out += static_cast<double>(demand.writes());
  }
  for (const TransferRange& transfer : outcome.transfers)
    if (!machine_.share_outermost_cache(core, transfer.owner)) in += static_cast<double>(transfer.lines.size());
  const std::size_t port = first_port_ + 2 * machine_.cache_of(core, machine_.caches.size() - 1).index();
  use_.add(ResourceId{port}, in * port_costs_.read);
  use_.add(ResourceId{port + 1}, out * port_costs_.write);
}

void StagedMemoryModel::use_links(const std::vector<LinkBytes>& costs, std::uint64_t lines) {
  for (const LinkBytes& cost : costs) {
    const double bytes = cost.bytes * static_cast<double>(lines);
    const double bandwidth = topology_.bandwidth(cost.link).bytes_per_second();
    use_.add(ResourceId{machine_.controllers.size() + cost.link.index()}, bytes / bandwidth);
    counts_.events.link_bytes[cost.link.index()] += static_cast<std::uint64_t>(std::llround(bytes));
    visited_links_[cost.link.index()] += bytes / bandwidth;
  }
}

}  // namespace homenode
