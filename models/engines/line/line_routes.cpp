#include "models/engines/line/line_routes.hpp"

#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/machine/transfer_latency.hpp"

namespace homenode {

SocketRoutes::SocketRoutes(const Machine& machine, const Topology& topology, std::int64_t controller_idle)
    : machine_{machine},
      topology_{topology},
      nodes_{machine.nodes.size()},
      sockets_{machine.sockets},
      controllers_of_(machine.nodes.size()) {
  for (std::size_t c = 0; c < machine.controllers.size(); ++c) controllers_of_[machine.controllers[c].node.index()].push_back(c);
  const MessageCosts messages{machine, topology};
  const Time nearest = machine.core_to_core_nearest();
  for (std::size_t a = 0; a < nodes_; ++a) {
    for (std::size_t b = 0; b < nodes_; ++b) {
      const NodeId core{a}, home{b};
      const SocketId here = machine.socket_of(core), there = machine.socket_of(home);
      const std::int64_t under_way = topology.side_cache_latency(core, home).count() - controller_idle;
      if (under_way < 0) {
        throw InputError("machine '" + machine.name + "': memory of node " + std::to_string(b) + " answers node " + std::to_string(a) +
                         " after " + to_string(topology.side_cache_latency(core, home)) + ", its DRAM alone takes " +
                         to_string(Time::picoseconds(controller_idle)) + "; allowed: dram.activate + dram.column of at most the latency");
      }
      LinePath& read = read_.emplace_back();
      read.stages.push_back({PathStage::controller, under_way / 2, 0, {}});
      read.after = under_way - under_way / 2;
      send(read, topology.route(home, here), machine.data_message, 0);
      beside(read, messages.read(here, home));
      LinePath& non_temporal = non_temporal_.emplace_back();
      send(non_temporal, topology.route(here, home), machine.data_message, 0);
      non_temporal.stages.push_back({PathStage::controller, under_way / 2, 0, {}});
      non_temporal.after = under_way - under_way / 2;
      beside(non_temporal, messages.non_temporal_write(here, home));
      beside(writeback_.emplace_back(), messages.writeback(here, home));
      for (std::size_t c = 0; c <= sockets_; ++c) {
        const SocketId owner = c < sockets_ ? SocketId{c} : here;
        const std::int64_t latency = (c < sockets_ ? transfer_latency(machine, topology, here, owner) : nearest).count();
        LinePath& transfer = transfer_.emplace_back();
        send(transfer, topology.route(owner, here), machine.data_message, latency / 2);
        transfer.after = transfer.stages.empty() ? latency : latency - latency / 2;
        beside(transfer, messages.transfer(here, there, owner));
      }
    }
  }
  for (std::size_t a = 0; a < sockets_; ++a) {
    for (std::size_t b = 0; b <= sockets_; ++b) {
      LinePath& upgrade = upgrade_.emplace_back();
      upgrade.after = (b < sockets_ ? transfer_latency(machine, topology, SocketId{a}, SocketId{b}) : nearest).count();
      beside(upgrade, messages.upgrade(SocketId{a}));
    }
  }
}

std::int64_t SocketRoutes::held(LinkId link, double bytes) const {
  return std::llround(bytes / topology_.bandwidth(link).bytes_per_second() * 1e12);
}

// The message's links in order; it reaches the first one after `before`.
void SocketRoutes::send(LinePath& path, const std::vector<LinkId>& route, Bytes message, std::int64_t before) const {
  for (const LinkId link : route) {
    path.stages.push_back({link.value(), before, held(link, static_cast<double>(message.count())), {}});
    before = 0;
  }
}

// What of all messages is on none of the stages.
void SocketRoutes::beside(LinePath& path, const std::vector<LinkBytes>& all) const {
  path.counted = all;
  for (const LinkBytes& bytes : all) {
    std::int64_t rest = held(bytes.link, bytes.bytes);
    for (const PathStage& stage : path.stages)
      if (stage.link == bytes.link.value()) rest -= stage.held;
    if (rest > 0) path.beside.push_back({bytes.link.value(), rest});
  }
}

}  // namespace homenode
