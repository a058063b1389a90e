// Traces: opened, looked into, held against the format's invariants, assembled from a traced program's stream.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/inspect_trace.hpp"
#include "sim/workload.hpp"
#include "traces/capture/assembler.hpp"
#include "traces/format/trace_file.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

std::vector<std::string> labels_of(const Workload& workload) {
  std::vector<std::string> result;
  for (const Region& region : workload.regions) result.push_back(region.label);
  return result;
}

std::uint64_t accesses_of(const Workload& workload) {
  std::uint64_t sum = 0;
  for (const Execution& execution : workload.executions) sum += execution.accesses;
  return sum;
}

std::string place_of(const Workload& workload, SiteId site) {
  if (site.index() >= workload.sites.size()) return "";
  const Site& found = workload.sites[site.index()];
  return found.file.empty() ? found.function : found.file + ":" + std::to_string(found.line);
}

// The keys of homenode.inspect/1 (architecture.md); keys are only ever added.
py::dict inspect(const Workload& workload) {
  struct Sums {
    std::uint64_t executions = 0, items = 0, accesses = 0, reads = 0, writes = 0;
  };
  std::vector<Sums> by_region(workload.regions.size());
  Sums all;
  for (const Execution& execution : workload.executions) {
    for (Sums* sums : {&by_region.at(execution.region.index()), &all}) {
      ++sums->executions;
      sums->items += static_cast<std::uint64_t>(execution.iterations);
      sums->accesses += execution.accesses;
      sums->reads += execution.reads;
      sums->writes += execution.writes;
    }
  }
  py::list objects, regions, threads, losses;
  for (std::size_t i = 0; i < workload.objects.size(); ++i) {
    const TracedObject& object = workload.objects[i];
    objects.append(py::dict(py::arg("id") = i, py::arg("kind") = name_of(object.kind), py::arg("bytes") = object.bytes,
                            py::arg("symbol") = object.symbol, py::arg("private") = object.thread_private,
                            py::arg("site") = place_of(workload, object.site)));
  }
  for (std::size_t i = 0; i < workload.regions.size(); ++i) {
    const Region& region = workload.regions[i];
    const Sums& sums = by_region[i];
    regions.append(py::dict(py::arg("label") = region.label, py::arg("kind") = name_of(region.kind),
                            py::arg("executions") = sums.executions, py::arg("items") = sums.items, py::arg("accesses") = sums.accesses,
                            py::arg("reads") = sums.reads, py::arg("writes") = sums.writes, py::arg("schedule") = region.schedule_clause,
                            py::arg("site") = place_of(workload, region.site)));
  }
  for (std::size_t i = 0; i < workload.threads.size(); ++i) {
    const TracedThread& thread = workload.threads[i];
    const py::object parent = thread.parent.is_none() ? py::object(py::none()) : py::object(py::int_(thread.parent.value()));
    threads.append(
        py::dict(py::arg("thread") = i, py::arg("parent") = parent, py::arg("routine") = thread.routine, py::arg("rank") = thread.rank));
  }
  for (const Loss& loss : workload.losses) {
    losses.append(
        py::dict(py::arg("site") = place_of(workload, loss.site), py::arg("reason") = loss.reason, py::arg("count") = loss.count));
  }
  py::dict result;
  result["schema"] = "homenode.inspect/1";
  result["hash"] = workload.content_hash;
  result["complete"] = workload.complete;
  result["program"] = workload.program;
  result["arguments"] = workload.arguments;
  result["compiler"] = workload.compiler;
  result["accesses"] = all.accesses;
  result["reads"] = all.reads;
  result["writes"] = all.writes;
  result["footprint_bytes"] = footprint(workload);
  result["objects"] = objects;
  result["regions"] = regions;
  result["threads"] = threads;
  result["losses"] = losses;
  return result;
}

std::vector<std::string> check_trace(const std::filesystem::path& path) {
  const py::gil_scoped_release released;
  return broken_invariants(*open_trace(path));
}

py::dict assemble_stream(int descriptor, const std::filesystem::path& output, const std::string& program, const std::string& label,
                         const std::vector<std::string>& arguments, const std::optional<std::filesystem::path>& work) {
  AssembleOptions options;
  options.output = output;
  options.program = program;
  options.label = label;
  options.arguments = arguments;
  if (work) options.work = *work;
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
      .def_property_readonly("accesses", &accesses_of)
      .def("inspect", &inspect);
  module.def("check_trace", &check_trace, py::arg("path"));
  module.def("assemble", &assemble_stream, py::arg("descriptor"), py::arg("output"), py::kw_only(), py::arg("program"), py::arg("label"),
             py::arg("arguments"), py::arg("work"));
}

}  // namespace homenode::python
