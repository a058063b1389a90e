// The timing engines by name: one staged memory model, two ways to share bandwidth.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/hardware/staged_memory_model.hpp"

namespace homenode {

std::vector<std::string> engine_names();
// Throws UsageError for an unknown name. `threads`: how many activities run at a time at most. Without caches: by runs.
std::unique_ptr<MemoryModel> make_engine(const std::string& name, const Workload&, const Machine&, const Topology&, std::size_t threads,
                                         StagedOptions, std::unique_ptr<CacheModel> caches = nullptr);

}  // namespace homenode
