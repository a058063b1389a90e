// Traces of other tools: imported, and unfolded again access by access.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "traces/importers/import_trace.hpp"
#include "traces/importers/unfold.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

// Progress reports are also where Ctrl-C is heard.
py::dict import_with(ImportResult (*import)(const ImportOptions&), const std::filesystem::path& input, const std::filesystem::path& output,
                     const py::object& progress) {
  ImportOptions options;
  options.input = input;
  options.output = output;
  options.progress = [&progress](std::uint64_t bytes, std::uint64_t of) {
    const py::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!progress.is_none()) progress(bytes, of);
  };
  ImportResult imported;
  {
    const py::gil_scoped_release released;
    imported = import(options);
  }
  py::dict result;
  result["hash"] = imported.content_hash;
  result["complete"] = imported.complete;
  result["accesses"] = imported.accesses;
  result["lacks"] = imported.lacks;
  result["threads"] = imported.threads;
  py::list objects;
  for (std::size_t i = 0; i < imported.objects.size(); ++i) {
    const AddressRanges::Range& range = imported.objects[i];
    objects.append(
        py::dict(py::arg("id") = i, py::arg("first") = range.first, py::arg("last") = range.last, py::arg("bytes") = range.bytes()));
  }
  result["objects"] = objects;
  return result;
}

// Columns of equal length, one row an access; kind as in AccessKind: read, write, read-modify-write, atomic.
py::dict accesses_of(const Workload& workload, std::size_t execution, std::int64_t iteration) {
  if (execution >= workload.executions.size()) {
    throw UsageError("execution " + std::to_string(execution) + " of a trace with " + std::to_string(workload.executions.size()));
  }
  std::vector<UnfoldedAccess> accesses;
  {
    const py::gil_scoped_release released;
    accesses = unfold(workload, ExecutionId{execution}, iteration);
  }
  const auto rows = static_cast<py::ssize_t>(accesses.size());
  py::array_t<std::uint64_t> address(rows), site(rows);
  py::array_t<std::uint16_t> width(rows);
  py::array_t<std::uint8_t> kind(rows);
  for (py::ssize_t i = 0; i < rows; ++i) {
    const UnfoldedAccess& access = accesses[static_cast<std::size_t>(i)];
    address.mutable_at(i) = access.address;
    site.mutable_at(i) = access.site;
    width.mutable_at(i) = access.width;
    kind.mutable_at(i) = static_cast<std::uint8_t>(access.kind);
  }
  return py::dict(py::arg("address") = address, py::arg("site") = site, py::arg("width") = width, py::arg("kind") = kind);
}

}  // namespace

void bind_import(py::module_& module) {
  module.def(
      "import_lackey",
      [](const std::filesystem::path& input, const std::filesystem::path& output, const py::object& progress) {
        return import_with(&import_lackey, input, output, progress);
      },
      py::arg("input"), py::arg("output"), py::arg("progress") = py::none());
  module.def(
      "import_csv",
      [](const std::filesystem::path& input, const std::filesystem::path& output, const py::object& progress) {
        return import_with(&import_csv, input, output, progress);
      },
      py::arg("input"), py::arg("output"), py::arg("progress") = py::none());
  module.def("accesses_of", &accesses_of, py::arg("trace"), py::arg("execution"), py::arg("iteration"));
  module.def(
      "lacks", [](const Workload& trace) { return trace.lacks; }, py::arg("trace"));
}

}  // namespace homenode::python
