// Descriptions of machines, operating systems and energy: where they are found; what is known about the values of the latter two.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings/bindings.hpp"
#include "models/energy/energy_file.hpp"
#include "models/systems/system_file.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

void bind_folders(py::module_& module, const std::string& kind, const DescriptionFolders& folders) {
  using Directories = std::vector<std::filesystem::path>;
  module.def((kind + "_names").c_str(), [&folders](const Directories& all) { return folders.names(all); }, "directories"_a);
  module.def(("find_" + kind).c_str(), [&folders](const std::string& name, const Directories& all) { return folders.find(name, all); },
             "name"_a, "directories"_a);
}

template <class File, class Described>
py::dict description_of(const File& file, const Described& described) {
  return py::dict("name"_a = described.name, "description"_a = described.description,
                  "parameters"_a = list_of(file.parameters, &parameter_of), "sources"_a = file.sources);
}

py::dict describe_energy(const std::filesystem::path& path) {
  const EnergyFile file = read_energy_file(path);
  return description_of(file, file.model);
}

py::dict describe_system(const std::filesystem::path& path) {
  const SystemFile file = read_system_file(path);
  return description_of(file, file.system);
}

}  // namespace

void bind_descriptions(py::module_& module) {
  bind_folders(module, "machine", machine_folders);
  bind_folders(module, "system", system_folders);
  bind_folders(module, "energy", energy_folders);
  module.def("describe_system", &describe_system, "path"_a);
  module.def("describe_energy", &describe_energy, "path"_a);
}

}  // namespace homenode::python
