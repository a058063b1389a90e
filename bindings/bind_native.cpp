// This host: seen and measured.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "models/machines/native/calibrate.hpp"
#include "models/machines/native/detect.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

py::dict spread(const native::Spread& value) {
  return py::dict(py::arg("value") = value.value, py::arg("low") = value.low, py::arg("high") = value.high,
                  py::arg("disturbance") = value.disturbance);
}

py::tuple calibrate_host(std::int64_t largest_working_set, std::int64_t array, unsigned repeats, const py::object& progress) {
  CalibrationOptions options;
  options.largest_working_set = Bytes{largest_working_set};
  options.array = Bytes{array};
  options.repeats = repeats;
  if (!progress.is_none()) {
    options.progress = [&progress](const std::string& step) {
      const py::gil_scoped_acquire gil;
      progress(step);
    };
  }
  Calibration result;
  {
    const py::gil_scoped_release released;
    result = calibrate(options);
  }
  py::dict measured;
  measured["latency"] = list_of(result.latency, [](const LatencyByWorkingSet& entry) {
    return py::dict(py::arg("working_set_bytes") = entry.working_set.count(), py::arg("nanoseconds") = spread(entry.nanoseconds));
  });
  measured["bandwidth"] = list_of(result.bandwidth, [](const BandwidthByThreads& entry) {
    return py::dict(py::arg("kernel") = native::name_of(entry.kernel), py::arg("threads") = entry.threads,
                    py::arg("bytes_per_second") = spread(entry.bytes_per_second));
  });
  measured["barriers"] = list_of(result.barriers, [](const BarrierByThreads& entry) {
    return py::dict(py::arg("threads") = entry.threads, py::arg("nanoseconds") = spread(entry.nanoseconds));
  });
  measured["disturbances"] = list_of(result.disturbances, [](const DisturbedStep& entry) {
    return py::dict(py::arg("step") = entry.step, py::arg("reason") = entry.reason);
  });
  return py::make_tuple(MachineHandle{std::move(result.file)}, measured);
}

}  // namespace

void bind_native(py::module_& module) {
  module.def("detect", [] { return MachineHandle{detect()}; });
  module.def("calibrate", &calibrate_host, py::arg("largest_working_set"), py::arg("array"), py::arg("repeats"),
             py::arg("progress") = py::none());
}

}  // namespace homenode::python
