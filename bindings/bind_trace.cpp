// Traces as the simulation sees them.
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "sim/workload.hpp"

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

}  // namespace

void bind_trace(py::module_& module) {
  py::class_<Workload, std::shared_ptr<Workload>>(module, "Trace")
      .def_property_readonly("hash", [](const Workload& workload) { return workload.content_hash; })
      .def_property_readonly("complete", [](const Workload& workload) { return workload.complete; })
      .def_property_readonly("program", [](const Workload& workload) { return workload.program; })
      .def_property_readonly("arguments", [](const Workload& workload) { return workload.arguments; })
      .def_property_readonly("labels", &labels_of)
      .def_property_readonly("accesses", &accesses_of);
}

}  // namespace homenode::python
