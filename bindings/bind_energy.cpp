// Energy descriptions: names, files, and what is known about their values.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings/bindings.hpp"
#include "models/energy/energy_file.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

py::dict description_of(const std::filesystem::path& path) {
  const EnergyFile file = read_energy_file(path);
  py::dict result;
  result["name"] = file.model.name;
  result["description"] = file.model.description;
  result["parameters"] = list_of(file.parameters, &parameter_of);
  result["sources"] = file.sources;
  return result;
}

}  // namespace

void bind_energy(py::module_& module) {
  module.def("energy_names", &energy_names, py::arg("directories"));
  module.def("find_energy", &find_energy, py::arg("name"), py::arg("directories"));
  module.def("describe_energy", &description_of, py::arg("path"));
}

}  // namespace homenode::python
