// Where an extension adds its policies: the registries of the homenode that loads it.
#pragma once

#include "sim/base/registry.hpp"
#include "sim/policy/heap_manager.hpp"
#include "sim/policy/page_placement.hpp"
#include "sim/policy/thread_mapping.hpp"
#include "sim/policy/work_distribution.hpp"

namespace homenode {

struct PolicyRegistries {
  Registry<PagePlacement>& placements;
  Registry<ThreadMapping>& mappings;
  Registry<WorkDistribution>& distributions;
  Registry<HeapManager>& heaps;
};

}  // namespace homenode
