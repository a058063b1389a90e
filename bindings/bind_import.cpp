// Traces of other tools: imported, and unfolded again access by access.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "traces/importers/import_trace.hpp"
#include "traces/importers/unfold.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

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
  const ImportResult imported = without_gil([&] { return import(options); });
  py::dict result("hash"_a = imported.content_hash, "complete"_a = imported.complete, "accesses"_a = imported.accesses,
                  "lacks"_a = imported.lacks, "threads"_a = imported.threads);
  py::list objects;
  for (std::size_t i = 0; i < imported.objects.size(); ++i) {
    const AddressRanges::Range& range = imported.objects[i];
    objects.append(py::dict("id"_a = i, "first"_a = range.first, "last"_a = range.last, "bytes"_a = range.bytes()));
  }
  result["objects"] = objects;
  return result;
}

// Columns of equal length, one row an access; kind as in AccessKind: read, write, read-modify-write, atomic.
py::dict accesses_of(const Workload& workload, std::size_t execution, std::int64_t iteration) {
  if (execution >= workload.executions.size()) {
    throw UsageError("execution " + std::to_string(execution) + " of a trace with " + std::to_string(workload.executions.size()));
  }
  const std::vector<UnfoldedAccess> accesses = without_gil([&] { return unfold(workload, ExecutionId{execution}, iteration); });
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
  return py::dict("address"_a = address, "site"_a = site, "width"_a = width, "kind"_a = kind);
}

}  // namespace

void bind_import(py::module_& module) {
  const auto bind = [&module](const char* name, ImportResult (*import)(const ImportOptions&)) {
    const auto with = [import](const std::filesystem::path& input, const std::filesystem::path& output, const py::object& progress) {
      return import_with(import, input, output, progress);
    };
    module.def(name, with, "input"_a, "output"_a, "progress"_a = py::none());
  };
  bind("import_lackey", &import_lackey);
  bind("import_csv", &import_csv);
  module.def("accesses_of", &accesses_of, "trace"_a, "execution"_a, "iteration"_a);
  module.def(
      "lacks", [](const Workload& trace) { return trace.lacks; }, "trace"_a);
}

}  // namespace homenode::python
