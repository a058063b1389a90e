#include "models/engines/parts/message_costs.hpp"

#include <algorithm>

namespace homenode {

MessageCosts::MessageCosts(const Machine& machine, const Topology& topology) : machine_{machine}, topology_{topology} {
  const std::size_t pairs = machine.sockets * machine.nodes.size();
  read_.resize(pairs);
  non_temporal_.resize(pairs);
  writeback_.resize(pairs);
  upgrade_.resize(machine.sockets);
  for (std::size_t a = 0; a < machine.sockets; ++a) {
    const SocketId core{a};
    for (std::size_t b = 0; b < machine.nodes.size(); ++b) {
      const NodeId home{b};
      const SocketId there = machine.socket_of(home);
      send(core, home, machine.request_message, read_[index(core, home)]);
      send(home, core, machine.data_message, read_[index(core, home)]);
      snoop(core, there, read_[index(core, home)]);
      send(core, home, machine.data_message, non_temporal_[index(core, home)]);
      send(home, core, machine.response_message, non_temporal_[index(core, home)]);
      snoop(core, there, non_temporal_[index(core, home)]);
      send(core, home, machine.data_message, writeback_[index(core, home)]);
      send(home, core, machine.response_message, writeback_[index(core, home)]);
    }
    if (machine.snoop != SnoopMode::directory) snoop(core, core, upgrade_[a]);
  }
}

template <class From, class To>
void MessageCosts::send(From from, To to, Bytes message, std::vector<LinkBytes>& costs) const {
  for (const LinkId link : topology_.route(from, to)) {
    auto found = std::find_if(costs.begin(), costs.end(), [link](const LinkBytes& cost) { return cost.link == link; });
    if (found == costs.end()) found = costs.insert(costs.end(), {link, 0});
    found->bytes += static_cast<double>(message.count());
  }
}

void MessageCosts::snoop(SocketId requester, SocketId home, std::vector<LinkBytes>& costs) const {
  for (std::size_t other = 0; other < machine_.sockets; ++other) {
    const SocketId peer{other};
    if (machine_.snoop == SnoopMode::source && peer != requester) {
      send(requester, peer, machine_.snoop_message, costs);
      send(peer, requester, machine_.response_message, costs);
    }
    if (machine_.snoop == SnoopMode::home && peer != requester && peer != home) {
      send(home, peer, machine_.snoop_message, costs);
      send(peer, home, machine_.response_message, costs);
    }
  }
}

std::vector<LinkBytes> MessageCosts::transfer(SocketId reader, SocketId home, SocketId owner) const {
  std::vector<LinkBytes> costs;
  if (reader == owner) return costs;  // found in the socket's own shared cache or by its snoop filter
  if (machine_.snoop == SnoopMode::source) {
    snoop(reader, home, costs);
  } else {
    send(reader, home, machine_.request_message, costs);
    send(home, owner, machine_.snoop_message, costs);
  }
  send(owner, reader, machine_.data_message, costs);
  return costs;
}

}  // namespace homenode
