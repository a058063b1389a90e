// The executions of the program's regions: when each begins and ends, and who runs which of its iterations.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "sim/loop/prefiltered_slices.hpp"
#include "sim/loop/slice_cutter.hpp"
#include "sim/loop/tasks.hpp"
#include "sim/loop/threads.hpp"
#include "sim/report/report.hpp"

namespace homenode {

struct ExecutionState {
  std::shared_ptr<const ExecutionBody> body;  // from its begin to its end
  std::unique_ptr<ItemHomes> homes;
  std::unique_ptr<WorkDistribution> distribution;
  std::vector<ScheduledRange> ranges;              // handed out, for the oracle
  std::unique_ptr<PrefilteredSlices> prefiltered;  // none if the order of its slices depends on time
  std::int64_t handed_out = 0;
  std::set<std::size_t> served;      // threads that had their rank's or replicated iteration
  std::vector<std::size_t> waiting;  // told to wait by the distribution
  std::size_t left = 0;              // threads that found it finished
  std::size_t at_barrier = 0;
  bool entered = false;
  Time begin, end;
};

class Executions {
public:
  struct RegionTotal {
    Time time;  // in which at least one execution of it went on
    std::uint64_t executions = 0;
  };

  // All must outlive the executions.
  Executions(Threads&, const TaskPool&, SliceCutter&);

  ExecutionState& operator[](std::size_t index) { return states_[index]; }
  // It begins with the first thread that comes to it.
  ExecutionState& enter(std::size_t index);
  // What the thread, which asks for work, is to do in it.
  Decision decide(std::size_t t, std::size_t index);
  // The thread takes the iterations. Throws PolicyError for such as there are not, or more than there are.
  void accept(std::size_t t, std::size_t index, const Decision&);
  // The thread found it finished. Throws PolicyError if it was the last one and iterations are left.
  void leave(std::size_t index);
  void close(std::size_t index, Time end);
  // Those that the distribution told to wait ask again.
  void wake_waiting(ExecutionState&);

  // Where the threads are now, for distributions.
  void find_team() { team_.core = threads_.cores(); }
  // For the execution, which has this body. Throws PolicyError if it consists of tasks and the distribution does not run them.
  std::unique_ptr<WorkDistribution> make_distribution(std::size_t index, std::shared_ptr<const ExecutionBody>);

  // Of the iteration that the thread has in hand.
  const ItemBlock& running_block(const Thread& thread) const {
    return states_[thread.handed_out.execution.index()].body->blocks[thread.block];
  }
  const ItemPattern& running_pattern(const Thread& thread) const { return pattern_of(running_block(thread)); }
  const ItemPattern& pattern_of(const ItemBlock& block) const { return threads_.in.workload.patterns[block.pattern.index()]; }

  Time end() const { return end_; }                // of those that are over
  std::vector<RegionTotal> region_totals() const;  // by region
  std::vector<HandOut> take_log() { return std::move(log_); }

private:
  struct Span {
    Time begin, end;
  };
  struct RegionSpans {
    std::vector<Span> spans;  // of executions; those that followed each other without a gap are one
    std::uint64_t executions = 0;
  };
  const Execution& execution(std::size_t index) const { return threads_.in.workload.executions[index]; }
  const Region& region(std::size_t index) const;
  bool is_free_of_synchronisation(std::size_t index, const ExecutionState&) const;
  std::unique_ptr<WorkDistribution> fixed_schedule(std::size_t index, const ExecutionState&) const;
  void filter_ahead(std::size_t index, ExecutionState&);

  Threads& threads_;
  const TaskPool& tasks_;
  SliceCutter& cutter_;
  Team team_;
  LoopMemory loop_memory_;
  std::vector<ExecutionState> states_;
  std::vector<RegionSpans> regions_;
  std::vector<HandOut> log_;
  Time end_;
};

}  // namespace homenode
