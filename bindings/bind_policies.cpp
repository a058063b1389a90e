// The names that can be chosen, with their parameters.
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "models/caches/choose_caches.hpp"
#include "models/distribution/register.hpp"
#include "models/engines/engines.hpp"
#include "models/engines/simgrid_module.hpp"
#include "models/heap/register.hpp"
#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

// Integers as numbers, times and sizes as they are written.
py::object value_of(const ParameterSpec& parameter, std::int64_t value) {
  return parameter.kind == ParameterKind::integer || parameter.kind == ParameterKind::list
             ? py::object(py::int_(value))
             : py::object(py::str(parameter_text(parameter, value)));
}

template <class Interface>
void describe(const Registry<Interface>& registry, py::list& result) {
  for (const auto& entry : registry.entries()) {
    py::list parameters;
    for (const ParameterSpec& parameter : entry.parameters) {
      py::dict description("name"_a = parameter.name, "unit"_a = parameter.unit, "description"_a = parameter.description,
                           "required"_a = parameter.required);
      const bool no_default = parameter.required || parameter.kind == ParameterKind::list;
      description["default"] = no_default ? py::object(py::none()) : value_of(parameter, parameter.default_value);
      description["words"] = parameter.words;
      description["minimum"] = value_of(parameter, parameter.minimum);
      description["maximum"] = parameter.maximum == INT64_MAX ? py::object(py::none()) : value_of(parameter, parameter.maximum);
      parameters.append(std::move(description));
    }
    py::dict policy("kind"_a = registry.kind(), "name"_a = entry.name, "description"_a = entry.description,
                    "modifier"_a = entry.modify != nullptr, "parameters"_a = parameters, "examples"_a = entry.examples);
    py::list deviations;
    for (const Deviation& deviation : entry.deviations)
      deviations.append(py::dict("clause"_a = deviation.clause, "reason"_a = deviation.reason));
    policy["deviations"] = deviations;
    result.append(std::move(policy));
  }
}

template <class Make>
void describe(const Choices<Make>& choices, py::list& result) {
  for (const auto& entry : choices.entries())
    result.append(py::dict("kind"_a = choices.kind(), "name"_a = entry.name, "description"_a = entry.description, "modifier"_a = false,
                           "parameters"_a = py::list{}));
}

}  // namespace

void bind_policies(py::module_& module) {
  module.def("policies", [] {
    py::list result;
    describe(page_placements(), result);
    describe(thread_mappings(), result);
    describe(work_distributions(), result);
    describe(heap_managers(), result);
    describe(engines(), result);
    describe(cache_models(), result);
    return result;
  });
  module.def("engine_names", &engine_names);
  module.def(
      "use_simgrid_module", [](std::string path) { use_simgrid(simgrid_of_module(std::move(path))); }, py::arg("path"));
}

}  // namespace homenode::python
