// One run of a trace on a machine, and its report as plain Python values.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "bindings/timeline_values.hpp"
#include "models/energy/energy_file.hpp"
#include "models/engines/parts/cache_record.hpp"
#include "models/run/run.hpp"
#include "models/run/run_plan.hpp"
#include "models/systems/system_file.hpp"
#include "traces/format/trace_summary.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

using Log = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

py::list regions_of(const RunReport& report) {
  py::list result;
  for (const RegionReport& region : report.regions) {
    py::list binding;
    for (const BottleneckTime& entry : region.bottlenecks) {
      binding.append(py::dict("resource"_a = entry.resource, "seconds"_a = entry.seconds));
    }
    py::dict entry("label"_a = region.label, "seconds"_a = region.time.seconds(), "executions"_a = region.executions,
                   "exclusive_seconds"_a = region.exclusive.seconds(), "fork_and_barrier_seconds"_a = region.team.seconds(),
                   "ranks"_a = region.ranks, "binding"_a = binding);
    py::list busy;
    for (const Time time : region.busy) busy.append(time.seconds());
    entry["thread_busy_seconds"] = busy;
    result.append(std::move(entry));
  }
  return result;
}

py::list threads_of(const RunReport& report) {
  py::list result;
  for (const ThreadReport& thread : report.threads) {
    py::dict entry("thread"_a = thread.thread.value(), "core"_a = thread.core.value(), "node"_a = thread.node.value(),
                   "busy_seconds"_a = thread.busy.seconds(), "idle_seconds"_a = thread.idle.seconds(), "local_bytes"_a = thread.local_bytes,
                   "remote_bytes"_a = thread.remote_bytes);
    result.append(std::move(entry));
  }
  return result;
}

py::dict counts_of(const EventCounts& counts) {
  py::dict result("nodes"_a = counts.nodes, "traffic_bytes"_a = counts.traffic_bytes, "read_bytes"_a = counts.read_bytes,
                  "write_bytes"_a = counts.write_bytes, "link_bytes"_a = counts.link_bytes);
  result["rings"] = list_of(counts.rings, [](const RingUse& ring) {
    return py::dict("name"_a = ring.name, "messages"_a = ring.messages, "hops"_a = ring.hops, "busy_seconds"_a = ring.busy.seconds());
  });
  result["hit_lines"] = counts.hit_lines;
  result["accesses"] = counts.accesses;
  result["memory_lines"] = counts.memory_lines;
  result["transfer_lines"] = counts.transfer_lines;
  result["upgrade_lines"] = counts.upgrade_lines;
  result["tlb_misses"] = counts.tlb_misses;
  result["sampling_error"] = counts.sampling_error;
  result["zeroed_bytes"] = counts.zeroed_bytes;
  result["directory_bytes"] = counts.directory_bytes;
  result["side_cache_hits"] = counts.side_cache_hits;
  result["side_cache_misses"] = counts.side_cache_misses;
  result["latency_ns"] = counts.latency_ns;
  return result;
}

py::object best_of(const RunReport& report) {
  if (!report.best) return py::none();
  const BestPlacement& best = *report.best;
  return py::dict("bound_seconds"_a = best.bound.seconds(), "found_seconds"_a = best.found.seconds(),
                  "gap"_a = best.bound > Time{} ? best.found.seconds() / best.bound.seconds() - 1 : 0.0, "searched"_a = best.searched,
                  "exact"_a = best.exact, "objective_seconds"_a = best.objective.seconds(), "pages"_a = best.pages);
}

// Columns execution, first iteration, last iteration, thread, overhead in picoseconds.
py::array_t<std::int64_t> log_of(const RunReport& report) {
  py::array_t<std::int64_t> result({static_cast<py::ssize_t>(report.log.size()), py::ssize_t{5}});
  auto values = result.mutable_unchecked<2>();
  for (py::ssize_t i = 0; i < values.shape(0); ++i) {
    const HandOut& entry = report.log[static_cast<std::size_t>(i)];
    values(i, 0) = entry.items.execution.value();
    values(i, 1) = entry.items.first;
    values(i, 2) = entry.items.last;
    values(i, 3) = entry.thread.value();
    values(i, 4) = entry.overhead.count();
  }
  return result;
}

py::list symbol_pages_of(const RunReport& report) {
  py::list result;
  for (const SymbolPages& pages : report.pages_by_symbol)
    result.append(py::dict("kind"_a = name_of(pages.kind), "symbol"_a = pages.symbol, "objects"_a = pages.objects,
                           "placed_by_node"_a = pages.placed_by_node, "pages_by_node"_a = pages.pages_by_node));
  return result;
}

// Columns object, page of the object, node.
py::array_t<std::int64_t> pages_of(const RunReport& report) {
  py::array_t<std::int64_t> result({static_cast<py::ssize_t>(report.pages.size()), py::ssize_t{3}});
  auto values = result.mutable_unchecked<2>();
  for (py::ssize_t i = 0; i < values.shape(0); ++i) {
    const PlacedPage& entry = report.pages[static_cast<std::size_t>(i)];
    values(i, 0) = entry.object.is_none() ? -1 : static_cast<std::int64_t>(entry.object.value());
    values(i, 1) = static_cast<std::int64_t>(entry.page);
    values(i, 2) = entry.home.value();
  }
  return result;
}

py::dict over_time_of(const RunOverTime& over) {
  const auto rows = [](const std::vector<RunOverTime::Row>& of) {
    return list_of(of, [](const RunOverTime::Row& row) { return py::make_tuple(row.name, row.seconds); });
  };
  return py::dict("interval_seconds"_a = over.interval.seconds(), "resources"_a = rows(over.resources), "regions"_a = rows(over.regions));
}

std::vector<HandOut> log_from(const Log& columns) {
  if (columns.ndim() != 2 || columns.shape(1) != 5) {
    throw UsageError("a log has five columns: execution, first iteration, last iteration, thread, overhead in picoseconds");
  }
  const auto values = columns.unchecked<2>();
  std::vector<HandOut> result;
  for (py::ssize_t i = 0; i < values.shape(0); ++i) {
    const ExecutionId execution{static_cast<std::size_t>(values(i, 0))};
    result.push_back({ItemRange{execution, values(i, 1), values(i, 2)}, ThreadId{static_cast<std::size_t>(values(i, 3))},
                      Time::picoseconds(values(i, 4))});
  }
  return result;
}

py::dict joules_of(const std::vector<EnergyComponent>& components) {
  py::dict result;
  for (const EnergyComponent& component : components) result[py::str(component.name)] = component.energy.joules();
  return result;
}

py::dict energy_entry(const EnergyFile& file, const Machine& machine, const RunReport& report) {
  const EnergyReport energy = energy_of(file.model, machine, report);
  CoreUse all;
  for (const CoreUse& use : report.cores) {
    all.busy += use.busy;
    all.spinning += use.spinning;
    all.switches += use.switches;
    all.wakeups += use.wakeups;
  }
  py::dict sensitivity;
  for (const EnergySensitivity& one : energy_sensitivity(file, machine, report))
    sensitivity[py::str(one.parameter)] = std::vector{one.low.joules(), one.high.joules()};
  py::dict joules = joules_of(energy.components);
  joules["total"] = energy.total().joules();
  return py::dict("model"_a = file.model.name, "joules"_a = joules, "cores_joules"_a = joules_of(energy.cores),
                  "static_joules"_a = joules_of(energy.background), "sensitivity_joules"_a = sensitivity,
                  "core_busy_seconds"_a = all.busy.seconds(), "core_spinning_seconds"_a = all.spinning.seconds(),
                  "context_switches"_a = all.switches, "wakeups"_a = all.wakeups);
}

// `system`: path of a description, empty for what OperatingSystem says by itself.
RunExtras extras_from(const std::string& system, bool keep_log, const std::optional<Log>& follow, std::shared_ptr<CacheRecord> record,
                      std::size_t timeline_events, std::optional<double> balanced_for, unsigned host_threads) {
  RunExtras extras;
  if (!system.empty()) extras.system = read_system_file(system).system;
  extras.keep_log = keep_log;
  if (follow) extras.follow = log_from(*follow);
  extras.record = std::move(record);
  extras.timeline_events = timeline_events;
  extras.host_threads = host_threads;
  if (balanced_for) extras.balanced_for = Time::from_seconds(*balanced_for);
  return extras;
}

// `energy`: path of a description, empty for a run whose energy nobody asks for.
py::dict replay(const Workload& workload, const MachineHandle& machine, const RunSpec& spec, const RunExtras& extras,
                const std::string& energy) {
  const RunReport report = without_gil([&] { return run(workload, machine.file.machine, spec, extras); });
  py::dict result("seconds"_a = report.time.seconds(), "regions"_a = regions_of(report), "threads"_a = threads_of(report),
                  "counts"_a = counts_of(report.counts), "pages_by_node"_a = report.pages_by_node, "page_faults"_a = report.page_faults,
                  "migrated_pages"_a = report.migrated_pages, "hinting_faults"_a = report.hinting_faults,
                  "thread_moves"_a = report.thread_moves, "remote_pages"_a = report.remote_pages, "huge_pages"_a = report.huge_pages,
                  "overflowed_pages"_a = report.overflowed_pages);
  result["heap"] = py::dict("reserved_bytes"_a = report.heap.reserved_bytes, "requested_peak_bytes"_a = report.heap.requested_peak_bytes,
                            "mixed_owner_pages"_a = report.heap.mixed_owner_pages, "remote_block_pages"_a = report.heap.remote_block_pages,
                            "lock_wait_seconds"_a = report.heap.lock_wait.seconds());
  if (report.replication) {
    result["replicated_pages"] = report.replication->replicated;
    result["collapsed_pages"] = report.replication->collapsed;
    result["unreplicated_pages"] = report.replication->without_room;
  }
  result["pages_by_symbol"] = symbol_pages_of(report);
  result["best_placement"] = best_of(report);
  if (!energy.empty()) result["energy"] = energy_entry(read_energy_file(energy), machine.file.machine, report);
  const Overheads& spent = report.overheads;
  result["overheads"] =
      py::dict("fork"_a = spent.fork.seconds(), "barrier"_a = spent.barrier.seconds(), "runtime"_a = spent.runtime.seconds(),
               "page_work"_a = spent.page_work.seconds(), "waiting"_a = spent.waiting.seconds());
  result["over_time"] = over_time_of(report.over_time);
  result["threads_at_once"] = report.threads_at_once;
  result["heap_name"] = heap_of(workload, spec);
  result["caches"] = report.caches;
  result["core"] = report.core;
  result["caches_region"] = report.caches_region;
  result["caches_lines_per_touch"] = report.caches_lines_per_touch;
  if (report.balanced) {
    const BalancedTime& balanced = *report.balanced;
    result["balanced"] = py::dict("seconds"_a = balanced.seconds.seconds(), "seconds_alone"_a = balanced.seconds_alone.seconds(),
                                  "group"_a = balanced.group, "repeats"_a = balanced.repeats, "scans"_a = balanced.scans,
                                  "hinting_faults"_a = balanced.hinting_faults, "moved_pages"_a = balanced.moved_pages);
  }
  if (report.timeline) result["timeline"] = timeline_of(*report.timeline);
  if (extras.keep_log) result["log"] = log_of(report);
  if (extras.keep_log) result["pages"] = pages_of(report);
  return result;
}

}  // namespace

void bind_replay(py::module_& module) {
  py::class_<CacheRecord, std::shared_ptr<CacheRecord>>(module, "CacheRecord")
      .def(py::init([](std::int64_t limit_bytes) { return std::make_shared<CacheRecord>(Bytes{limit_bytes}); }), "limit_bytes"_a);
  py::class_<RunExtras>(module, "RunExtras")
      .def(py::init(&extras_from), py::kw_only(), "system"_a = "", "keep_log"_a = false, "follow"_a = py::none(), "record"_a = py::none(),
           "timeline_events"_a = 0, "balanced_for"_a = py::none(), "host_threads"_a = 1);
  module.def("replay", &replay, "trace"_a, "machine"_a, "spec"_a, "extras"_a = RunExtras{}, "energy"_a = "");
}

}  // namespace homenode::python
