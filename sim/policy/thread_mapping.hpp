// Thread -> set of cores it may run on. sim's scheduler (scheduler.hpp) picks the core and, when threads share one, the time slices.
#pragma once

#include <vector>

#include "sim/base/ids.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

class ThreadGraph;  // who created and who feeds whom: thread_graph.hpp

class ThreadMapping {
public:
  virtual ~ThreadMapping() = default;
  // True: `prepare` needs a graph. False: it may get null.
  virtual bool wants_graph() const { return false; }
  virtual void prepare(const ThreadGraph*, const Machine&, std::size_t threads) = 0;
  // Sorted, not empty. A pinned thread has one core.
  virtual std::vector<CoreId> affinity(ThreadId, Time) = 0;
  // How long a thread that waits for its team spins before it sleeps. Used for threads that may run on more than one core.
  virtual Time spin() const { return Time{}; }
  // Time that the creator of a thread spends on binding it (pthread_setaffinity_np).
  virtual Time pinning_cost() const { return Time{}; }
  // Factor on the operating system's rate of daemons, for threads that may run on more than one core.
  virtual double disturbances() const { return 1; }
};

}  // namespace homenode
