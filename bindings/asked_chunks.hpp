// The chunks of one execution, or its tasks, that Python code hands out on demand.
#pragma once

#include <string>
#include <vector>

#include "bindings/user_code.hpp"
#include "sim/policy/work_distribution.hpp"

namespace homenode::python {

// `next(thread, time_ps)` returns (first, last), perhaps with the nanoseconds that it takes, or None when there is nothing left for the
// thread. `complete(first, last, thread, time_ps)` is told, if there is one. Throws PolicyError for an iteration that does not exist or was
// handed out before.
// With tasks, one iteration each: `submit(task, thread, time_ps)` returns None or True for one that it takes, False for one that the thread
// must run itself, perhaps with nanoseconds (True, 5.0); `queue(task, thread, time_ps)` is told of one that it must take;
// `withdraw(task, thread)` returns None or True if it will not hand it out, False if that thread may not run it. None from `next` is then
// that nothing is ready.
class AskedChunks final : public WorkDistribution {
public:
  // With the GIL. `answer`: what has these methods.
  AskedChunks(std::string who, const pybind11::object& answer, const RegionView&);
  void prepare(const RegionView&, const Team&, const CostOracle*) override {}
  Decision next(ThreadId, Time) override;
  void complete(ItemRange, ThreadId, Time) override;
  Submit submit(const ItemRange&, ThreadId, Time) override;
  void queue(const ItemRange&, ThreadId, Time) override;
  bool withdraw(const ItemRange&, ThreadId) override;

private:
  void note(std::int64_t first, std::int64_t last);
  std::string who_;
  bool tasks_;
  KeptObject next_, complete_;            // the methods; complete_ may be none
  KeptObject submit_, queue_, withdraw_;  // of tasks
  ExecutionId execution_;
  std::vector<bool> handed_out_;  // by iteration
};

}  // namespace homenode::python
