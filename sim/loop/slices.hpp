// The iterations that a thread has in hand, as slices of work for the memory model, with the heap calls and the synchronisation that lie
// between them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/loop/executions.hpp"
#include "sim/loop/heap_calls.hpp"
#include "sim/loop/sync_events.hpp"
#include "sim/loop/task_events.hpp"

namespace homenode {

class Slices {
public:
  struct Parts {
    Threads& threads;
    Executions& executions;
    TaskEvents& tasks;
    SyncEvents& sync;
    TimeAccounts& accounts;
  };
  // All must outlive the slices.
  Slices(const Parts&, SliceCutter&);

  // The thread, which is deciding and has iterations in hand, goes on with them: to its next slice, or as far as its heap calls and
  // synchronisation let it.
  void start(std::size_t t);
  // The memory model ended the thread's slice, now.
  void finish(const Completion&);
  // The thread is deciding, in a heap call.
  void resume_heap_call(std::size_t t);

  bool is_calling_heap(std::size_t t) const { return heap_.calling(ThreadId{t}); }
  HeapReport heap_report() const { return heap_.report(); }

private:
  bool cut(std::size_t t, Work&);
  void hand_over(std::size_t t, Work&);
  RegionId region_in_hand(const Thread&) const;
  std::uint64_t next_event(const Thread&) const;
  bool pass_events(std::size_t t);
  bool pass_heap_event(std::size_t t, const HeapEvent&);
  bool pass_sync_event(std::size_t t, const SyncEvent&);
  void wake_heap_callers();
  void end_iteration(std::size_t t);
  void complete(std::size_t t);
  bool is_ordered(ExecutionId) const;

  Threads& threads_;
  Executions& executions_;
  TaskEvents& tasks_;
  SyncEvents& sync_;
  TimeAccounts& accounts_;
  SliceCutter& cutter_;
  HeapCalls heap_;
  std::vector<HeapCalls::Wake> heap_wakes_;  // scratch
};

}  // namespace homenode
