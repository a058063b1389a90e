// The timing engines by name: one staged memory model with two ways to share bandwidth, and the engine by lines.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/engines/parts/engine_options.hpp"
#include "sim/base/choices.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

struct EngineInput {
  const Workload& workload;  // they outlive the engine
  const Machine& machine;
  const Topology& topology;
  std::size_t threads;  // that run at a time at most
  EngineOptions options;
  std::unique_ptr<CacheModel> caches;  // null: by runs; the engine by lines makes its own
};

const Choices<std::function<std::unique_ptr<MemoryModel>(EngineInput)>>& engines();

std::vector<std::string> engine_names();
// Throws UsageError for an unknown name.
std::unique_ptr<MemoryModel> make_engine(const std::string& name, const Workload&, const Machine&, const Topology&, std::size_t threads,
                                         EngineOptions, std::unique_ptr<CacheModel> caches = nullptr);

}  // namespace homenode
