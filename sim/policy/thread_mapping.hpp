// Thread -> set of cores it may run on. sim's scheduler picks the core and, when threads share one, the time slices.
#pragma once

#include <vector>

#include "sim/ids.hpp"
#include "sim/machine.hpp"

namespace homenode {

class ThreadGraph;  // who created and who feeds whom; for mappings that use it

class ThreadMapping {
public:
  virtual ~ThreadMapping() = default;
  virtual void prepare(const ThreadGraph*, const Machine&, std::size_t threads) = 0;
  // Sorted, not empty. A pinned thread has one core.
  virtual std::vector<CoreId> affinity(ThreadId, Time) = 0;
};

}  // namespace homenode
