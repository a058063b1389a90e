// The pieces of homenode._core: each bind_*.cpp adds one subject to the module.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <utility>

#include "sim/base/errors.hpp"

namespace homenode {
struct MachineParameter;
}

namespace homenode::python {

// An exception that left a policy written in Python. It travels through C++ with the original exception,
// which becomes the __cause__ of the PolicyError that the user sees.
struct PythonPolicyError : PolicyError {
  PythonPolicyError(const std::string& message, pybind11::error_already_set original)
      : PolicyError(message), cause(std::make_shared<pybind11::error_already_set>(std::move(original))) {}
  std::shared_ptr<pybind11::error_already_set> cause;
};

// A list of what `to_python(element)` makes of each element.
template <class Range, class ToPython>
pybind11::list list_of(const Range& range, const ToPython& to_python) {
  pybind11::list result;
  for (const auto& element : range) result.append(to_python(element));
  return result;
}

// What `work` returns; other Python threads run meanwhile.
template <class Work>
auto without_gil(const Work& work) {
  const pybind11::gil_scoped_release released;
  return work();
}

// A described value with its source, as `parameters` list it.
pybind11::dict parameter_of(const MachineParameter&);

void translate_exceptions();
void bind_descriptions(pybind11::module_&);
void bind_machine(pybind11::module_&);
void bind_mapping(pybind11::module_&);
void bind_native(pybind11::module_&);
void bind_policies(pybind11::module_&);
void bind_python_policies(pybind11::module_&);
void bind_trace(pybind11::module_&);
void bind_import(pybind11::module_&);
void bind_extrapolate(pybind11::module_&);
void bind_estimate(pybind11::module_&);
void bind_extensions(pybind11::module_&);
void bind_replay(pybind11::module_&);
void bind_run_spec(pybind11::module_&);

}  // namespace homenode::python
