// Operating systems: names, files, and what is known about their values.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings/bindings.hpp"
#include "models/systems/system_file.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

py::dict description_of(const std::filesystem::path& path) {
  const SystemFile file = read_system_file(path);
  py::dict result;
  result["name"] = file.system.name;
  result["description"] = file.system.description;
  result["parameters"] = list_of(file.parameters, &parameter_of);
  result["sources"] = file.sources;
  return result;
}

}  // namespace

void bind_systems(py::module_& module) {
  module.def("system_names", &system_names, py::arg("directories"));
  module.def("find_system", &find_system, py::arg("name"), py::arg("directories"));
  module.def("describe_system", &description_of, py::arg("path"));
}

}  // namespace homenode::python
