// The closed form's estimate of a trace on a machine, as plain Python values.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "models/run/estimate.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

py::array_t<double> array_of(const std::vector<double>& values) {
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Columns first iteration, last iteration, thread.
py::array_t<std::int64_t> schedule_of(const std::vector<ScheduledRange>& ranges) {
  py::array_t<std::int64_t> result({static_cast<py::ssize_t>(ranges.size()), py::ssize_t{3}});
  auto values = result.mutable_unchecked<2>();
  for (py::ssize_t i = 0; i < values.shape(0); ++i) {
    const ScheduledRange& range = ranges[static_cast<std::size_t>(i)];
    values(i, 0) = range.first;
    values(i, 1) = range.last;
    values(i, 2) = range.thread.value();
  }
  return result;
}

py::dict estimate_of(const Workload& workload, const MachineHandle& machine, const RunSpec& spec, const RunExtras& extras) {
  const Estimate made = without_gil([&] { return estimate(workload, machine.file.machine, spec, extras); });
  py::dict result("seconds"_a = made.seconds, "table_seconds"_a = made.table_seconds,
                  "microseconds_per_estimate"_a = made.microseconds_per_estimate);
  result["regions"] = list_of(made.regions, [](const EstimatedRegion& region) {
    return py::dict("label"_a = region.label, "seconds"_a = region.seconds, "executions"_a = region.executions,
                    "binding_resource"_a = region.bottleneck, "thread_seconds"_a = array_of(region.thread_seconds),
                    "weights"_a = array_of(region.weights), "schedule"_a = schedule_of(region.schedule));
  });
  return result;
}

}  // namespace

void bind_estimate(py::module_& module) {
  module.def("estimate", &estimate_of, "trace"_a, "machine"_a, "spec"_a, "extras"_a = RunExtras{});
}

}  // namespace homenode::python
