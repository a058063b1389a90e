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
  // Whether `prepare` needs a graph; it may get none otherwise.
  virtual bool wants_graph() const { return false; }
  virtual void prepare(const ThreadGraph*, const Machine&, std::size_t threads) = 0;
  // Sorted, not empty. A pinned thread has one core.
  virtual std::vector<CoreId> affinity(ThreadId, Time) = 0;
  // How long a thread that waits for its team keeps its core before it sleeps; matters to threads with more than one core.
  virtual Time spin() const { return Time{}; }
  // What binding a created thread (pthread_setaffinity_np) costs its creator.
  virtual Time pinning_cost() const { return Time{}; }
  // Daemons disturb threads with more than one core this many times as often as the operating system's description says.
  virtual double disturbances() const { return 1; }
};

}  // namespace homenode
