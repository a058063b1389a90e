#include "models/machines/machine_shape.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>

#include "models/machines/machine_changes.hpp"
#include "models/machines/machine_fields.hpp"
#include "models/machines/machine_intervals.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

using Pairs = std::vector<std::pair<SocketId, SocketId>>;

void join(std::set<std::pair<unsigned, unsigned>>& pairs, unsigned a, unsigned b) {
  if (a != b) pairs.insert(std::minmax(a, b));
}

// Rows of a grid with so many places, as square as they divide it: 2 for 8, 1 for a prime.
unsigned rows_of(unsigned sockets) {
  unsigned rows = 1;
  for (unsigned candidate = 2; candidate * candidate <= sockets; ++candidate)
    if (sockets % candidate == 0) rows = candidate;
  return rows;
}

std::set<std::pair<unsigned, unsigned>> numbered_pairs(const std::string& topology, unsigned sockets) {
  std::set<std::pair<unsigned, unsigned>> pairs;
  const bool closed = topology == "ring" || topology == "torus";
  if (topology == "full") {
    for (unsigned a = 0; a < sockets; ++a)
      for (unsigned b = a + 1; b < sockets; ++b) join(pairs, a, b);
  } else if (topology == "hypercube") {
    for (unsigned a = 0; a < sockets; ++a)
      for (unsigned bit = 1; bit < sockets; bit *= 2) join(pairs, a, a ^ bit);
  } else {
    const unsigned rows = topology == "ring" || topology == "line" ? 1 : rows_of(sockets), columns = sockets / rows;
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned column = 0; column < columns; ++column) {
        const unsigned here = row * columns + column;
        if (closed || column + 1 < columns) join(pairs, here, row * columns + (column + 1) % columns);
        if (closed || row + 1 < rows) join(pairs, here, (row + 1) % rows * columns + column);
      }
  }
  return pairs;
}

bool same_values(std::vector<MachineField> a, std::vector<MachineField> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const MachineField& x, const MachineField& y) { return text_of(x) == text_of(y); });
}

template <class Descriptions>
bool all_alike(Descriptions descriptions) {  // a copy: fields point into something that could be changed
  return std::all_of(descriptions.begin(), descriptions.end(),
                     [&](auto& one) { return same_values(fields_of(one), fields_of(descriptions.front())); });
}

// Every node has as many members, such as cores or controllers.
template <class NodeOf>
bool shared_evenly(std::size_t members, std::size_t nodes, NodeOf&& node_of) {
  std::vector<std::size_t> count(nodes);
  for (std::size_t i = 0; i < members; ++i) ++count[node_of(i)];
  return std::all_of(count.begin(), count.end(), [&](std::size_t one) { return one == count.front(); });
}

unsigned socket_count(const std::string& text, const Machine& machine) {
  const std::size_t most_sockets = most_nodes / (machine.nodes.size() / machine.sockets);
  unsigned count = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (status != std::errc{} || end != text.data() + text.size() || count < 1 || count > most_sockets)
    throw UsageError("parameter 'sockets' of machine '" + machine.name + "': '" + text + "'; allowed: 1 to " +
                     std::to_string(most_sockets));
  return count;
}

void set_sockets(Machine& machine, unsigned sockets) {
  const std::size_t nodes = machine.nodes.size() / machine.sockets, cores = machine.cores() / machine.nodes.size();
  const std::size_t controllers = machine.controllers.size() / machine.nodes.size();
  const NodeDescription node = machine.nodes.front();
  ControllerDescription controller = machine.controllers.front();
  machine.sockets = sockets;
  machine.nodes.assign(nodes * sockets, node);
  machine.core_node.clear();
  machine.controllers.clear();
  for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
    machine.nodes[n].socket = SocketId{n / nodes};
    machine.core_node.insert(machine.core_node.end(), cores, NodeId{n});
    controller.node = NodeId{n};
    machine.controllers.insert(machine.controllers.end(), controllers, controller);
  }
}

bool joins_all(const Machine& machine) {
  std::set<std::pair<unsigned, unsigned>> pairs;
  for (const LinkDescription& link : machine.links) join(pairs, link.from.value(), link.to.value());
  return pairs == numbered_pairs("full", machine.sockets);
}

}  // namespace

std::vector<std::string> topology_names() { return {"full", "ring", "line", "mesh", "torus", "hypercube"}; }

Pairs joined_sockets(const std::string& topology, unsigned sockets) {
  const std::vector<std::string> names = topology_names();
  if (std::find(names.begin(), names.end(), topology) == names.end()) throw UsageError(unknown_name("topology", topology, names));
  if (topology == "hypercube" && !std::has_single_bit(sockets))
    throw UsageError("a hypercube of " + std::to_string(sockets) + " sockets; allowed: 1, 2, 4, 8 and other powers of two");
  Pairs pairs;
  for (const auto& [a, b] : numbered_pairs(topology, sockets)) pairs.emplace_back(SocketId{a}, SocketId{b});
  return pairs;
}

bool can_be_reshaped(const Machine& machine) {
  const std::size_t nodes = machine.nodes.size();
  return machine.hubs == 0 && !machine.ring && !machine.links.empty() && nodes % machine.sockets == 0 && all_alike(machine.nodes) &&
         all_alike(machine.controllers) && all_alike(machine.links) &&
         shared_evenly(machine.cores(), nodes, [&](std::size_t core) { return machine.core_node[core].index(); }) &&
         shared_evenly(machine.controllers.size(), nodes, [&](std::size_t one) { return machine.controllers[one].node.index(); }) &&
         shared_evenly(nodes, machine.sockets, [&](std::size_t node) { return machine.nodes[node].socket.index(); });
}

void reshape(Machine& machine, const std::map<std::string, std::string>& changes) {
  const auto sockets = changes.find(std::string{sockets_name}), topology = changes.find(std::string{topology_name});
  if (sockets == changes.end() && topology == changes.end()) return;
  if (!can_be_reshaped(machine))
    throw UsageError("machine '" + machine.name + "' has no other number of sockets and no other topology; allowed: machines with links, " +
                     "alike nodes and alike links, without hubs and without a ring of cores");
  if (topology == changes.end() && !joins_all(machine))
    throw UsageError("sockets of machine '" + machine.name +
                     "' without 'topology', and its links do not join each socket to each; allowed: " +
                     "topology = full, ring, line, mesh, torus or hypercube as well");
  LinkDescription link = machine.links.front();
  if (sockets != changes.end()) set_sockets(machine, socket_count(sockets->second, machine));
  machine.links.clear();
  Pairs pairs;
  try {
    pairs = joined_sockets(topology == changes.end() ? "full" : topology->second, machine.sockets);
  } catch (const UsageError& error) { throw UsageError("parameter 'topology' of machine '" + machine.name + "': " + error.what()); }
  for (const auto& [from, to] : pairs) {
    link.from = from;
    link.to = to;
    machine.links.push_back(link);
  }
}

void reshape_parameters(std::vector<MachineParameter>& parameters, const Machine& reshaped) {
  const auto of_parts = [](const std::string& path) {
    return path.starts_with("nodes.") || path.starts_with("controllers.") || path.starts_with("links.");
  };
  std::set<std::string> kept;
  std::erase_if(parameters, [&](MachineParameter& parameter) {
    if (!of_parts(parameter.path)) return false;
    if (reshaped.links.empty() && parameter.path.starts_with("links.")) return true;
    parameter.path = name_without_number(parameter.path);
    return !kept.insert(parameter.path).second;
  });
  std::string between;
  for (const LinkDescription& link : reshaped.links)
    between += (between.empty() ? "" : ", ") + std::to_string(link.from.value()) + "-" + std::to_string(link.to.value());
  for (MachineParameter& parameter : parameters) {
    const bool is_links = parameter.path == "links.between";
    if (!is_links && parameter.path != sockets_name) continue;
    parameter = {.path = parameter.path, .value = is_links ? between : std::to_string(reshaped.sockets), .source = what_if_source};
    parameter.assumed = true;
  }
}

}  // namespace homenode
