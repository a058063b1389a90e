// Who waits for what when nothing goes on any more.
#pragma once

#include <string>

#include "sim/loop/sync_events.hpp"
#include "sim/loop/task_events.hpp"
#include "sim/loop/threads.hpp"

namespace homenode {

// "deadlock in simulated time at 10 ns: thread 1 waits for lock 7, held by thread 2; ..."
std::string describe_deadlock(const Threads&, const Synchronisation&, const TaskEvents&);

}  // namespace homenode
