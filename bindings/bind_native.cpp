// This host: seen and measured.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "models/machines/native/calibrate.hpp"
#include "models/machines/native/detect.hpp"
#include "models/machines/native/measure.hpp"
#include "models/machines/native/other_thread.hpp"
#include "models/machines/native/shared_capacity.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

py::dict spread(const native::Spread& value) {
  return py::dict("value"_a = value.value, "low"_a = value.low, "high"_a = value.high, "disturbance"_a = value.disturbance,
                  "unsettled"_a = value.unsettled, "passes"_a = value.passes);
}

py::tuple calibrate_host(std::int64_t largest_working_set, std::int64_t array, unsigned repeats, unsigned most_passes,
                         const py::object& progress) {
  CalibrationOptions options;
  options.largest_working_set = Bytes{largest_working_set};
  options.array = Bytes{array};
  options.repeats = repeats;
  options.settling.most_passes = most_passes;
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
  const auto doubted = [](const DisturbedStep& entry) { return py::dict("step"_a = entry.step, "reason"_a = entry.reason); };
  measured["disturbances"] = list_of(result.disturbances, doubted);
  measured["unsettled"] = list_of(result.unsettled, doubted);
  py::dict figures;
  for (const NamedFigure& figure : result.figures) figures[py::str(figure.name)] = spread(figure.spread);
  measured["figures"] = figures;
  measured["cpus_sharing_cores"] = result.cpus_sharing_cores;
  return py::make_tuple(MachineHandle{std::move(result.file)}, measured);
}

}  // namespace

void bind_native(py::module_& module) {
  module.def("detect", [] { return MachineHandle{detect()}; });
  module.def("shared_capacity", [](const MachineHandle& handle) {
    const SharedCapacity capacity = without_gil([&] { return shared_capacity(handle.file.machine); });
    return py::dict("last_level_dependent"_a = capacity.last_level_dependent, "last_level_independent"_a = capacity.last_level_independent,
                    "memory_latency"_a = capacity.memory_latency, "core_to_core"_a = capacity.core_to_core,
                    "read_bandwidth"_a = capacity.read_bandwidth, "one_to_one"_a = capacity.one_to_one,
                    "page_fault"_a = capacity.page_fault, "cold_page_fault"_a = capacity.cold_page_fault,
                    "other_thread"_a = capacity.other_thread, "clock"_a = capacity.clock);
  });
  module.def(
      "other_thread_share",
      [](unsigned probes) { return without_gil([&] { return native::other_thread_share(native::usable_cpus(), probes); }); }, "probes"_a);
  module.def("calibrate", &calibrate_host, "largest_working_set"_a, "array"_a, "repeats"_a, "most_passes"_a, "progress"_a = py::none());
}

}  // namespace homenode::python
