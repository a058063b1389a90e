#include "bindings/python_policy.hpp"

#include "bindings/machine_handle.hpp"

namespace homenode::python {
namespace py = pybind11;

py::object python_machine(const Machine& machine) { return py::cast(MachineHandle{MachineFile{machine, {}, {}}}); }

KeptObject PythonPolicy::made_for(const Machine& machine) const {
  py::dict settings;
  for (const auto& [name, value] : settings_.values()) settings[py::str(name)] = value;
  return call_user(
      who_, [&] { return KeptObject{make_.get()(python_machine(machine), settings)}; }, MayRefuse::yes);
}

}  // namespace homenode::python
