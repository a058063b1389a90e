#include "models/engines/engines.hpp"

#include "models/caches/run_lru.hpp"
#include "models/engines/line/line_engine.hpp"
#include "models/engines/staged/flow_sharing.hpp"
#include "models/engines/staged/simgrid_sharing.hpp"
#include "sim/base/errors.hpp"

namespace homenode {

std::vector<std::string> engine_names() { return {"flow", "simgrid", "line"}; }

std::unique_ptr<MemoryModel> make_engine(const std::string& name, const Workload& workload, const Machine& machine,
                                         const Topology& topology, std::size_t threads, StagedOptions options,
                                         std::unique_ptr<CacheModel> caches) {
  if (name == "line") return std::make_unique<LineEngine>(workload, machine, topology, options);
  const std::size_t resources = shared_resources(machine, topology);
  std::unique_ptr<BandwidthSharing> sharing;
  if (name == "flow") {
    sharing = std::make_unique<FlowSharing>(resources);
  } else if (name == "simgrid") {
    sharing = std::make_unique<SimgridSharing>(resources, threads);
  } else {
    throw UsageError(unknown_name("engine", name, engine_names()));
  }
  const bool reads_record = options.record && options.record->ready(options.recorded);
  if (!caches && !reads_record) caches = std::make_unique<RunLru>(machine);
  return std::make_unique<StagedMemoryModel>(workload, machine, topology, std::move(caches), std::move(sharing), options);
}

}  // namespace homenode
