#include "sim/loop/slices.hpp"

#include <algorithm>

#include "sim/loop/constructs.hpp"
#include "sim/program/task_operations.hpp"

namespace homenode {

Slices::Slices(const Parts& parts, SliceCutter& cutter)
    : threads_{parts.threads},
      executions_{parts.executions},
      tasks_{parts.tasks},
      sync_{parts.sync},
      accounts_{parts.accounts},
      cutter_{cutter},
      heap_{threads_.in.heap,   threads_.in.workload, threads_.in.addresses,
            threads_.in.memory, threads_.in.seed,     {threads_.in.map_costs, threads_.in.scheduler.wakeup}} {
  heap_.prepare(threads_.in.machine, threads_.cores());
}

void Slices::start(std::size_t t) {
  Thread& thread = threads_[t];
  const ExecutionId execution = thread.handed_out.execution;
  const std::vector<ItemBlock>& blocks = executions_[execution.index()].body->blocks;
  while (thread.block < blocks.size() && blocks[thread.block].last <= thread.next) ++thread.block;
  thread.running_until = thread.sequence == 0 ? cutter_.end(blocks, thread.block, thread.next, thread.handed_out.last) : thread.next;
  Work work{threads_.place_of(t), {execution, thread.next, thread.running_until}, thread.overhead};
  if (thread.running_until != thread.next || cut(t, work)) hand_over(t, work);
}

// The work is a stretch of one iteration. False: there is none now.
bool Slices::cut(std::size_t t, Work& work) {
  Thread& thread = threads_[t];
  if (!pass_events(t)) {  // waits; the core is free for others, unless the thread is in a heap call
    if (is_calling_heap(t)) {
      thread.started = threads_.now;
      accounts_.shares().start(ThreadId{t}, {region_in_hand(thread), Time{}, Time{}}, threads_.now);
    }
    return false;
  }
  if (thread.sequence == Stretch::to_the_end) {
    end_iteration(t);
    threads_.make_ready(t, threads_.now);
    return false;
  }
  work.items.last = thread.next + 1;
  work.stretch = {thread.sequence, next_event(thread), threads_.in.quantum};
  return true;
}

void Slices::hand_over(std::size_t t, Work& work) {
  Thread& thread = threads_[t];
  const SimulationInput& in = threads_.in;
  work.overhead += threads_.scheduler.take_delay(ThreadId{t});
  thread.started = threads_.now;
  thread.state.become(ThreadState::computing);
  threads_.scheduler.start_computing(ThreadId{t});
  if (PrefilteredSlices* const prefiltered = executions_[work.items.execution.index()].prefiltered.get())
    prefiltered->before_start(ThreadId{t}, in.memory, in.addresses);
  in.addresses.runs_on(work.place.core);
  const Started started = in.memory.start(work, in.addresses);
  accounts_.shares().start(ThreadId{t}, {region_in_hand(thread), work.overhead, started.page_work}, threads_.now);
  thread.reached = started.reached;
  thread.overhead = Time{};
}

RegionId Slices::region_in_hand(const Thread& thread) const {
  return threads_.in.workload.executions[thread.handed_out.execution.index()].region;
}

void Slices::finish(const Completion& completion) {
  const std::size_t t = completion.thread.index();
  Thread& thread = threads_[t];
  const bool is_stretch = thread.running_until == thread.next;
  const ItemRange items{thread.handed_out.execution, thread.next, is_stretch ? thread.next + 1 : thread.running_until};
  accounts_.busy(ThreadActivity::work, completion.thread, threads_.core_of(t), items, thread.started, threads_.now);
  accounts_.shares().stop(completion.thread, threads_.now);
  thread.state.become(ThreadState::deciding);
  if (!is_stretch) {
    if (is_ordered(items.execution))
      for (std::int64_t i = items.first; i < items.last; ++i) sync_.end_turn(t, i);
    thread.next = items.last;
    if (thread.idle()) complete(t);
  } else {
    thread.sequence = thread.reached;
    const ItemPattern& pattern = executions_.running_pattern(thread);
    if (thread.reached == Stretch::to_the_end && thread.heap_events == pattern.heap_events.size() &&
        thread.sync_events == pattern.sync_events.size())
      end_iteration(t);
  }
  threads_.scheduler.slice_ended(completion.thread, threads_.now);
  threads_.make_ready(t, threads_.now);
}

bool Slices::is_ordered(ExecutionId execution) const {
  const Workload& workload = threads_.in.workload;
  return region_of(workload, workload.executions[execution.index()]).ordered;
}

void Slices::end_iteration(std::size_t t) {
  Thread& thread = threads_[t];
  if (is_ordered(thread.handed_out.execution)) sync_.end_turn(t, thread.next);
  ++thread.next;
  thread.sequence = 0;
  thread.heap_events = thread.sync_events = 0;
  if (thread.idle()) complete(t);
}

// All that the thread was handed is done.
void Slices::complete(std::size_t t) {
  const Workload& workload = threads_.in.workload;
  const ItemRange& items = threads_[t].handed_out;
  ExecutionState& state = executions_[items.execution.index()];
  if (is_tasks(workload, workload.executions[items.execution.index()])) tasks_.complete(t);
  if (state.distribution) state.distribution->complete(items, ThreadId{t}, threads_.now);
  executions_.wake_waiting(state);
}

// The number of the access before which the next heap call or synchronisation of the iteration comes.
std::uint64_t Slices::next_event(const Thread& thread) const {
  const ItemPattern& pattern = executions_.running_pattern(thread);
  std::uint64_t next = Stretch::to_the_end;
  if (thread.heap_events < pattern.heap_events.size()) next = pattern.heap_events[thread.heap_events].sequence;
  if (thread.sync_events < pattern.sync_events.size()) next = std::min(next, pattern.sync_events[thread.sync_events].sequence);
  return next;
}

// Heap calls and synchronisation before the next access of the thread, in order (of two at the same place the heap call
// first, as in a lock taken for memory that was just allocated). False: it waits, or a heap call of it takes time.
bool Slices::pass_events(std::size_t t) {
  Thread& thread = threads_[t];
  const ItemPattern& pattern = executions_.running_pattern(thread);
  while (next_event(thread) <= thread.sequence) {
    const bool heap = thread.heap_events < pattern.heap_events.size();
    const bool sync = thread.sync_events < pattern.sync_events.size();
    if (!heap && !sync) break;  // all accesses done, and nothing behind them
    if (heap && (!sync || pattern.heap_events[thread.heap_events].sequence <= pattern.sync_events[thread.sync_events].sequence)) {
      if (!pass_heap_event(t, pattern.heap_events[thread.heap_events++])) return false;
    } else if (!pass_sync_event(t, pattern.sync_events[thread.sync_events])) {
      return false;
    }
  }
  return true;
}

bool Slices::pass_heap_event(std::size_t t, const HeapEvent& event) {
  heap_wakes_.clear();
  const ObjectId object = executions_.running_block(threads_[t]).slots[event.slot].object;
  const bool done = heap_.begin(threads_.place_of(t), event.operation, object, heap_wakes_);
  wake_heap_callers();
  return done;
}

bool Slices::pass_sync_event(std::size_t t, const SyncEvent& event) {
  if (is_of_tasks(event)) return tasks_.pass(t, event);
  if (!sync_.pass(t, event)) return false;
  ++threads_[t].sync_events;
  return true;
}

void Slices::wake_heap_callers() {
  for (const HeapCalls::Wake& wake : heap_wakes_) threads_.make_ready(wake.thread.index(), wake.time);
}

void Slices::resume_heap_call(std::size_t t) {
  const Thread& thread = threads_[t];
  heap_wakes_.clear();
  const bool done = heap_.resume(threads_.place_of(t), heap_wakes_);
  wake_heap_callers();
  if (!done) return;
  const ItemRange none{thread.handed_out.execution, 0, 0};
  accounts_.busy(ThreadActivity::heap_call, ThreadId{t}, threads_.core_of(t), none, thread.started, threads_.now);
  accounts_.shares().stop(ThreadId{t}, threads_.now);
  start(t);
}

}  // namespace homenode
