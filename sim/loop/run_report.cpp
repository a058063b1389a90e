#include "sim/loop/run_report.hpp"

#include <algorithm>
#include <optional>

namespace homenode {
namespace {

std::vector<CoreUse> core_use(const Threads& threads, const TimeAccounts& accounts, Time end) {
  std::vector<CoreUse> cores = accounts.core_use(end);
  for (std::size_t core = 0; core < cores.size(); ++core) {
    cores[core].switches = threads.scheduler.switches(CoreId{core});
    cores[core].wakeups = threads.scheduler.wakeups(CoreId{core});
  }
  return cores;
}

// The team that the code of each region is bound to the ranks of; 0 where it is to none.
std::vector<std::size_t> ranks_of_regions(const Workload& workload) {
  std::vector<std::size_t> ranks(workload.regions.size());
  for (const Execution& execution : workload.executions)
    if (execution.parallel != 0 && execution.binding == Binding::rank) ranks[execution.region.index()] = execution.team;
  return ranks;
}

void add(std::vector<BottleneckTime>& held, const char* resource, Time time) {
  if (time <= Time{}) return;
  const auto known = std::find_if(held.begin(), held.end(), [=](const BottleneckTime& other) { return other.resource == resource; });
  if (known != held.end()) {
    known->seconds += time.seconds();
  } else {
    held.push_back({resource, time.seconds()});
  }
}

// What held up a region's threads: what the memory model tells of their work, and what it does not see.
std::vector<BottleneckTime> bottlenecks_of(std::vector<BottleneckTime> held, const TimeAccounts& accounts, std::size_t region) {
  add(held, "heap calls", accounts.heap_calls_of_region(region));
  add(held, "overhead", accounts.runtime_of_region(region));
  std::stable_sort(held.begin(), held.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return held;
}

std::vector<RegionReport> region_reports(const Threads& threads, const Executions& executions, const TimeAccounts& accounts) {
  const std::vector<Executions::RegionTotal> totals = executions.region_totals();
  const auto bottlenecks = threads.in.memory.bottlenecks();
  const std::vector<std::size_t> ranks = ranks_of_regions(threads.in.workload);
  std::vector<RegionReport> rows;
  for (std::size_t region = 0; region < totals.size(); ++region) {
    if (totals[region].executions == 0) continue;
    rows.push_back(
        {.label = threads.in.workload.regions[region].label,
         .time = totals[region].time,
         .executions = totals[region].executions,
         .exclusive = accounts.shares().region(region),
         .team = accounts.shares().team_of_region(region),
         .ranks = ranks[region],
         .bottlenecks = bottlenecks_of(region < bottlenecks.size() ? bottlenecks[region] : std::vector<BottleneckTime>{}, accounts, region),
         .busy = accounts.busy_of_region(region)});
  }
  return rows;
}

std::vector<ThreadReport> thread_reports(const Threads& threads, const TimeAccounts& accounts, const EventCounts& counts, Time end) {
  std::vector<ThreadReport> rows;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const CoreId core = threads.core_of(t);
    const Time busy = accounts.busy_of(ThreadId{t});
    rows.push_back({.thread = ThreadId{t},
                    .core = core,
                    .node = threads.in.machine.node_of(core),
                    .busy = busy,
                    .idle = end - busy,
                    .local_bytes = t < counts.local_bytes.size() ? counts.local_bytes[t] : 0,
                    .remote_bytes = t < counts.remote_bytes.size() ? counts.remote_bytes[t] : 0});
  }
  return rows;
}

void set_lower_bound(RunReport& report, const Threads& threads, const Executions& executions, Time team_overhead) {
  const std::optional<LeastTime> least = threads.in.memory.least_time();
  if (!least) return;
  const Time spread = Time::picoseconds(least->work.count() / static_cast<std::int64_t>(threads.size()));
  report.team_overhead = team_overhead;
  report.lower_bound = team_overhead + std::max(least->phases, spread);
  for (std::size_t t = 0; t < std::min(report.threads.size(), least->by_thread.size()); ++t) report.threads[t].least = least->by_thread[t];
  const std::vector<Executions::RegionTotal> totals = executions.region_totals();
  std::size_t row = 0;
  for (std::size_t region = 0; region < totals.size(); ++region) {
    if (totals[region].executions == 0) continue;
    if (region < least->by_region.size()) report.regions[row].least = least->by_region[region];
    ++row;
  }
}

}  // namespace

RunReport report_of(const Threads& threads, Executions& executions, const TimeAccounts& accounts, Time team_overhead) {
  const AddressSpace& addresses = threads.in.addresses;
  RunReport report;
  report.time = std::max(executions.end(), threads.now);
  report.cores = core_use(threads, accounts, report.time);
  report.counts = threads.in.memory.counts();
  report.regions = region_reports(threads, executions, accounts);
  report.overheads = accounts.shares().overheads();
  report.threads_at_once = threads.created.at_once;
  report.threads = thread_reports(threads, accounts, report.counts, report.time);
  set_lower_bound(report, threads, executions, team_overhead);
  report.pages_by_node = addresses.pages_by_node();
  report.pages_by_symbol = addresses.object_pages().by_symbol(threads.in.workload);
  report.page_faults = addresses.page_faults();
  report.migrated_pages = addresses.migrated_pages();
  if (threads.in.addresses.watch().replicates()) report.replication = addresses.replicas().counts();
  report.hinting_faults = threads.in.addresses.watch().hinting_faults();
  report.remote_pages = addresses.remote_pages();
  report.thread_moves = threads.scheduler.moves();
  report.log = executions.take_log();
  return report;
}

}  // namespace homenode
