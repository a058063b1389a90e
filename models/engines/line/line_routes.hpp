// The way of one line through a machine of sockets: which links and which controller it passes one after the other, how long it is under
// way between them on an idle machine, and which messages beside it occupy links (message_costs.hpp).
//
// On an idle machine a read of memory takes topology.latency(node, home): request, controller, data, with half of what the links add on
// either way. A transfer takes the machine's core-to-core latency (transfer_latency.hpp); so does the ownership of a line that others
// share, from the farthest of them. A link is held for a message's bytes over its bandwidth; a message leaves as soon as it is free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/engines/parts/message_costs.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

// A message's way on a machine's ring.
enum class RingKind : std::uint8_t { data, address, acknowledge };
inline constexpr std::size_t ring_kinds = 3;
struct RingRide {
  RingKind kind = RingKind::data;
  bool up = true;
  std::uint16_t stop = 0, hops = 0;  // where it boards, counted in the direction of travel
};

// Of a path: a directed link, a ride on the ring, or the home's controller.
struct PathStage {
  static constexpr std::uint32_t controller = ~std::uint32_t{0}, on_ring = controller - 1;
  std::uint32_t link = controller;
  std::int64_t before = 0;  // picoseconds under way to it
  std::int64_t held = 0;    // picoseconds of the link
  RingRide ring{};
};

struct LinkHold {
  std::uint32_t link = 0;
  std::int64_t held = 0;
};

struct LinePath {
  std::vector<PathStage> stages;
  std::int64_t after = 0;        // picoseconds from the last stage to the core
  std::vector<LinkHold> beside;  // messages that nobody waits for, at its begin
  std::vector<RingRide> rides_beside{};
  std::vector<LinkBytes> counted;  // all its bytes
};

// Who asks.
struct Asker {
  CoreId core;
  NodeId node;
  SocketId socket;
};

// Paths stay where they are.
class LineRoutes {
public:
  virtual ~LineRoutes() = default;
  // Of the home's controllers: which one, and the line's number among its own.
  struct Served {
    std::size_t controller = 0;
    LineNumber line;
  };
  virtual Served served(LineNumber, NodeId home) const = 0;
  virtual const LinePath& read(const Asker&, LineNumber, NodeId home) = 0;
  virtual const LinePath& non_temporal_write(const Asker&, LineNumber, NodeId home) = 0;
  // Nobody waits for it: no stages.
  virtual const LinePath& writeback(const Asker&, LineNumber, NodeId home) = 0;
  virtual const LinePath& transfer(const Asker&, LineNumber, NodeId home, CoreId owner) = 0;
  // Ownership of a line that this core shares with another.
  virtual const LinePath& upgrade(const Asker&, LineNumber, NodeId home, CoreId sharer) = 0;
  // No core notices what another one does sooner: picoseconds.
  virtual std::int64_t least_transfer() const = 0;
  // When a message that comes to its ring `now` arrives.
  virtual std::int64_t ride(const RingRide&, std::int64_t now) { return now; }
  // In the order of their shared resources.
  virtual std::vector<RingUse> rings() const { return {}; }
};

class SocketRoutes final : public LineRoutes {
public:
  // `controller_idle`: picoseconds of a read in an idle controller. Machine and topology must outlive it.
  SocketRoutes(const Machine&, const Topology&, std::int64_t controller_idle);

  Served served(LineNumber line, NodeId home) const override {
    const auto& controllers = controllers_of_[home.index()];
    return {controllers[line.value() % controllers.size()], LineNumber{line.value() / controllers.size()}};
  }
  const LinePath& read(const Asker& asker, LineNumber, NodeId home) override { return read_[index(asker.node, home)]; }
  const LinePath& non_temporal_write(const Asker& asker, LineNumber, NodeId home) override {
    return non_temporal_[index(asker.node, home)];
  }
  const LinePath& writeback(const Asker& asker, LineNumber, NodeId home) override { return writeback_[index(asker.node, home)]; }
  const LinePath& transfer(const Asker& asker, LineNumber, NodeId home, CoreId owner) override {
    return transfer_[index(asker.node, home) * (sockets_ + 1) + place_of(asker, owner)];
  }
  const LinePath& upgrade(const Asker& asker, LineNumber, NodeId, CoreId sharer) override {
    return upgrade_[asker.socket.index() * (sockets_ + 1) + place_of(asker, sharer)];
  }
  std::int64_t least_transfer() const override { return machine_.core_to_core_nearest().count(); }

private:
  std::size_t index(NodeId a, NodeId b) const { return a.index() * nodes_ + b.index(); }
  // Where a line comes from: another socket, or 'sockets_' for the asker's own outermost cache.
  std::size_t place_of(const Asker& asker, CoreId other) const {
    return machine_.share_outermost_cache(asker.core, other) ? sockets_ : machine_.socket_of(other).index();
  }
  std::int64_t held(LinkId, double bytes) const;
  void send(LinePath&, const std::vector<LinkId>& route, Bytes message, std::int64_t before) const;
  void beside(LinePath&, const std::vector<LinkBytes>& all) const;

  const Machine& machine_;
  const Topology& topology_;
  std::size_t nodes_, sockets_;
  std::vector<std::vector<std::size_t>> controllers_of_;  // by node
  std::vector<LinePath> read_, non_temporal_, writeback_, transfer_, upgrade_;
};

}  // namespace homenode
