#include "traces/hnt/inspect.hpp"

#include <algorithm>
#include <set>

namespace homenode {

const char* name_of(ObjectKind kind) {
  constexpr const char* names[] = {"heap", "global", "stack", "tls", "mmap", "unknown"};
  return names[static_cast<std::size_t>(kind)];
}

const char* name_of(RegionKind kind) {
  constexpr const char* names[] = {"serial", "loop", "task", "section", "single", "thread"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

// Irregular accesses and their longest chain, if one iteration follows the other.
struct Chains {
  double accesses = 0, longest = 0;
};

Chains chains_of(const ItemPattern& pattern) {
  Chains chains;
  for (const AccessRun& run : pattern.runs) {
    if (run.producer_distance == 0) continue;
    chains.accesses += static_cast<double>(run.accesses());
    chains.longest += static_cast<double>(run.accesses());
  }
  for (const IrregularStream& stream : pattern.streams) {
    std::vector<std::uint32_t> depth(stream.sequence.size(), 1);
    std::uint32_t deepest = 0;
    for (std::size_t i = 0; i < stream.sequence.size(); ++i) {
      if (stream.producer_distance[i] != 0) {
        const std::uint64_t producer = stream.sequence[i] - stream.producer_distance[i];
        const auto found = std::lower_bound(stream.sequence.begin(), stream.sequence.begin() + static_cast<std::ptrdiff_t>(i), producer);
        if (found != stream.sequence.begin() + static_cast<std::ptrdiff_t>(i) && *found == producer) {
          depth[i] = depth[static_cast<std::size_t>(found - stream.sequence.begin())] + 1;
        }
      }
      deepest = std::max(deepest, depth[i]);
    }
    chains.accesses += static_cast<double>(stream.sequence.size());
    chains.longest += deepest;
  }
  return chains;
}

}  // namespace

Inspection inspect(const Workload& workload) {
  Inspection result;
  std::set<std::uint32_t> touched;
  std::vector<Chains> chains(workload.regions.size()), of_pattern;
  for (const ItemPattern& pattern : workload.patterns) of_pattern.push_back(chains_of(pattern));
  for (const Region& region : workload.regions) {
    const Site& site = workload.sites.at(region.site.index());
    result.regions.push_back({region.label, name_of(region.kind), region.schedule_clause, site.file, site.line, 0, 0, 0, 0, 0, {}, 0});
  }
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const Execution& execution = workload.executions[e];
    InspectedRegion& region = result.regions[execution.region.index()];
    ++region.executions;
    region.items += static_cast<std::uint64_t>(execution.iterations);
    region.accesses += execution.accesses, region.reads += execution.reads, region.writes += execution.writes;
    result.accesses += execution.accesses, result.reads += execution.reads, result.writes += execution.writes;
    const auto body = workload.body(ExecutionId{e});
    for (const ItemBlock& block : body->blocks) {
      const auto iterations = static_cast<double>(block.last - block.first);
      region.work += workload.patterns[block.pattern.index()].work.scaled(iterations);
      chains[execution.region.index()].accesses += of_pattern[block.pattern.index()].accesses * iterations;
      chains[execution.region.index()].longest += of_pattern[block.pattern.index()].longest * iterations;
      for (const SlotBinding& slot : block.slots) touched.insert(slot.object.value());
    }
  }
  for (const std::uint32_t object : touched) result.footprint_bytes += workload.objects[object].bytes;
  for (std::size_t r = 0; r < chains.size(); ++r) {
    if (chains[r].longest > 0) result.regions[r].miss_parallelism = chains[r].accesses / chains[r].longest;
  }
  return result;
}

std::vector<std::string> check(const Workload& workload) {
  std::vector<std::string> violations;
  const auto violated = [&](const std::string& where, const std::string& what) { violations.push_back(where + ": " + what); };
  for (std::size_t p = 0; p < workload.patterns.size(); ++p) {
    const ItemPattern& pattern = workload.patterns[p];
    const std::string where = "pattern " + std::to_string(p);
    std::uint64_t accesses = 0, last = 0;
    for (const AccessRun& run : pattern.runs) {
      accesses += run.accesses();
      if (run.sequence < last) violated(where, "runs are not in the order of their sequence");
      last = run.sequence;
      if (run.width == 0) violated(where, "a run has accesses of no bytes");
    }
    for (const IrregularStream& stream : pattern.streams) accesses += stream.offset.size();
    if (accesses != pattern.accesses)
      violated(where, "says " + std::to_string(pattern.accesses) + " accesses, its runs have " + std::to_string(accesses));
  }
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const Execution& execution = workload.executions[e];
    const std::string where = "execution " + std::to_string(e) + " of region '" + workload.regions[execution.region.index()].label + "'";
    const auto body = workload.body(ExecutionId{e});
    std::int64_t next = 0;
    std::uint64_t accesses = 0;
    for (const ItemBlock& block : body->blocks) {
      if (block.first != next)
        violated(where, "iterations " + std::to_string(next) + " to " + std::to_string(block.first) + " are in no block");
      next = block.last;
      const ItemPattern& pattern = workload.patterns[block.pattern.index()];
      const auto iterations = static_cast<std::uint64_t>(block.last - block.first);
      accesses += pattern.accesses * iterations;
      for (const AccessRun& run : pattern.runs) {
        const SlotBinding& slot = block.slots[run.slot];
        std::int64_t low = slot.base + run.offset, high = low + run.width;
        const auto extend = [&](std::int64_t reach) { (reach < 0 ? low : high) += reach; };
        extend(slot.shift * static_cast<std::int64_t>(iterations - 1));
        for (unsigned d = 0; d < run.dimensions; ++d)
          extend(run.dimension[d].stride * static_cast<std::int64_t>(run.dimension[d].count - 1));
        const TracedObject& object = workload.objects[slot.object.index()];
        if (low < 0 || high > static_cast<std::int64_t>(object.bytes)) {
          violated(where, "an access to bytes " + std::to_string(low) + " to " + std::to_string(high) + " of object " +
                              std::to_string(slot.object.value()) + " ('" + object.symbol + "'), which has " +
                              std::to_string(object.bytes));
        }
      }
    }
    if (next != execution.iterations && !(body->blocks.empty() && execution.accesses == 0))
      violated(where, "has " + std::to_string(execution.iterations) + " iterations, its blocks end at " + std::to_string(next));
    if (accesses != execution.accesses)
      violated(where, "says " + std::to_string(execution.accesses) + " accesses, its blocks have " + std::to_string(accesses));
  }
  return violations;
}

}  // namespace homenode
