// The lock of the address space, which page faults take: how long one fault holds it, by which slices fault now (system.hpp, FaultCost).
#pragma once

#include <vector>

#include "sim/machine/machine.hpp"
#include "sim/machine/system.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

class FaultLock {
public:
  // Machine and topology must outlive it.
  FaultLock(const Machine&, const Topology&, const FaultCost&);

  // Of each fault of a slice that begins on the socket.
  double seconds(SocketId) const;
  // A slice with faults begins or ends there.
  void enter(SocketId);
  void leave(SocketId);

private:
  Time transfers_from_others(SocketId) const;  // of the lock's line, summed over the running slices that fault

  const Machine& machine_;
  const Topology& topology_;
  FaultCost cost_;
  std::vector<unsigned> faulting_;  // by socket: running slices that fault
  std::int64_t slices_ = 0;         // their sum
  Time pairs_;                      // transfers between them, summed over ordered pairs
};

}  // namespace homenode
