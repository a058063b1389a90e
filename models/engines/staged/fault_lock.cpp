#include "models/engines/staged/fault_lock.hpp"

#include <algorithm>

#include "sim/machine/transfer_latency.hpp"

namespace homenode {

FaultLock::FaultLock(const Machine& machine, const Topology& topology, const FaultCost& cost)
    : machine_{machine}, topology_{topology}, cost_{cost}, faulting_(machine.sockets, 0) {}

Time FaultLock::transfers_from_others(SocketId socket) const {
  Time sum;
  for (std::size_t other = 0; other < faulting_.size(); ++other)
    if (faulting_[other] != 0)
      sum += transfer_latency(machine_, topology_, socket, SocketId{other}) * static_cast<std::int64_t>(faulting_[other]);
  return sum;
}

// n slices that fault hand the lock to each other, each as likely: S / n transfers for one fault of each, S summed over ordered pairs.
// A slice is charged with what it adds to that, for those that began before it will wait for it as well.
double FaultLock::seconds(SocketId socket) const {
  if (cost_.serial_transfers == 0 || slices_ == 0) return cost_.serial.seconds();
  const auto others = static_cast<double>(slices_);
  const double added = 2 * transfers_from_others(socket).seconds() - pairs_.seconds() / others;
  return cost_.serial.seconds() + cost_.serial_transfers * std::max(added, 0.0) / (others + 1);
}

void FaultLock::enter(SocketId socket) {
  pairs_ += transfers_from_others(socket) * 2;
  ++faulting_[socket.index()];
  ++slices_;
}

void FaultLock::leave(SocketId socket) {
  --faulting_[socket.index()];
  --slices_;
  pairs_ -= transfers_from_others(socket) * 2;
}

}  // namespace homenode
