// The timing engines by name: one staged memory model with two ways to share bandwidth, and the engine by lines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/engines/staged/staged_memory_model.hpp"

namespace homenode {

std::vector<std::string> engine_names();
// Throws UsageError for an unknown name. `threads`: how many activities run at a time at most. Without caches: by runs; the engine by lines
// makes its own.
std::unique_ptr<MemoryModel> make_engine(const std::string& name, const Workload&, const Machine&, const Topology&, std::size_t threads,
                                         StagedOptions, std::unique_ptr<CacheModel> caches = nullptr);

}  // namespace homenode
