// What a thread does at the events of tasks, and which task it runs when it has nothing else to do. The rules of tasks are in tasks.hpp.
#pragma once

#include <set>

#include "sim/loop/executions.hpp"
#include "sim/loop/tasks.hpp"
#include "sim/loop/threads.hpp"
#include "sim/loop/time_accounts.hpp"

namespace homenode {

class TaskEvents {
public:
  // All must outlive it.
  TaskEvents(Threads&, TaskPool&, Executions&, TimeAccounts&);

  // Of the construct that execution `first` belongs to. Throws PolicyError if one of its distributions does not run tasks.
  void begin_construct(std::size_t first);
  void end_construct();

  // The thread comes to the event: true if it passes at once. Otherwise it waits at it, goes on later, or runs a task meanwhile.
  // Throws PolicyError outside of a construct with tasks.
  bool pass(std::size_t t, const SyncEvent&);
  // The thread has nothing else to do: true if it has a task in hand now.
  bool run_next(std::size_t t);
  // The thread ended the task that it has in hand.
  void complete(std::size_t t);

  // The thread looks again whenever something changed.
  void wait(std::size_t t);
  bool waits(std::size_t t) const { return waiters_.contains(t); }
  void forget_waiters() { waiters_.clear(); }
  // What the event that the thread is at waits for.
  TaskPool::WaitFor awaited_by(const Thread&) const;
  const TaskPool& pool() const { return pool_; }

private:
  bool submit(std::size_t t, const SyncEvent&);
  bool wait_or_run(std::size_t t);
  void run(std::size_t t, const TaskPool::Taken&);
  void wake_waiters();

  Threads& threads_;
  TaskPool& pool_;
  Executions& executions_;
  TimeAccounts& accounts_;
  std::set<std::size_t> waiters_;
};

}  // namespace homenode
