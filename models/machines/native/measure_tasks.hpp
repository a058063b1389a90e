// What the OpenMP runtime of this host, libgomp, takes for a task: nanoseconds, in a team of one thread, where nobody waits for a lock.
#pragma once

#include <optional>

namespace homenode::native {

struct TaskNanoseconds {  // the parts of TaskCost (system.hpp)
  double call = 0, create = 0, take = 0;
};
// The least of each in `repeats` samples and one to warm up. Nothing where there is no libgomp.
std::optional<TaskNanoseconds> task_nanoseconds(unsigned repeats);

}  // namespace homenode::native
