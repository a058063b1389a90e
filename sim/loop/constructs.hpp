// What kind of code an execution is, and which ones make up a parallel construct.
#pragma once

#include <cstddef>

#include "sim/program/workload.hpp"

namespace homenode {

inline const Region& region_of(const Workload& workload, const Execution& execution) { return workload.regions[execution.region.index()]; }

// The routine of a thread that the program creates (pthread_create, std::thread): runs when an event of its creator says so.
inline bool is_thread_routine(const Workload& workload, const Execution& execution) {
  return execution.parallel == 0 && region_of(workload, execution).kind == RegionKind::thread;
}

// Its iterations are tasks: they run when events of other items create them.
inline bool is_tasks(const Workload& workload, const Execution& execution) {
  return region_of(workload, execution).kind == RegionKind::task;
}

// Singles and sections go to whoever comes first, one by one.
inline bool is_first_come(const Workload& workload, const Execution& execution) {
  const RegionKind kind = region_of(workload, execution).kind;
  return kind == RegionKind::single || kind == RegionKind::section;
}

// Of two executions, the second of which may be behind the program's end.
inline bool is_same_construct(const Workload& workload, std::size_t index, std::size_t other) {
  return other < workload.executions.size() && workload.executions[other].parallel == workload.executions[index].parallel;
}

// Nothing but tasks comes behind it in its construct.
inline bool is_last_of_construct(const Workload& workload, std::size_t index) {
  std::size_t next = index + 1;
  while (is_same_construct(workload, index, next) && is_tasks(workload, workload.executions[next])) ++next;
  return !is_same_construct(workload, index, next);
}

}  // namespace homenode
