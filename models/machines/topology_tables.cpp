#include "models/machines/topology_tables.hpp"

namespace homenode {

TopologyTables topology_tables(const Machine& machine, const Topology& topology) {
  const std::size_t nodes = machine.nodes.size();
  TopologyTables tables;
  tables.latency_ns.resize(nodes);
  tables.bandwidth_bytes_per_s.resize(nodes);
  tables.hops.resize(nodes);
  tables.cores_of_node.resize(nodes);
  for (std::size_t initiator = 0; initiator < nodes; ++initiator) {
    const NodeId from{initiator};
    tables.socket_of_node.push_back(machine.socket_of(from).value());
    for (std::size_t home = 0; home < nodes; ++home) {
      const NodeId to{home};
      tables.latency_ns[initiator].push_back(topology.latency(from, to).nanoseconds());
      tables.bandwidth_bytes_per_s[initiator].push_back(topology.read_bandwidth(from, to).bytes_per_second());
      tables.hops[initiator].push_back(static_cast<unsigned>(topology.hops(machine.socket_of(from), machine.socket_of(to))));
    }
  }
  for (const NodeId node : machine.core_node) ++tables.cores_of_node[node.index()];
  for (const LinkDescription& link : machine.links)
    tables.links.push_back({link.from.value(), link.to.value(), to_string(link.bandwidth), to_string(link.latency)});
  return tables;
}

}  // namespace homenode
