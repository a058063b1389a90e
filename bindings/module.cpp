// homenode._core: the C++ libraries as Python sees them. Private; the typed package around it is the interface.
#include <pybind11/stl.h>

#include <optional>

#include "bindings/bindings.hpp"
#include "sim/base/text.hpp"

PYBIND11_MODULE(_core, module) {
  using namespace homenode::python;
  translate_exceptions();
  module.attr("version") = HOMENODE_VERSION;
  module.def(
      "unknown_name",
      [](const std::string& what, const pybind11::str& found, const std::vector<std::string>& allowed) {
        // What was typed need not be UTF-8: Python has such bytes as surrogates.
        return homenode::unknown_name(what, pybind11::bytes(found.attr("encode")("utf-8", "surrogateescape")), allowed);
      },
      pybind11::arg("what"), pybind11::arg("found"), pybind11::arg("allowed"));
  module.def(
      "brief",
      [](const pybind11::bytes& text, std::optional<std::size_t> limit) {
        return homenode::brief(std::string_view{text}, limit.value_or(SIZE_MAX));
      },
      pybind11::arg("text"), pybind11::arg("limit") = pybind11::none());
  bind_machine(module);
  bind_native(module);
  bind_policies(module);
  bind_python_policies(module);
  bind_extensions(module);
  bind_trace(module);
  bind_import(module);
  bind_extrapolate(module);
  bind_run_spec(module);
  bind_replay(module);
  bind_estimate(module);
  bind_descriptions(module);
  bind_mapping(module);
}
