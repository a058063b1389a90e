// What one line costs the links, by who asks, where it lives and how coherence looks for copies (contracts.md, "Links carry
// messages"). Computed once a machine; a slice then adds sparse rows.
#pragma once

#include <vector>

#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

// Bytes on one directed link.
struct LinkBytes {
  LinkId link;
  double bytes = 0;
};

class MessageCosts {
public:
  MessageCosts(const Machine&, const Topology&);

  // A line read from `home` by a core of `reader`: request, data, and the snoops of the machine's mode.
  const std::vector<LinkBytes>& read(SocketId reader, NodeId home) const { return read_[index(reader, home)]; }
  // A line written without having been read (non-temporal store): data and completion, and snoops as for a read.
  const std::vector<LinkBytes>& non_temporal_write(SocketId writer, NodeId home) const { return non_temporal_[index(writer, home)]; }
  // A modified line evicted to its home: data and completion; nobody else can hold it, so no snoops.
  const std::vector<LinkBytes>& writeback(SocketId writer, NodeId home) const { return writeback_[index(writer, home)]; }
  // Ownership of a line that the writer holds shared: snoops only; none with a directory, which knows the sharers.
  const std::vector<LinkBytes>& upgrade(SocketId writer) const { return upgrade_[writer.index()]; }
  // A line served by another core's cache: request to where the mode asks, forward to the owner, data from there. The socket of the
  // home answers for it, also for memory behind a link of its own.
  std::vector<LinkBytes> transfer(SocketId reader, SocketId home, SocketId owner) const;

private:
  std::size_t index(SocketId a, NodeId b) const { return a.index() * machine_.nodes.size() + b.index(); }
  // `From` and `To`: sockets, or one of them a node.
  template <class From, class To>
  void send(From from, To to, Bytes message, std::vector<LinkBytes>& costs) const;
  void snoop(SocketId requester, SocketId home, std::vector<LinkBytes>& costs) const;

  const Machine& machine_;
  const Topology& topology_;
  std::vector<std::vector<LinkBytes>> read_, non_temporal_, writeback_, upgrade_;
};

}  // namespace homenode
