#include "models/engines/engines.hpp"

#include "models/caches/run_lru.hpp"
#include "models/engines/line/line_engine.hpp"
#include "models/engines/parts/controller_load.hpp"
#include "models/engines/simgrid_module.hpp"
#include "models/engines/staged/flow_sharing.hpp"
#include "models/engines/staged/staged_memory_model.hpp"

namespace homenode {
namespace {

using Made = std::unique_ptr<MemoryModel>;

Made staged(EngineInput in, std::unique_ptr<BandwidthSharing> sharing) {
  const bool reads_record = in.options.record && in.options.record->ready(in.options.recorded);
  if (!in.caches && !reads_record) in.caches = std::make_unique<RunLru>(in.machine);
  return std::make_unique<StagedMemoryModel>(in.workload, in.machine, in.topology, std::move(in.caches), std::move(sharing),
                                             std::move(in.options));
}

Made flow(EngineInput in) {
  auto sharing = std::make_unique<FlowSharing>(shared_resources(in.machine, in.topology));
  return staged(std::move(in), std::move(sharing));
}

Made simgrid(EngineInput in) {
  auto sharing = simgrid_sharing(shared_resources(in.machine, in.topology), in.threads);
  return staged(std::move(in), std::move(sharing));
}

Made line(const EngineInput& in) { return std::make_unique<LineEngine>(in.workload, in.machine, in.topology, in.options); }

}  // namespace

const Choices<std::function<Made(EngineInput)>>& engines() {
  static const Choices<std::function<Made(EngineInput)>> choices{
      "engine",
      {{"flow", "slices share bandwidth by progressive filling: fast", flow},
       {"simgrid", "slices share bandwidth as SimGrid's parallel tasks: the reference of flow", simgrid},
       {"line", "every cache line on its way, in order of time", line}}};
  return choices;
}

std::vector<std::string> engine_names() { return engines().names(); }

std::unique_ptr<MemoryModel> make_engine(const std::string& name, const Workload& workload, const Machine& machine,
                                         const Topology& topology, std::size_t threads, EngineOptions options,
                                         std::unique_ptr<CacheModel> caches) {
  options.threads = threads;
  return engines().find(name)({.workload = workload,
                               .machine = machine,
                               .topology = topology,
                               .threads = threads,
                               .options = std::move(options),
                               .caches = std::move(caches)});
}

}  // namespace homenode
