// The counter that loops on demand take their chunks from.
#pragma once

#include "sim/policy/work_distribution.hpp"

namespace homenode {

// Time of one atomic operation on a counter that the whole team shares: its line comes from another core each time,
// from another socket or another outermost cache when the team spans several.
Time shared_counter_time(const Team&);

}  // namespace homenode
