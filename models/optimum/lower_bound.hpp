// A time that no placement of pages can beat, for the items that each thread ran and the lines that its caches let through.
//
// Executions fall into phases that follow each other: serial code, and the executions of a team between two barriers (if the program
// creates threads itself, all of it is one phase). A phase takes at least
//   - the time of its busiest thread, and of its busiest core, with every line from the nearest idle memory and without page faults
//     (all-local core time), and
//   - for every set S of sockets, what memory needs to serve the lines that cores of S exchange with it (bottleneck bound): R reads of
//     cost r and W writes of cost w at the controllers of S together, less what the links into and out of S can carry meanwhile,
//       T >= (R r + W w) / (1 + (L_in r + L_out w) / data message),
//     likewise of reads or writes alone: the cut condition of a flow from controllers to sockets. All sets are looked at up to 8 sockets,
//     beyond that single ones and all.
// A run takes at least the sum of its phases, and at least all of its work, page faults included, spread evenly over its threads.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/hardware/memory_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

class LowerBound {
public:
  struct Slice {
    ExecutionId execution;
    Place place;
    Time least;                           // its core time with idle local memory, without page faults
    Time faults;                          // kernel time of its page faults
    std::uint64_t reads = 0, writes = 0;  // lines exchanged with memory
  };

  LowerBound(const Workload&, const Machine&);
  void add(const Slice&);
  LeastTime result() const;
  std::uint32_t phase(ExecutionId execution) const { return phase_of_[execution.index()]; }

private:
  struct Cut {
    std::vector<bool> inside;    // by node
    double read = 0, write = 0;  // seconds a line, at all its controllers together
    double crossing = 0;         // lines a second that its links carry in each direction
  };
  struct Phase {
    std::uint32_t number = 0;
    std::vector<Time> by_thread, by_core, by_region;
    std::vector<std::uint64_t> reads, writes;  // by node of the core
  };
  void add_cut(const std::vector<bool>& socket_inside);
  void close(const Phase&, LeastTime&) const;

  const Workload& workload_;
  const Machine& machine_;
  std::vector<std::uint32_t> phase_of_;  // by execution
  std::vector<Cut> cuts_;
  Phase phase_;
  LeastTime closed_;
};

}  // namespace homenode
