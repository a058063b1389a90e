// Which iterations a thread takes next. One instance serves one region; prepare starts each of its executions.
// Every iteration is handed out exactly once; a call never looks at the future.
// In a region of tasks iterations become ready one by one: `submit` or `queue` announces each, and `next` hands it out, or returns
// `wait` while none is ready.
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

// Home nodes of the data of iterations, at the time of the call.
class ItemHomes {
public:
  virtual ~ItemHomes() = default;
  // The node that holds most of what the iteration writes; none() if none of it is placed.
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
  const ItemHomes* homes = nullptr;  // both live as long as the execution; may be null
  LoopMemory* memory = nullptr;
  std::uint64_t seed = 0;  // for random choices
};

struct Decision {
  // wait: the thread asks again after the next submit or complete, or after another thread was busy. busy: the thread works for the
  // distribution itself (it creates a task, say) for the time of the overhead, then asks again.
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
  // `prepare` gets an oracle if the distribution wants estimates and the run can give them, else null.
  virtual bool wants_estimates() const { return false; }
  virtual void prepare(const RegionView&, const Team&, const CostOracle*) = 0;
  virtual Decision next(ThreadId, Time) = 0;
  virtual void complete(ItemRange, ThreadId, Time) {}
  // A copy that can be queried ahead of time, before the execution begins. Null unless the schedule is fixed: what `next` hands to a
  // thread depends only on how often that thread has asked, not on time.
  virtual std::unique_ptr<WorkDistribution> fixed_schedule() const { return nullptr; }

  // Tasks, one iteration each. Regions of tasks need a distribution that can run tasks.
  virtual bool can_run_tasks() const { return false; }
  // The thread creates a task that is ready to run.
  virtual Submit submit(const ItemRange&, ThreadId, Time) { return {}; }
  // A task becomes ready because the last one that it depends on is done. It cannot be refused. The thread is its creator.
  virtual void queue(const ItemRange&, ThreadId, Time) {}
  // A thread that waits for a queued task wants to run it itself. True: `next` will not hand it out. False: that thread may not run it.
  virtual bool withdraw(const ItemRange&, ThreadId) { return true; }
};

}  // namespace homenode
