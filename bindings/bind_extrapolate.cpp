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
using namespace pybind11::literals;

namespace {

py::dict extrapolate_traces(const std::vector<std::filesystem::path>& captures, const std::filesystem::path& check,
                            const std::map<std::string, std::int64_t>& settings, const std::filesystem::path& output) {
  const Extrapolation made = without_gil([&] { return extrapolate({captures, check, settings, output}); });
  py::dict result("hash"_a = made.content_hash, "arguments"_a = made.arguments, "accesses"_a = made.accesses,
                  "footprint_bytes"_a = made.footprint_bytes, "executions"_a = made.executions, "captured_at"_a = made.captured_at,
                  "checked_at"_a = made.checked_at, "at"_a = made.asked_at, "check_hash"_a = made.check_hash);
  result["forms"] = list_of(made.forms, [](const Extrapolation::Form& form) {
    return py::dict("form"_a = form.name, "numbers"_a = form.numbers, "confirmed_by_captures"_a = form.confirmed_by_captures);
  });
  result["remarks"] = made.remarks;
  result["work_error"] = made.work_error;
  return result;
}

}  // namespace

void bind_extrapolate(py::module_& module) {
  module.def("extrapolate", &extrapolate_traces, "captures"_a, py::kw_only(), "check"_a, "settings"_a, "output"_a);
}

}  // namespace homenode::python
