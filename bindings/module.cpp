// homenode._core: the C++ libraries as Python sees them. Private; the typed package around it is the interface.
#include "bindings/bindings.hpp"

PYBIND11_MODULE(_core, module) {
  using namespace homenode::python;
  translate_exceptions();
  module.attr("version") = HOMENODE_VERSION;
  bind_machine(module);
  bind_native(module);
  bind_policies(module);
  bind_trace(module);
  bind_replay(module);
}
