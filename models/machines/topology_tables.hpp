// What `homenode machines NAME` shows: the node-to-node matrices as the model computes them.
#pragma once

#include <string>
#include <vector>

#include "sim/machine/topology.hpp"

namespace homenode {

struct TopologyTables {
  struct Link {
    unsigned from = 0, to = 0;       // sockets
    std::string bandwidth, latency;  // with units
  };
  std::vector<std::vector<double>> latency_ns;             // [initiator node][home node], idle
  std::vector<std::vector<double>> bandwidth_bytes_per_s;  // read by all cores of the initiator node, idle
  std::vector<std::vector<unsigned>> hops;                 // [node][node]
  std::vector<unsigned> socket_of_node, cores_of_node;
  std::vector<Link> links;
};

TopologyTables topology_tables(const Machine&, const Topology&);

}  // namespace homenode
