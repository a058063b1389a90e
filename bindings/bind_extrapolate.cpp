// Traces at parameters that were not captured.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "traces/parametric/extrapolate.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

py::dict extrapolate_traces(const std::vector<std::filesystem::path>& captures, const std::filesystem::path& check,
                            const std::map<std::string, std::int64_t>& settings, const std::filesystem::path& output) {
  Extrapolation made;
  {
    const py::gil_scoped_release released;
    made = extrapolate({captures, check, settings, output});
  }
  py::dict result;
  result["hash"] = made.content_hash;
  result["arguments"] = made.arguments;
  result["accesses"] = made.accesses;
  result["footprint_bytes"] = made.footprint_bytes;
  result["executions"] = made.executions;
  result["captured_at"] = made.captured_at;
  result["checked_at"] = made.checked_at;
  result["at"] = made.asked_at;
  result["check_hash"] = made.check_hash;
  result["forms"] = list_of(made.forms, [](const Extrapolation::Form& form) {
    return py::dict(py::arg("form") = form.name, py::arg("numbers") = form.numbers,
                    py::arg("confirmed_by_captures") = form.confirmed_by_captures);
  });
  result["remarks"] = made.remarks;
  result["work_error"] = made.work_error;
  return result;
}

}  // namespace

void bind_extrapolate(py::module_& module) {
  module.def("extrapolate", &extrapolate_traces, py::arg("captures"), py::kw_only(), py::arg("check"), py::arg("settings"),
             py::arg("output"));
}

}  // namespace homenode::python
