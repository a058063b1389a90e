// Which iterations a thread takes next. One instance serves one region; prepare starts each of its executions.
// Every iteration is handed out exactly once; a call never looks at the future.
// Of a region of tasks the iterations come one by one: `submit` or `queue` tells of each that is ready to run, and `next` hands it
// out, or says `wait` while there is none.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/hardware/memory_model.hpp"
#include "sim/machine.hpp"

namespace homenode {

class CostOracle;  // closed-form estimates, for distributions that weigh threads

struct Team {  // thread t of the team runs on core[t]
  std::vector<CoreId> core;
  const Machine* machine = nullptr;
  std::size_t size() const { return core.size(); }
};

struct RegionView {
  ExecutionId execution;
  const Region* region = nullptr;
  std::int64_t iterations = 0;
};

struct Decision {
  enum class Kind { run, wait, finished };  // wait: asked again at the next submit or complete
  Kind kind = Kind::finished;
  ItemRange items;
  Time overhead;
};

struct Submit {
  enum class Kind { queued, producer_must_run_it };
  Kind kind = Kind::producer_must_run_it;
  Time overhead;  // of the producer
};

class WorkDistribution {
public:
  virtual ~WorkDistribution() = default;
  virtual void prepare(const RegionView&, const Team&, const CostOracle*) = 0;
  virtual Decision next(ThreadId, Time) = 0;
  virtual void complete(ItemRange, ThreadId, Time) {}

  // Tasks, one iteration each; only a distribution that runs tasks serves their regions.
  virtual bool runs_tasks() const { return false; }
  // The thread creates a task that may run at once.
  virtual Submit submit(const ItemRange&, ThreadId, Time) { return {}; }
  // The last task that this one depends on is done; it cannot be refused. The thread is its creator.
  virtual void queue(const ItemRange&, ThreadId, Time) {}
  // A queued task is run by a thread that waits for it: `next` must not hand it out any more. False: that thread may not.
  virtual bool withdraw(const ItemRange&, ThreadId) { return true; }
};

}  // namespace homenode
