// Routes between sockets over the machine's links, through hubs and other sockets (Boost.Graph: fewest hops, then least latency, then
// lowest link number), and what follows from them: unloaded latency and bandwidth of each node as seen from each node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/machine/machine.hpp"

namespace homenode {

class Topology {
public:
  // Throws InputError when a socket cannot be reached.
  explicit Topology(const Machine&);

  std::size_t directed_links() const { return links_.size(); }
  // Link l of the machine is LinkId{2l} in direction from -> to and LinkId{2l+1} in direction to -> from. Behind them come the links of
  // nodes that have one of their own, in the order of the nodes: towards the cores, then towards the memory.
  const std::vector<LinkId>& route(SocketId from, SocketId to) const { return routes_[from.index() * sockets_ + to.index()]; }
  // To the memory of a node, and from it.
  std::vector<LinkId> route(SocketId from, NodeId home) const;
  std::vector<LinkId> route(NodeId home, SocketId to) const;
  Bandwidth bandwidth(LinkId link) const { return links_[link.index()].bandwidth; }  // raw, in this direction
  const std::string& name(LinkId link) const { return links_[link.index()].name; }   // "0->1", "hub 0->2", "node 2->0"
  std::size_t hops(SocketId from, SocketId to) const { return route(from, to).size(); }

  // Load-to-use latency of memory on `home` for a core of `initiator`, on an idle machine.
  Time latency(NodeId initiator, NodeId home) const { return latency_[initiator.index() * nodes_ + home.index()]; }
  // The same of a line that the node's memory-side cache has; as of its memory where none is described.
  Time side_cache_latency(NodeId initiator, NodeId home) const { return latency(initiator, home) - miss_adds_[home.index()]; }
  // Read bandwidth that all cores of `initiator` together can draw from `home` on an idle machine: the least of
  // the controllers' read bandwidth, the links' share for data, and the cores' miss parallelism over latency; of lines that the node's
  // memory-side cache has, if it has one.
  Bandwidth read_bandwidth(NodeId initiator, NodeId home) const { return bandwidth_[initiator.index() * nodes_ + home.index()]; }

private:
  struct Directed {
    Bandwidth bandwidth;
    std::string name;
  };
  void list_links(const Machine&);

  std::size_t sockets_ = 0, nodes_ = 0;
  std::vector<Directed> links_;
  std::vector<SocketId> socket_of_;              // by node
  std::vector<std::optional<LinkId>> own_link_;  // by node, towards the cores; the next one is towards the memory
  std::vector<std::vector<LinkId>> routes_;
  std::vector<Time> latency_;
  std::vector<Time> miss_adds_;  // by node: to the latency of its memory-side cache
  std::vector<Bandwidth> bandwidth_;
};

}  // namespace homenode
