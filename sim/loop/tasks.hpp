// The tasks of a parallel construct in simulated time (OpenMP 5.2, chapter 12 and section 15.9): which exist, which are ready, who
// waits for whom. Which thread runs a ready one next is for the region's WorkDistribution to say.
//
// In a trace, the tasks that one place of the program creates in a construct are the iterations of one execution of kind task, in
// the order of their creation at capture. Items that create them carry events (object, match):
//   depend                           number of the address; 1 = in, 2 = out, inout and all that excludes others. It belongs to the
//                                    next task_submit or task_wait of the item
//   task_submit                      which of the construct's executions of tasks, from 0 in program order; the task's iteration
//                                    less that of the item that creates it, modulo 2^64
//   task_wait                        0; 0: waits for all children, 1: for those that the depend events before it name
//   task_group_begin, task_group_end 0, 0: the end waits for the tasks created in between and for their descendants
// Code that belongs to no task is part of its thread's implicit task. A thread that waits runs descendants of its task meanwhile,
// as tied tasks allow (12.9), those that it waits for first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/machine/system.hpp"
#include "sim/policy/work_distribution.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

class TaskPool {
public:
  // `costs` come on top of what the distributions take.
  explicit TaskPool(const Workload& workload, const TaskCost& costs = {}) : workload_{workload}, costs_{costs} {}

  // A construct begins. Its implicit tasks are TaskId{thread}.
  void begin(std::vector<ExecutionId> executions, std::vector<std::unique_ptr<WorkDistribution>> distributions, std::size_t threads);
  // It is over. Throws PolicyError if one of its tasks was never created.
  void end();
  bool active() const { return !executions_.empty(); }
  const std::vector<ExecutionId>& executions() const { return executions_; }

  // The next submit or wait of the task comes after what earlier children do with the address.
  void depend(TaskId creator, std::uint64_t address, bool excludes_others);
  struct Submitted {
    std::optional<TaskId> run_now;  // the producer has to
    ItemRange item;
    Time overhead;
  };
  // Throws PolicyError if there is no such task, or if it was created before.
  Submitted submit(TaskId creator, const SyncEvent&, std::int64_t creators_iteration, ThreadId, Time);
  void group_begin(TaskId);

  struct Taken {
    TaskId task;
    ItemRange item;
    Time overhead;
  };
  enum class WaitFor { children, dependences, group };
  // True: nothing is left to wait for, and the group, if it was one, is over.
  bool wait_is_over(TaskId, WaitFor);
  // A ready task that a thread may run while it waits so.
  std::optional<Taken> take_while_waiting(TaskId, WaitFor, ThreadId);
  // What the distributions have for a thread with nothing else to do.
  std::optional<Taken> next(ThreadId, Time);
  void complete(TaskId, ThreadId, Time);

  std::uint64_t unfinished() const { return unfinished_; }
  // "task 3 of region 'sweep:task'", or "its implicit task"
  std::string describe(TaskId) const;
  // "2 children, first task 3 of region 'sweep:task'"
  std::string describe_wait(TaskId, WaitFor) const;

private:
  struct Address {
    TaskId writer = TaskId::none();
    std::vector<TaskId> readers;  // since that write
  };
  struct Dependence {
    std::uint64_t address;
    bool excludes_others;
  };
  struct Task {
    ItemRange item;
    bool is_implicit = false, is_ready = false, runs = false;
    TaskId parent = TaskId::none();
    ThreadId creator;
    std::uint64_t group = 0;  // innermost one that it was created in; 0 = none
    std::uint64_t waits_for = 0;
    std::vector<TaskId> successors;
    std::set<TaskId> children, ready_children;  // that are not over
    std::vector<std::uint64_t> open_groups;
    std::vector<Dependence> announced;
    std::map<std::uint64_t, Address> addresses;  // what its children depend on
  };
  struct Group {
    std::set<TaskId> members, ready;  // that are not over
  };

  std::size_t place_of(ExecutionId) const;
  WorkDistribution& distribution_of(const Task& task) { return *distributions_[place_of(task.item.execution)]; }
  Task* find(TaskId);
  std::set<TaskId> predecessors(Task& creator);
  void remember(Task& creator, TaskId child);
  void become_ready(TaskId, Task&);
  Taken start(TaskId, Task&, Time overhead);
  std::optional<Taken> take_of(const std::set<TaskId>& tasks, ThreadId);

  const Workload& workload_;
  TaskCost costs_;
  std::vector<ExecutionId> executions_;
  std::vector<std::unique_ptr<WorkDistribution>> distributions_;
  std::vector<std::vector<bool>> created_;  // by execution, iteration
  std::map<TaskId, Task> tasks_;            // that are not over
  std::map<std::uint64_t, Group> groups_;
  std::map<std::pair<ExecutionId, std::int64_t>, TaskId> queued_;
  std::uint64_t next_task_ = 0, next_group_ = 1, unfinished_ = 0;
};

}  // namespace homenode
