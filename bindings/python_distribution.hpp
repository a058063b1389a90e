// A work distribution whose chunks Python code chooses: the whole plan of an execution at once, or chunk by chunk.
#pragma once

#include <memory>

#include "bindings/loop_view.hpp"
#include "bindings/python_policy.hpp"

namespace homenode::python {

// The code is called once for each execution of a region, with its LoopView. It returns a plan, arrays first, last, thread and perhaps the
// nanoseconds that handing each chunk out takes; or an object whose `next(thread, time_ps)` is asked for a chunk at a time (AskedChunks),
// and whose `complete(first, last, thread, time_ps)`, if it has one, is told. What decides is made once a run, for all regions
// (LoopMemory).
class PythonDistribution final : public WorkDistribution {
public:
  struct Asks {
    bool estimates = false, tasks = false;
  };
  PythonDistribution(PythonPolicy policy, Asks asks) : policy_{std::move(policy)}, asks_{asks} {}
  ~PythonDistribution() override { end_loop(); }
  bool wants_estimates() const override { return asks_.estimates; }
  void prepare(const RegionView&, const Team&, const CostOracle*) override;
  Decision next(ThreadId thread, Time now) override { return chunks_->next(thread, now); }
  void complete(ItemRange items, ThreadId thread, Time now) override { chunks_->complete(items, thread, now); }
  bool can_run_tasks() const override { return asks_.tasks; }
  Submit submit(const ItemRange& task, ThreadId thread, Time now) override { return chunks_->submit(task, thread, now); }
  void queue(const ItemRange& task, ThreadId thread, Time now) override { chunks_->queue(task, thread, now); }
  bool withdraw(const ItemRange& task, ThreadId thread) override { return chunks_->withdraw(task, thread); }
  std::unique_ptr<WorkDistribution> fixed_schedule() const override { return chunks_->fixed_schedule(); }

private:
  KeptObject decider(LoopMemory*, const Machine&);
  void end_loop();

  PythonPolicy policy_;
  Asks asks_;
  std::shared_ptr<LoopView> loop_;
  std::unique_ptr<WorkDistribution> chunks_;  // of the present execution
  KeptObject own_;                            // what decides, where no LoopMemory keeps it
};

}  // namespace homenode::python
