#include "models/heap/owners.hpp"

#include <algorithm>
#include <map>

namespace homenode {
namespace {

std::vector<std::uint64_t> accesses_by_slot(const ItemPattern& pattern) {
  std::vector<std::uint64_t> accesses(pattern.slots, 0);
  for (const AccessRun& run : pattern.runs) accesses[run.slot] += run.accesses();
  for (const IrregularStream& stream : pattern.streams)
    for (const SlotNumber slot : stream.slot) ++accesses[slot];
  return accesses;
}

}  // namespace

std::vector<std::int32_t> owners_by_use(const Workload& workload, std::size_t threads) {
  std::map<std::pair<ObjectId, std::size_t>, std::uint64_t> uses;
  std::vector<std::vector<std::uint64_t>> by_pattern;
  for (const ItemPattern& pattern : workload.patterns) by_pattern.push_back(accesses_by_slot(pattern));
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const Execution& execution = workload.executions[e];
    if (execution.binding == Binding::replicated || execution.iterations == 0) continue;
    const RegionKind kind = workload.regions[execution.region.index()].kind;
    const bool shared_out = execution.parallel != 0 && kind != RegionKind::single && kind != RegionKind::section;
    const auto body = workload.body(ExecutionId{e});
    for (const ItemBlock& block : body->blocks) {
      for (std::int64_t first = block.first; first < block.last;) {
        std::size_t thread = 0;
        std::int64_t last = block.last;
        if (shared_out && execution.binding == Binding::rank) {
          thread = static_cast<std::size_t>(first);
          last = first + 1;
        } else if (shared_out) {
          const std::int64_t part = (execution.iterations + static_cast<std::int64_t>(threads) - 1) / static_cast<std::int64_t>(threads);
          thread = static_cast<std::size_t>(first / part);
          last = std::min(last, (first / part + 1) * part);
        }
        const std::vector<std::uint64_t>& accesses = by_pattern[block.pattern.index()];
        for (std::size_t slot = 0; slot < block.slots.size(); ++slot)
          if (accesses[slot] > 0) uses[{block.slots[slot].object, thread}] += accesses[slot] * static_cast<std::uint64_t>(last - first);
        first = last;
      }
    }
  }
  std::vector<std::int32_t> owner(workload.objects.size(), -1);
  std::vector<std::uint64_t> most(workload.objects.size(), 0);
  for (const auto& [key, accesses] : uses) {
    const auto& [object, thread] = key;
    if (accesses <= most[object.index()] || thread >= threads) continue;
    most[object.index()] = accesses;
    owner[object.index()] = static_cast<std::int32_t>(thread);
  }
  return owner;
}

}  // namespace homenode
