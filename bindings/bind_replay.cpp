// One run of a trace on a machine, and its report as plain Python values.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "bindings/python_placement.hpp"
#include "bindings/timeline_values.hpp"
#include "models/energy/energy_file.hpp"
#include "models/engines/parts/cache_record.hpp"
#include "models/run/run.hpp"
#include "models/systems/system_file.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

using Log = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

py::list regions_of(const RunReport& report) {
  py::list result;
  for (const RegionReport& region : report.regions) {
    py::list binding;
    for (const BottleneckTime& entry : region.bottlenecks) {
      binding.append(py::dict(py::arg("resource") = entry.resource, py::arg("seconds") = entry.seconds));
    }
    py::dict entry;
    entry["label"] = region.label;
    entry["seconds"] = region.time.seconds();
    entry["executions"] = region.executions;
    entry["binding"] = binding;
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
    py::dict entry;
    entry["thread"] = thread.thread.value();
    entry["core"] = thread.core.value();
    entry["node"] = thread.node.value();
    entry["busy_seconds"] = thread.busy.seconds();
    entry["idle_seconds"] = thread.idle.seconds();
    entry["local_bytes"] = thread.local_bytes;
    entry["remote_bytes"] = thread.remote_bytes;
    result.append(std::move(entry));
  }
  return result;
}

py::dict counts_of(const EventCounts& counts) {
  py::dict result;
  result["nodes"] = counts.nodes;
  result["traffic_bytes"] = counts.traffic_bytes;
  result["read_bytes"] = counts.read_bytes;
  result["write_bytes"] = counts.write_bytes;
  result["link_bytes"] = counts.link_bytes;
  result["rings"] = list_of(counts.rings, [](const RingUse& ring) {
    return py::dict(py::arg("name") = ring.name, py::arg("messages") = ring.messages, py::arg("hops") = ring.hops,
                    py::arg("busy_seconds") = ring.busy.seconds());
  });
  result["hit_lines"] = counts.hit_lines;
  result["accesses"] = counts.accesses;
  result["memory_lines"] = counts.memory_lines;
  result["transfer_lines"] = counts.transfer_lines;
  result["upgrade_lines"] = counts.upgrade_lines;
  result["tlb_misses"] = counts.tlb_misses;
  result["zeroed_bytes"] = counts.zeroed_bytes;
  result["latency_ns"] = counts.latency_ns;
  return result;
}

py::object best_of(const RunReport& report) {
  if (!report.best) return py::none();
  const BestPlacement& best = *report.best;
  py::dict result;
  result["bound_seconds"] = best.bound.seconds();
  result["found_seconds"] = best.found.seconds();
  result["gap"] = best.bound > Time{} ? best.found.seconds() / best.bound.seconds() - 1 : 0.0;
  result["searched"] = best.searched;
  result["exact"] = best.exact;
  result["objective_seconds"] = best.objective.seconds();
  result["pages"] = best.pages;
  return result;
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
  py::dict result;
  result["model"] = file.model.name;
  result["joules"] = joules;
  result["cores_joules"] = joules_of(energy.cores);
  result["static_joules"] = joules_of(energy.background);
  result["sensitivity_joules"] = sensitivity;
  result["core_busy_seconds"] = all.busy.seconds();
  result["core_spinning_seconds"] = all.spinning.seconds();
  result["context_switches"] = all.switches;
  result["wakeups"] = all.wakeups;
  return result;
}

// `system`: path of a description, empty for what OperatingSystem says by itself.
RunExtras extras_from(const std::string& system, std::shared_ptr<PythonPlacement> place, bool keep_log, const std::optional<Log>& follow,
                      std::shared_ptr<CacheRecord> record, std::size_t timeline_events) {
  RunExtras extras;
  if (!system.empty()) extras.system = read_system_file(system).system;
  extras.own_placement = std::move(place);
  extras.keep_log = keep_log;
  if (follow) extras.follow = log_from(*follow);
  extras.record = std::move(record);
  extras.timeline_events = timeline_events;
  return extras;
}

// `energy`: path of a description, empty for a run whose energy nobody asks for.
py::dict replay(const Workload& workload, const MachineHandle& machine, const RunSpec& spec, const RunExtras& extras,
                const std::string& energy) {
  RunReport report;
  {
    const py::gil_scoped_release released;
    report = run(workload, machine.file.machine, spec, extras);
  }
  py::dict result;
  result["seconds"] = report.time.seconds();
  result["regions"] = regions_of(report);
  result["threads"] = threads_of(report);
  result["counts"] = counts_of(report.counts);
  result["pages_by_node"] = report.pages_by_node;
  result["page_faults"] = report.page_faults;
  result["migrated_pages"] = report.migrated_pages;
  result["hinting_faults"] = report.hinting_faults;
  result["thread_moves"] = report.thread_moves;
  result["remote_pages"] = report.remote_pages;
  result["huge_pages"] = report.huge_pages;
  result["overflowed_pages"] = report.overflowed_pages;
  result["heap"] =
      py::dict(py::arg("reserved_bytes") = report.heap.reserved_bytes, py::arg("requested_peak_bytes") = report.heap.requested_peak_bytes,
               py::arg("mixed_owner_pages") = report.heap.mixed_owner_pages, py::arg("remote_block_pages") = report.heap.remote_block_pages,
               py::arg("lock_wait_seconds") = report.heap.lock_wait.seconds());
  result["best_placement"] = best_of(report);
  if (!energy.empty()) result["energy"] = energy_entry(read_energy_file(energy), machine.file.machine, report);
  result["caches"] = report.caches;
  result["caches_region"] = report.caches_region;
  result["caches_lines_per_touch"] = report.caches_lines_per_touch;
  if (report.timeline) result["timeline"] = timeline_of(*report.timeline);
  if (extras.keep_log) result["log"] = log_of(report);
  if (extras.keep_log) result["pages"] = pages_of(report);
  return result;
}

}  // namespace

void bind_replay(py::module_& module) {
  py::class_<CacheRecord, std::shared_ptr<CacheRecord>>(module, "CacheRecord")
      .def(py::init([](std::int64_t limit_bytes) { return std::make_shared<CacheRecord>(Bytes{limit_bytes}); }), py::arg("limit_bytes"));
  py::class_<PythonPlacement, std::shared_ptr<PythonPlacement>>(module, "PythonPlacement")
      .def(py::init<std::string, py::object>(), py::arg("name"), py::arg("place"));
  py::class_<RunExtras>(module, "RunExtras")
      .def(py::init(&extras_from), py::kw_only(), py::arg("system") = "", py::arg("place") = py::none(), py::arg("keep_log") = false,
           py::arg("follow") = py::none(), py::arg("record") = py::none(), py::arg("timeline_events") = 0);
  module.def("replay", &replay, py::arg("trace"), py::arg("machine"), py::arg("spec"), py::arg("extras") = RunExtras{},
             py::arg("energy") = "");
}

}  // namespace homenode::python
