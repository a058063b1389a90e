// homenode._core: the C++ libraries as Python sees them. Private; the typed package around it is the interface.
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"

PYBIND11_MODULE(_core, module) {
  using namespace homenode::python;
  translate_exceptions();
  module.attr("version") = HOMENODE_VERSION;
  module.def(
      "unknown_name",
      [](const std::string& what, const std::string& found, const std::vector<std::string>& allowed) {
        return homenode::unknown_name(what, found, allowed);
      },
      pybind11::arg("what"), pybind11::arg("found"), pybind11::arg("allowed"));
  bind_machine(module);
  bind_native(module);
  bind_policies(module);
  bind_trace(module);
  bind_import(module);
  bind_extrapolate(module);
  bind_run_spec(module);
  bind_replay(module);
  bind_estimate(module);
  bind_descriptions(module);
  bind_mapping(module);
}
