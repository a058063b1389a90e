#include "traces/format/trace_summary.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/program/recorded.hpp"
#include "traces/format/miss_parallelism.hpp"
#include "traces/format/touched_bytes.hpp"

namespace homenode {

void AccessSums::add(const Execution& execution) {
  ++executions;
  items += static_cast<std::uint64_t>(execution.iterations);
  accesses += execution.accesses;
  reads += execution.reads;
  writes += execution.writes;
}

AccessSums access_sums(const Workload& workload) {
  AccessSums sums;
  for (const Execution& execution : workload.executions) sums.add(execution);
  return sums;
}

namespace {

// Iterations that follow each pattern, by region.
using PatternCounts = std::map<PatternId, std::uint64_t>;

SiteId busiest_of(const Workload& workload, const PatternCounts& patterns) {
  std::map<std::pair<std::string, std::uint32_t>, std::pair<std::uint64_t, SiteId>> lines;
  for (const auto& [number, iterations] : patterns) {
    const auto add = [&, times = iterations](SiteId site, std::uint64_t accesses) {
      const Site place = site.index() < workload.sites.size() ? workload.sites[site.index()] : Site{};
      lines.try_emplace({place.file, place.line}, 0, site).first->second.first += times * accesses;
    };
    const ItemPattern& pattern = workload.patterns.at(number.index());
    for (const AccessRun& run : pattern.runs) add(run.site, run.accesses());
    for (const IrregularStream& stream : pattern.streams) add(stream.site, stream.slot.size());
  }
  const auto fewer = [](const auto& a, const auto& b) { return a.second.first < b.second.first; };
  const auto most = std::max_element(lines.begin(), lines.end(), fewer);
  return most == lines.end() ? SiteId::none() : most->second.second;
}

}  // namespace

TraceSummary summarize(const Workload& workload) {
  TraceSummary summary;
  summary.sums = access_sums(workload);
  summary.regions.resize(workload.regions.size());
  TouchedBytes touched{workload};
  MissParallelism parallelism{workload};
  std::vector<PatternCounts> patterns(workload.regions.size());
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const Execution& execution = workload.executions[e];
    RegionSummary& region = summary.regions.at(execution.region.index());
    region.sums.add(execution);
    const auto body = workload.body(ExecutionId{e});
    for (const ItemBlock& block : body->blocks) {
      region.work += workload.patterns.at(block.pattern.index()).work.scaled(static_cast<double>(block.last - block.first));
      patterns[execution.region.index()][block.pattern] += static_cast<std::uint64_t>(block.last - block.first);
    }
    touched.add(*body);
    parallelism.add(execution.region, *body);
  }
  summary.footprint_bytes = touched.total();
  for (std::size_t r = 0; r < summary.regions.size(); ++r) {
    summary.work += summary.regions[r].work;
    summary.regions[r].busiest = busiest_of(workload, patterns[r]);
    if (has(workload, Recorded::dependence)) summary.regions[r].miss_parallelism = parallelism.of(RegionId{r});
  }
  return summary;
}

std::string name_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::heap: return "heap";
    case ObjectKind::global: return "global";
    case ObjectKind::stack: return "stack";
    case ObjectKind::thread_local_storage: return "tls";
    case ObjectKind::mapped: return "mmap";
    case ObjectKind::unknown: return "unknown";
  }
  return "unknown";
}

std::string name_of(RegionKind kind) {
  switch (kind) {
    case RegionKind::serial: return "serial";
    case RegionKind::loop: return "loop";
    case RegionKind::task: return "task";
    case RegionKind::section: return "section";
    case RegionKind::single: return "single";
    case RegionKind::thread: return "thread";
  }
  return "serial";
}

}  // namespace homenode
