// The closed form's estimate of a trace on a machine, as plain Python values.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "models/run/estimate.hpp"

namespace homenode::python {
namespace py = pybind11;

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
  Estimate made;
  {
    const py::gil_scoped_release released;
    made = estimate(workload, machine.file.machine, spec, extras);
  }
  py::dict result;
  result["seconds"] = made.seconds;
  result["table_seconds"] = made.table_seconds;
  result["microseconds_per_estimate"] = made.microseconds_per_estimate;
  result["regions"] = list_of(made.regions, [](const EstimatedRegion& region) {
    py::dict row;
    row["label"] = region.label;
    row["seconds"] = region.seconds;
    row["executions"] = region.executions;
    row["binding_resource"] = region.bottleneck;
    row["thread_seconds"] = array_of(region.thread_seconds);
    row["weights"] = array_of(region.weights);
    row["schedule"] = schedule_of(region.schedule);
    return row;
  });
  return result;
}

}  // namespace

void bind_estimate(py::module_& module) {
  module.def("estimate", &estimate_of, py::arg("trace"), py::arg("machine"), py::arg("spec"), py::arg("extras") = RunExtras{});
}

}  // namespace homenode::python
