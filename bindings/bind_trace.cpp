// Traces: opened, looked into, held against the format's invariants.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "models/code/core_model.hpp"
#include "models/distribution/as_written.hpp"
#include "sim/program/created_threads.hpp"
#include "sim/program/expand_runs.hpp"
#include "sim/program/recorded.hpp"
#include "sim/program/thread_graph.hpp"
#include "sim/program/thread_types.hpp"
#include "sim/program/workload.hpp"
#include "traces/format/invariants.hpp"
#include "traces/format/trace_file.hpp"
#include "traces/format/trace_summary.hpp"
#include "traces/format/trace_writer.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

std::vector<std::string> labels_of(const Workload& workload) {
  std::vector<std::string> result;
  for (const Region& region : workload.regions) result.push_back(region.label);
  return result;
}

std::string place_of(const Workload& workload, SiteId site) {
  if (site.index() >= workload.sites.size()) return "";
  const Site& found = workload.sites[site.index()];
  return found.file.empty() ? found.function : found.file + ":" + std::to_string(found.line);
}

py::dict counts(const WorkCounts& work) {
  return py::dict("instructions"_a = work.instructions, "integer"_a = work.integer, "fp_add"_a = work.fp_add,
                  "fp_multiply"_a = work.fp_multiply, "fp_fma"_a = work.fp_fma, "divide"_a = work.divide, "load"_a = work.load,
                  "store"_a = work.store, "branch"_a = work.branch);
}

py::object number_or_none(ThreadId thread) { return thread.is_none() ? py::object(py::none()) : py::object(py::int_(thread.value())); }

// Why a truncated trace ends; empty if it does not say.
std::string truncated_by(const Workload& workload) {
  for (const Loss& loss : workload.losses)
    if (loss.reason.starts_with(truncation_prefix)) return loss.reason.substr(truncation_prefix.size());
  return "";
}

// Whether the program's own functions ran on threads that are not recorded (traces/capture/runtime/program_threads.c).
bool ran_on_library_threads(const Workload& workload) {
  return std::any_of(workload.losses.begin(), workload.losses.end(),
                     [](const Loss& loss) { return loss.reason.starts_with("the program's code on threads of a library"); });
}

// Regions by number, and the processor time of the program as it is that they took together on the host of the capture.
py::list measured_times_of(const Workload& workload) {
  return list_of(workload.executed.times, [](const MeasuredTime& time) {
    return py::dict("regions"_a = list_of(time.regions, [](RegionId region) { return region.value(); }), "seconds"_a = time.seconds);
  });
}

// The keys of homenode.inspect/1 (architecture.md); keys are only ever added.
py::dict inspect(const Workload& workload) {
  const TraceSummary summary = without_gil([&] { return summarize(workload); });
  py::list objects, regions, threads;
  std::vector<std::size_t> ranks(workload.regions.size());  // of the team that the region's code is bound to; 0: to none
  for (const Execution& execution : workload.executions)
    if (execution.parallel != 0 && execution.binding == Binding::rank) ranks[execution.region.index()] = execution.team;
  for (std::size_t i = 0; i < workload.objects.size(); ++i) {
    const TracedObject& object = workload.objects[i];
    objects.append(py::dict("id"_a = i, "kind"_a = name_of(object.kind), "bytes"_a = object.bytes, "symbol"_a = object.symbol,
                            "private"_a = object.thread_private, "site"_a = place_of(workload, object.site)));
  }
  for (std::size_t i = 0; i < workload.regions.size(); ++i) {
    const Region& region = workload.regions[i];
    const RegionSummary& of_region = summary.regions[i];
    const AccessSums& sums = of_region.sums;
    regions.append(py::dict("label"_a = region.label, "kind"_a = name_of(region.kind), "executions"_a = sums.executions,
                            "items"_a = sums.items, "accesses"_a = sums.accesses, "reads"_a = sums.reads, "writes"_a = sums.writes,
                            "schedule"_a = region.schedule_clause, "site"_a = place_of(workload, region.site),
                            "work"_a = counts(of_region.work), "miss_parallelism"_a = of_region.miss_parallelism, "ranks"_a = ranks[i],
                            "busiest_line"_a = place_of(workload, of_region.busiest)));
  }
  for (std::size_t i = 0; i < workload.threads.size(); ++i) {
    const TracedThread& thread = workload.threads[i];
    threads.append(
        py::dict("thread"_a = i, "parent"_a = number_or_none(thread.parent), "routine"_a = thread.routine, "rank"_a = thread.rank));
  }
  py::dict result("schema"_a = "homenode.inspect/1", "hash"_a = workload.content_hash, "complete"_a = workload.complete,
                  "truncated_by"_a = truncated_by(workload), "program"_a = workload.program, "arguments"_a = workload.arguments,
                  "compiler"_a = workload.compiler, "accesses"_a = summary.sums.accesses, "reads"_a = summary.sums.reads,
                  "writes"_a = summary.sums.writes, "footprint_bytes"_a = summary.footprint_bytes, "work"_a = counts(summary.work),
                  "objects"_a = objects, "regions"_a = regions, "threads"_a = threads);
  result["measured_times"] = measured_times_of(workload);
  result["losses"] = list_of(workload.losses, [&](const Loss& loss) {
    return py::dict("site"_a = place_of(workload, loss.site), "reason"_a = loss.reason, "count"_a = loss.count);
  });
  return result;
}

// How many threads a program that creates its own has, and how many of them at once; none if it creates none.
std::optional<std::pair<std::size_t, std::size_t>> own_threads_of(const Workload& workload) {
  const CreatedThreads created = without_gil([&] { return created_threads(workload); });
  if (!created.any()) return std::nullopt;
  return std::pair{created.place.size(), created.at_once};
}

// Whether one thread did all of it, whatever the team: no parallel region, no task, no thread of its own.
bool is_serial(const Workload& workload) {
  return std::all_of(workload.regions.begin(), workload.regions.end(), [](const Region& one) { return one.kind == RegionKind::serial; }) &&
         std::all_of(workload.executions.begin(), workload.executions.end(), [](const Execution& one) { return one.parallel == 0; });
}

bool has_own_schedules(const Workload& workload) {
  return std::any_of(workload.regions.begin(), workload.regions.end(), [](const Region& region) {
    return region.kind == RegionKind::loop && is_scheduled_by_itself(region.schedule_clause);
  });
}

// What unseen.py makes its sums of: instructions by region and function.
py::list code_of(const Workload& workload) {
  static constexpr std::array<const char*, 3> recorded{"nothing", "accesses", "heap"};
  static constexpr std::array<const char*, 5> bases{"counted", "stepped", "timed", "at_least", "none"};
  const auto* file = dynamic_cast<const TraceFile*>(&workload);
  if (file == nullptr) return py::list{};
  // Calls that core time by blocks has: their instructions are known, or what one takes.
  std::set<std::pair<std::string, std::string>> with_time;
  for (const CodeBlock& block : workload.executed.blocks)
    if (!block.function.empty() && (!block.bytes.empty() || block.nanoseconds > 0)) with_time.emplace(block.function, block.library);
  return list_of(file->code, [&](const RegionCode& code) {
    return py::dict(
        "region"_a = code.region.is_none() ? py::object(py::none()) : py::object(py::int_(code.region.value())),
        "function"_a = code.function, "library"_a = code.library, "recorded"_a = recorded.at(static_cast<std::size_t>(code.recorded)),
        "basis"_a = bases.at(static_cast<std::size_t>(code.basis)), "calls"_a = code.calls, "instructions"_a = code.instructions,
        "samples"_a = code.samples, "has_time"_a = with_time.contains({code.function, code.library}));
  });
}

// Of each instruction that loads.
py::list waits_of(const ExecutedCode& code, std::size_t block, const BlockCycles& cycles) {
  return list_of(cycles.loads, [&](const BlockCycles::Load& load) {
    const auto& [file, line] = code.line_of(static_cast<std::uint32_t>(block), load.instruction);
    return py::dict("file"_a = std::string{file}, "line"_a = line, "loads"_a = load.loads, "waited"_a = load.waited);
  });
}

// What `inspect --code` shows: each block that ran, with how often it ran in each region; its cycles if `llvm_cpu` is not empty.
py::list executed_code_of(const Workload& workload, const std::string& llvm_cpu) {
  const ExecutedCode& code = workload.executed;
  const std::vector<BlockCycles> cycles =
      llvm_cpu.empty() ? std::vector<BlockCycles>(code.blocks.size()) : without_gil([&] { return block_cycles(workload, llvm_cpu); });
  std::vector<py::list> counts(code.blocks.size());
  for (const CodeCount& count : code.counts)
    counts[count.block].append(py::dict("region"_a = workload.regions[count.region.index()].label, "executions"_a = count.executions,
                                        "mispredictions"_a = count.mispredictions));
  py::list blocks;
  for (std::size_t b = 0; b < code.blocks.size(); ++b) {
    const CodeBlock& block = code.blocks[b];
    py::dict entry("block"_a = b, "file"_a = block.file, "line"_a = block.line, "instructions"_a = block.instructions,
                   "function"_a = block.function, "library"_a = block.library, "regions"_a = counts[b]);
    entry["calls"] = block.calls == 0 ? py::object(py::none()) : py::object(py::int_(block.calls - 1));
    entry["cycles"] = cycles[b].is_known() ? py::object(py::float_(cycles[b].cycles)) : py::object(py::none());
    entry["bound"] = cycles[b].bound;
    const bool tells_waits = cycles[b].is_known() && !cycles[b].alone;
    entry["loads"] = tells_waits ? py::object(py::float_(cycles[b].all_loads())) : py::object(py::none());
    entry["waited"] = tells_waits ? py::object(py::float_(cycles[b].all_waited())) : py::object(py::none());
    entry["waits"] = tells_waits ? py::object(waits_of(code, b, cycles[b])) : py::object(py::none());
    blocks.append(entry);
  }
  return blocks;
}

// `team` 0: as many threads as the program's teams had when it was captured.
py::dict threads_of_trace(const Workload& workload, unsigned team) {
  require(workload, Recorded::threads, "the graph of threads (inspect --threads)");
  if (team == 0)
    for (const Execution& execution : workload.executions) team = std::max(team, execution.team);
  const auto known = without_gil([&] { return known_thread_graph(workload, team); });
  const ThreadGraph& graph = *known;
  const std::vector<ClassifiedThread> types = classify_threads(graph);
  const auto numbers = [](const std::vector<ThreadId>& ids) { return list_of(ids, [](ThreadId id) { return py::int_(id.value()); }); };
  py::list threads, shared, dependent;
  for (std::size_t t = 0; t < graph.threads.size(); ++t) {
    const ThreadGraph::Thread& thread = graph.threads[t];
    threads.append(py::dict("thread"_a = t, "parent"_a = number_or_none(thread.parent), "joined_by"_a = number_or_none(thread.joined_by),
                            "routine"_a = thread.routine, "read_bytes"_a = thread.read_bytes, "written_bytes"_a = thread.written_bytes,
                            "accesses"_a = thread.accesses, "type"_a = std::string{name_of(types[t].type)}, "level"_a = types[t].level,
                            "side_by_side_with"_a = numbers(types[t].side_by_side_with),
                            "communication_parents"_a = numbers(types[t].communication_parents)));
    std::vector<std::uint64_t> row(graph.threads.size(), 0), row_of_dependences(graph.threads.size(), 0);
    for (const ThreadGraph::Partner& reader : graph.partners(ThreadId{t})) {
      row[reader.thread.index()] = reader.bytes.shared.at(ThreadId{t} > reader.thread);
      row_of_dependences[reader.thread.index()] = reader.bytes.dependent.at(ThreadId{t} > reader.thread);
    }
    shared.append(row);
    dependent.append(row_of_dependences);
  }
  return py::dict("threads"_a = threads, "shared_bytes"_a = shared, "dependent_bytes"_a = dependent);
}

std::vector<std::string> check_trace(const std::filesystem::path& path) {
  const py::gil_scoped_release released;
  return broken_invariants(TraceFile{path, TraceRules::references});
}

}  // namespace

void bind_trace(py::module_& module) {
  py::class_<Workload, std::shared_ptr<Workload>>(module, "Trace")
      .def_static("open", &open_trace, "path"_a, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("hash", [](const Workload& workload) { return workload.content_hash; })
      .def_property_readonly("complete", [](const Workload& workload) { return workload.complete; })
      .def_property_readonly("truncated_by", &truncated_by)
      .def_property_readonly("ran_on_library_threads", &ran_on_library_threads)
      .def_property_readonly("program", [](const Workload& workload) { return workload.program; })
      .def_property_readonly("arguments", [](const Workload& workload) { return workload.arguments; })
      .def_property_readonly("labels", &labels_of)
      .def_property_readonly("has_tasks",
                             [](const Workload& workload) {
                               const auto is_of_tasks = [](const Region& region) { return region.kind == RegionKind::task; };
                               return std::any_of(workload.regions.begin(), workload.regions.end(), is_of_tasks);
                             })
      .def_property_readonly("has_teams",
                             [](const Workload& workload) {
                               const auto is_of_team = [](const Execution& execution) { return execution.parallel != 0; };
                               return std::any_of(workload.executions.begin(), workload.executions.end(), is_of_team);
                             })
      .def_property_readonly("accesses", [](const Workload& workload) { return access_sums(workload).accesses; })
      .def("inspect", &inspect)
      .def("own_threads", &own_threads_of)
      .def("is_serial", &is_serial)
      .def("has_own_schedules", &has_own_schedules)
      .def("code", &code_of)
      .def("measured_times", &measured_times_of)
      .def(
          "is_timed_by_blocks", [](const Workload& workload, const std::string& llvm_cpu) { return has_core_model(workload, llvm_cpu); },
          "llvm_cpu"_a)
      .def("executed_code", &executed_code_of, "llvm_cpu"_a)
      .def("thread_graph", &threads_of_trace, "team"_a)
      .def("expand_runs", [](std::shared_ptr<Workload> workload) { return expand_runs(std::move(workload)); });
  module.def(
      "use_core_model",
      [](const std::string& program, const std::string& answers) {
        use_core_model({program, answers});
      },
      "program"_a, "answers"_a);
  module.def(
      "written_schedule",
      [](const std::string& clause) {
        const WrittenSchedule found = written_schedule(clause);
        return std::tuple{found.clause, found.distribution, found.unknown_chunk};
      },
      "clause"_a);
  module.def("check_trace", &check_trace, "path"_a);
  module.def("recover", &recover, "part"_a, "target"_a, py::call_guard<py::gil_scoped_release>());
}

}  // namespace homenode::python
