// Traces: opened, looked into, held against the format's invariants, assembled from a traced program's stream.
#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "sim/program/expand_runs.hpp"
#include "sim/program/recorded.hpp"
#include "sim/program/thread_graph.hpp"
#include "sim/program/thread_types.hpp"
#include "sim/program/workload.hpp"
#include "traces/capture/assembler/assembler.hpp"
#include "traces/format/invariants.hpp"
#include "traces/format/trace_file.hpp"
#include "traces/format/trace_summary.hpp"

namespace homenode::python {
namespace py = pybind11;

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
  return py::dict(py::arg("instructions") = work.instructions, py::arg("integer") = work.integer, py::arg("fp_add") = work.fp_add,
                  py::arg("fp_multiply") = work.fp_multiply, py::arg("fp_fma") = work.fp_fma, py::arg("divide") = work.divide,
                  py::arg("load") = work.load, py::arg("store") = work.store, py::arg("branch") = work.branch);
}

py::object number_or_none(ThreadId thread) { return thread.is_none() ? py::object(py::none()) : py::object(py::int_(thread.value())); }

// The keys of homenode.inspect/1 (architecture.md); keys are only ever added.
py::dict inspect(const Workload& workload) {
  TraceSummary summary;
  {
    const py::gil_scoped_release released;
    summary = summarize(workload);
  }
  py::list objects, regions, threads;
  for (std::size_t i = 0; i < workload.objects.size(); ++i) {
    const TracedObject& object = workload.objects[i];
    objects.append(py::dict(py::arg("id") = i, py::arg("kind") = name_of(object.kind), py::arg("bytes") = object.bytes,
                            py::arg("symbol") = object.symbol, py::arg("private") = object.thread_private,
                            py::arg("site") = place_of(workload, object.site)));
  }
  for (std::size_t i = 0; i < workload.regions.size(); ++i) {
    const Region& region = workload.regions[i];
    const RegionSummary& of_region = summary.regions[i];
    const AccessSums& sums = of_region.sums;
    regions.append(py::dict(py::arg("label") = region.label, py::arg("kind") = name_of(region.kind),
                            py::arg("executions") = sums.executions, py::arg("items") = sums.items, py::arg("accesses") = sums.accesses,
                            py::arg("reads") = sums.reads, py::arg("writes") = sums.writes, py::arg("schedule") = region.schedule_clause,
                            py::arg("site") = place_of(workload, region.site), py::arg("work") = counts(of_region.work),
                            py::arg("miss_parallelism") = of_region.miss_parallelism));
  }
  for (std::size_t i = 0; i < workload.threads.size(); ++i) {
    const TracedThread& thread = workload.threads[i];
    threads.append(py::dict(py::arg("thread") = i, py::arg("parent") = number_or_none(thread.parent), py::arg("routine") = thread.routine,
                            py::arg("rank") = thread.rank));
  }
  py::dict result;
  result["schema"] = "homenode.inspect/1";
  result["hash"] = workload.content_hash;
  result["complete"] = workload.complete;
  result["program"] = workload.program;
  result["arguments"] = workload.arguments;
  result["compiler"] = workload.compiler;
  result["accesses"] = summary.sums.accesses;
  result["reads"] = summary.sums.reads;
  result["writes"] = summary.sums.writes;
  result["footprint_bytes"] = summary.footprint_bytes;
  result["work"] = counts(summary.work);
  result["objects"] = objects;
  result["regions"] = regions;
  result["threads"] = threads;
  result["losses"] = list_of(workload.losses, [&](const Loss& loss) {
    return py::dict(py::arg("site") = place_of(workload, loss.site), py::arg("reason") = loss.reason, py::arg("count") = loss.count);
  });
  return result;
}

// `team` 0: as many threads as the program's teams had when it was captured.
py::dict threads_of(const Workload& workload, unsigned team) {
  require(workload, Recorded::threads, "the graph of threads (inspect --threads)");
  if (team == 0)
    for (const Execution& execution : workload.executions) team = std::max(team, execution.team);
  const ThreadGraph graph = [&] {
    const py::gil_scoped_release released;
    return thread_graph(workload, team);
  }();
  const std::vector<ClassifiedThread> types = classify_threads(graph);
  const auto numbers = [](const std::vector<ThreadId>& ids) { return list_of(ids, [](ThreadId id) { return py::int_(id.value()); }); };
  py::list threads, shared, dependent;
  for (std::size_t t = 0; t < graph.threads.size(); ++t) {
    const ThreadGraph::Thread& thread = graph.threads[t];
    threads.append(py::dict(py::arg("thread") = t, py::arg("parent") = number_or_none(thread.parent),
                            py::arg("joined_by") = number_or_none(thread.joined_by), py::arg("routine") = thread.routine,
                            py::arg("read_bytes") = thread.read_bytes, py::arg("written_bytes") = thread.written_bytes,
                            py::arg("accesses") = thread.accesses, py::arg("type") = std::string{name_of(types[t].type)},
                            py::arg("level") = types[t].level, py::arg("side_by_side_with") = numbers(types[t].side_by_side_with),
                            py::arg("communication_parents") = numbers(types[t].communication_parents)));
    std::vector<std::uint64_t> row(graph.threads.size(), 0), row_of_dependences(graph.threads.size(), 0);
    for (const ThreadGraph::Partner& reader : graph.partners(ThreadId{t})) {
      row[reader.thread.index()] = reader.bytes.shared.at(ThreadId{t} > reader.thread);
      row_of_dependences[reader.thread.index()] = reader.bytes.dependent.at(ThreadId{t} > reader.thread);
    }
    shared.append(row);
    dependent.append(row_of_dependences);
  }
  return py::dict(py::arg("threads") = threads, py::arg("shared_bytes") = shared, py::arg("dependent_bytes") = dependent);
}

std::vector<std::string> check_trace(const std::filesystem::path& path) {
  const py::gil_scoped_release released;
  return broken_invariants(*open_trace(path));
}

py::dict assemble_stream(int descriptor, const std::filesystem::path& output, const std::string& program, const std::string& label,
                         const std::vector<std::string>& arguments, const std::optional<std::filesystem::path>& work,
                         const std::function<bool()>& was_asked_to_end) {
  AssembleOptions options;
  options.output = output;
  options.program = program;
  options.label = label;
  options.arguments = arguments;
  if (work) options.work = *work;
  options.was_asked_to_end = was_asked_to_end;
  AssembleResult assembled;
  {
    const py::gil_scoped_release released;
    assembled = assemble(descriptor, options);
  }
  py::dict result;
  result["hash"] = assembled.content_hash;
  result["complete"] = assembled.complete;
  result["accesses"] = assembled.accesses;
  result["exit_status"] = assembled.exit_status;
  return result;
}

}  // namespace

void bind_trace(py::module_& module) {
  py::class_<Workload, std::shared_ptr<Workload>>(module, "Trace")
      .def_static("open", &open_trace, py::arg("path"), py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("hash", [](const Workload& workload) { return workload.content_hash; })
      .def_property_readonly("complete", [](const Workload& workload) { return workload.complete; })
      .def_property_readonly("program", [](const Workload& workload) { return workload.program; })
      .def_property_readonly("arguments", [](const Workload& workload) { return workload.arguments; })
      .def_property_readonly("labels", &labels_of)
      .def_property_readonly("accesses", [](const Workload& workload) { return access_sums(workload).accesses; })
      .def("inspect", &inspect)
      .def("thread_graph", &threads_of, py::arg("team"))
      .def("expand_runs", [](std::shared_ptr<Workload> workload) { return expand_runs(std::move(workload)); });
  module.def("check_trace", &check_trace, py::arg("path"));
  module.def("recover", &recover, py::arg("part"), py::arg("target"), py::call_guard<py::gil_scoped_release>());
  module.def("assemble", &assemble_stream, py::arg("descriptor"), py::arg("output"), py::kw_only(), py::arg("program"), py::arg("label"),
             py::arg("arguments"), py::arg("work"), py::arg("was_asked_to_end"));
}

}  // namespace homenode::python
