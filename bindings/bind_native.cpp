// This host: seen and measured.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "models/machines/native/calibrate.hpp"
#include "models/machines/native/detect.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

py::dict spread(const native::Spread& value) {
  return py::dict("value"_a = value.value, "low"_a = value.low, "high"_a = value.high, "disturbance"_a = value.disturbance);
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
  HostCalibration result = without_gil([&] { return calibrate(options); });
  py::dict measured;
  measured["latency"] = list_of(result.latency, [](const LatencyByWorkingSet& entry) {
    return py::dict("working_set_bytes"_a = entry.working_set.count(), "nanoseconds"_a = spread(entry.nanoseconds));
  });
  measured["bandwidth"] = list_of(result.bandwidth, [](const BandwidthByThreads& entry) {
    return py::dict("kernel"_a = native::name_of(entry.kernel), "threads"_a = entry.threads,
                    "bytes_per_second"_a = spread(entry.bytes_per_second));
  });
  measured["barriers"] = list_of(result.barriers, [](const BarrierByThreads& entry) {
    return py::dict("threads"_a = entry.threads, "nanoseconds"_a = spread(entry.nanoseconds));
  });
  measured["disturbances"] =
      list_of(result.disturbances, [](const DisturbedStep& entry) { return py::dict("step"_a = entry.step, "reason"_a = entry.reason); });
  return py::make_tuple(MachineHandle{std::move(result.file)}, measured);
}

}  // namespace

void bind_native(py::module_& module) {
  module.def("detect", [] { return MachineHandle{detect()}; });
  module.def("calibrate", &calibrate_host, "largest_working_set"_a, "array"_a, "repeats"_a, "progress"_a = py::none());
}

}  // namespace homenode::python
