// One declaration a distribution; its line in register.cpp makes it known by name.
#pragma once

#include "sim/policy/work_distribution.hpp"
#include "sim/registry.hpp"

namespace homenode {

PolicyEntry<WorkDistribution> static_schedule();
PolicyEntry<WorkDistribution> dynamic_schedule();
PolicyEntry<WorkDistribution> guided_schedule();
PolicyEntry<WorkDistribution> auto_schedule();
PolicyEntry<WorkDistribution> latency_weighted();
PolicyEntry<WorkDistribution> task_queue();
PolicyEntry<WorkDistribution> locality_queues();
PolicyEntry<WorkDistribution> tbb();
PolicyEntry<WorkDistribution> tbb_affinity();
PolicyEntry<WorkDistribution> work_stealing();

// Time of one atomic operation on a counter that the whole team shares: its line comes from another core each time,
// from another socket when the team spans several.
Time shared_counter_time(const Team&);

}  // namespace homenode
