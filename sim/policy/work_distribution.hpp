// Which iterations a thread takes next. One instance serves one region; prepare starts each of its executions.
// Every iteration is handed out exactly once; a call never looks at the future.
// Of a region of tasks the iterations come one by one: `submit` or `queue` tells of each that is ready to run, and `next` hands it
// out, or says `wait` while there is none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <typeindex>
#include <typeinfo>
#include <vector>

#include "sim/hardware/memory_model.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

class CostOracle;  // closed-form estimates, for distributions that weigh threads

struct Team {  // thread t of the team runs on core[t]
  std::vector<CoreId> core;
  const Machine* machine = nullptr;
  std::size_t size() const { return core.size(); }
};

// Where the data of iterations lie now.
class ItemHomes {
public:
  virtual ~ItemHomes() = default;
  // The node of most of what the iteration writes; none() if none of it is placed.
  virtual NodeId home(std::int64_t iteration) const = 0;
};

// What the distributions of one replay keep from loop to loop: a state for each type of state that one asks for, empty at first.
class LoopMemory {
public:
  template <class State>
  State& of() {
    std::shared_ptr<void>& state = states_[typeid(State)];
    if (!state) state = std::make_shared<State>();
    return *static_cast<State*>(state.get());
  }

private:
  std::map<std::type_index, std::shared_ptr<void>> states_;
};

struct RegionView {
  ExecutionId execution;
  const Region* region = nullptr;
  std::int64_t iterations = 0;
  const ItemHomes* homes = nullptr;  // both live as long as the execution; null where nobody keeps them
  LoopMemory* memory = nullptr;
  std::uint64_t seed = 0;  // of what chance decides
};

struct Decision {
  // wait: asked again at the next submit or complete, or once another thread was busy; busy: the thread works for the distribution
  // itself for the time of the overhead, and is asked again.
  enum class Kind { run, wait, busy, finished };
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
  // The oracle is there if the distribution wants estimates and the run can give them.
  virtual bool wants_estimates() const { return false; }
  virtual void prepare(const RegionView&, const Team&, const CostOracle*) = 0;
  virtual Decision next(ThreadId, Time) = 0;
  virtual void complete(ItemRange, ThreadId, Time) {}
  // A copy of what `prepare` made, to be asked for every thread's iterations before the execution begins: there, if what `next` hands to a
  // thread depends on nothing but how often that thread has asked.
  virtual std::unique_ptr<WorkDistribution> fixed_schedule() const { return nullptr; }

  // Tasks, one iteration each; only a distribution that runs tasks serves their regions.
  virtual bool can_run_tasks() const { return false; }
  // The thread creates a task that may run at once.
  virtual Submit submit(const ItemRange&, ThreadId, Time) { return {}; }
  // The last task that this one depends on is done; it cannot be refused. The thread is its creator.
  virtual void queue(const ItemRange&, ThreadId, Time) {}
  // A queued task is run by a thread that waits for it: `next` must not hand it out any more. False: that thread may not.
  virtual bool withdraw(const ItemRange&, ThreadId) { return true; }
};

}  // namespace homenode
