#include "sim/machine/topology.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <functional>
#include <limits>
#include <string>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

// What a path costs; compared in this order, so that the choice among equal paths is always the same.
struct PathCost {
  std::size_t hops = 0;
  Time latency;
  std::vector<LinkId> links;
  auto operator<=>(const PathCost&) const = default;
};

struct DirectedLink {
  LinkId id;
  PathCost cost;
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, DirectedLink>;

struct Extend {
  PathCost operator()(const PathCost& path, const PathCost& link) const {
    PathCost sum = path;
    sum.hops += link.hops;
    sum.latency += link.latency;
    sum.links.insert(sum.links.end(), link.links.begin(), link.links.end());
    return sum;
  }
};

Graph graph_of(const Machine& machine) {
  Graph graph{machine.link_ends()};
  for (std::size_t index = 0; index < machine.links.size(); ++index) {
    const LinkDescription& link = machine.links[index];
    if (link.from.index() >= machine.link_ends() || link.to.index() >= machine.link_ends())
      throw InputError("machine '" + machine.name + "': link " + std::to_string(index) + " joins sockets " +
                       std::to_string(link.from.value()) + " and " + std::to_string(link.to.value()) + "; allowed: 0 to " +
                       std::to_string(machine.link_ends() - 1));
    const LinkId forward{2 * index}, backward{2 * index + 1};
    boost::add_edge(link.from.index(), link.to.index(), DirectedLink{forward, {1, link.latency, {forward}}}, graph);
    boost::add_edge(link.to.index(), link.from.index(), DirectedLink{backward, {1, link.latency, {backward}}}, graph);
  }
  return graph;
}

std::vector<PathCost> cheapest_paths(const Graph& graph, std::size_t from) {
  const PathCost unreached{std::numeric_limits<std::size_t>::max(), Time::max(), {}};
  std::vector<PathCost> cost(boost::num_vertices(graph), unreached);
  boost::dijkstra_shortest_paths(graph, from,
                                 boost::distance_map(cost.data())
                                     .weight_map(boost::get(&DirectedLink::cost, graph))
                                     .distance_compare(std::less<PathCost>{})
                                     .distance_combine(Extend{})
                                     .distance_inf(unreached)
                                     .distance_zero(PathCost{}));
  return cost;
}

std::vector<unsigned> cores_by_node(const Machine& machine) {
  std::vector<unsigned> cores(machine.nodes.size());
  for (const NodeId node : machine.core_node) ++cores.at(node.index());
  return cores;
}

}  // namespace

void Topology::list_links(const Machine& machine) {
  for (const LinkDescription& link : machine.links) {
    const std::string from = machine.link_end_name(link.from), to = machine.link_end_name(link.to);
    links_.push_back({link.bandwidth, from + "->" + to});
    links_.push_back({link.bandwidth, to + "->" + from});
  }
  for (std::size_t node = 0; node < nodes_; ++node) {
    const NodeDescription& described = machine.nodes[node];
    socket_of_.push_back(described.socket);
    own_link_.emplace_back();
    if (!described.link_read || !described.link_write) continue;
    own_link_.back() = LinkId{links_.size()};
    const std::string memory = "node " + std::to_string(node), cores = std::to_string(described.socket.value());
    links_.push_back({*described.link_read, memory + "->" + cores});
    links_.push_back({*described.link_write, cores + "->" + memory});
  }
}

std::vector<LinkId> Topology::route(SocketId from, NodeId home) const {
  std::vector<LinkId> links = route(from, socket_of_[home.index()]);
  if (const auto own = own_link_[home.index()]) links.emplace_back(own->value() + 1);
  return links;
}

std::vector<LinkId> Topology::route(NodeId home, SocketId to) const {
  std::vector<LinkId> links;
  if (const auto own = own_link_[home.index()]) links.push_back(*own);
  const std::vector<LinkId>& between = route(socket_of_[home.index()], to);
  links.insert(links.end(), between.begin(), between.end());
  return links;
}

Topology::Topology(const Machine& machine) : sockets_{machine.sockets}, nodes_{machine.nodes.size()} {
  const Graph graph = graph_of(machine);
  list_links(machine);
  std::vector<Time> route_latency(sockets_ * sockets_);
  routes_.resize(sockets_ * sockets_);
  for (std::size_t from = 0; from < sockets_; ++from) {
    std::vector<PathCost> paths = cheapest_paths(graph, from);
    for (std::size_t to = 0; to < sockets_; ++to) {
      if (paths[to].latency == Time::max())
        throw InputError("machine '" + machine.name + "': socket " + std::to_string(to) + " cannot be reached from socket " +
                         std::to_string(from) + "; allowed: links that join all sockets, directly or through others");
      route_latency[from * sockets_ + to] = paths[to].latency;
      routes_[from * sockets_ + to] = std::move(paths[to].links);
    }
  }

  for (const NodeDescription& node : machine.nodes) miss_adds_.push_back(node.latency - node.memory_side_latency.value_or(node.latency));
  const std::vector<unsigned> cores = cores_by_node(machine);
  const double line = machine.caches.empty() ? 64.0 : static_cast<double>(machine.caches.back().line.count());
  const double data_share = line / static_cast<double>(machine.data_message.count());
  for (std::size_t initiator = 0; initiator < nodes_; ++initiator) {
    for (std::size_t home = 0; home < nodes_; ++home) {
      const SocketId here = machine.nodes[initiator].socket, there = machine.nodes[home].socket;
      // The latency of a node without cores is given from its socket's cores: nothing is crossed in addition.
      const bool crosses_socket = initiator != home && here == there && cores[home] > 0;
      const Time latency = machine.nodes[home].latency + route_latency[here.index() * sockets_ + there.index()] +
                           (crosses_socket ? machine.between_nodes_of_socket : Time{});
      latency_.push_back(latency);

      double controllers = 0;
      for (const ControllerDescription& controller : machine.controllers)
        if (controller.node.index() == home) controllers += controller.read_only.bytes_per_second();
      if (const auto& side = machine.nodes[home].memory_side_read_only) controllers = side->bytes_per_second();
      // Little's law: lines in flight over the time each takes.
      double bandwidth = std::min(controllers, cores[initiator] * machine.prefetched_lines * line / (latency - miss_adds_[home]).seconds());
      for (const LinkId link : route(NodeId{home}, here))  // the data travel from the home to the reader
        bandwidth = std::min(bandwidth, links_[link.index()].bandwidth.bytes_per_second() * data_share);
      bandwidth_.push_back(Bandwidth::bytes_per_second(bandwidth));
    }
  }
}

}  // namespace homenode
