// Which iterations a thread takes next. One instance serves one region; prepare starts each of its executions.
// Every iteration is handed out exactly once; a call never looks at the future.
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

class WorkDistribution {
public:
  virtual ~WorkDistribution() = default;
  virtual void prepare(const RegionView&, const Team&, const CostOracle*) = 0;
  virtual Decision next(ThreadId, Time) = 0;
  virtual void complete(ItemRange, ThreadId, Time) {}
};

}  // namespace homenode
