// RunSpec as Python sees it, immutable, made from the table of its fields; nothing here names an option.
#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "models/run/run_fields.hpp"
#include "models/run/used_policies.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

py::object get(const RunSpec& spec, const RunField& field) {
  return std::visit([&](auto member) -> py::object { return py::cast(spec.*member); }, field.member);
}

[[noreturn]] void refuse(const RunField& field, const char* wanted, const py::handle& value) {
  throw UsageError("option '" + field.name + "' is " + std::string(py::str(py::type::of(value).attr("__name__"))) + "; allowed: " + wanted);
}

void set(RunSpec& spec, const RunField& field, const py::handle& value) {
  if (const auto* flag = std::get_if<bool RunSpec::*>(&field.member)) {
    if (!py::isinstance<py::bool_>(value)) refuse(field, "True or False", value);
    spec.*(*flag) = value.cast<bool>();
  } else if (const auto* text = std::get_if<std::string RunSpec::*>(&field.member)) {
    if (!py::isinstance<py::str>(value) && !py::hasattr(value, "__fspath__")) refuse(field, "a text", value);
    spec.*(*text) = py::str(value);
  } else {
    if (py::isinstance<py::bool_>(value) || PyIndex_Check(value.ptr()) == 0) refuse(field, "an integer", value);
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!number) {
      PyErr_Clear();
      refuse(field, "an integer", value);
    }
    std::visit(
        [&](auto member) {
          using Number = std::remove_reference_t<decltype(spec.*member)>;
          if constexpr (!std::is_same_v<Number, std::string>) {
            try {
              spec.*member = number.cast<Number>();
            } catch (const py::cast_error&) { throw UsageError(number_refused(field, py::str(number))); }
          }
        },
        field.member);
  }
}

RunSpec with(RunSpec spec, const py::kwargs& changes) {
  const std::vector<RunField>& fields = run_fields();
  for (const auto& [key, value] : changes) {
    const std::string name = py::str(key);
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const RunField& known) { return known.name == name; });
    if (field == fields.end()) {
      std::vector<std::string> names;
      for (const RunField& known : fields) names.push_back(known.name);
      throw py::type_error(unknown_name("option of a run", name, names));
    }
    set(spec, *field, value);
  }
  return spec;
}

py::tuple values_of(const RunSpec& spec) {
  py::tuple values(run_fields().size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = get(spec, run_fields()[i]);
  return values;
}

}  // namespace

void bind_run_spec(py::module_& module) {
  py::class_<RunField>(module, "RunField")
      .def_readonly("name", &RunField::name)
      .def_readonly("sign", &RunField::sign)
      .def_readonly("meaning", &RunField::meaning)
      .def_readonly("required", &RunField::required)
      .def_readonly("is_axis", &RunField::axis)
      .def_readonly("report", &RunField::report)
      .def_readonly("closed_form", &RunField::closed_form)
      .def_property_readonly("default", [](const RunField& field) { return get(RunSpec{}, field); })
      .def_property_readonly("names",
                             [](const RunField& field) { return field.names == nullptr ? std::vector<std::string>{} : field.names(); })
      .def_property_readonly("caches_see", [](const RunField& field) { return field.seen_by_caches != SeenByCaches::no; });
  module.def("run_fields", &run_fields);
  py::class_<RunSpec> spec(module, "RunSpec");
  spec.def(py::init([](const py::kwargs& values) { return with({}, values); }))
      .def("with_", &with)
      .def(py::self == py::self)
      .def("__hash__", [](const RunSpec& one) { return py::hash(values_of(one)); });
  for (const RunField& field : run_fields())
    spec.def_property_readonly(field.name.c_str(), [&field](const RunSpec& one) { return get(one, field); });
  module.def(
      "check_run",
      [](const RunSpec& one, const MachineHandle& machine, const std::vector<std::string>& labels, unsigned at_once, bool has_tasks) {
        check(one, machine.file.machine, labels, at_once, has_tasks);
      },
      "spec"_a, "machine"_a, "labels"_a, "threads_at_once"_a = 0, "has_tasks"_a = true);
  module.def("check_values", &check_values, "spec"_a);
  module.def(
      "used_policies",
      [](const RunSpec& one) {
        return list_of(used_policies(one), [](const UsedPolicy& used) { return py::make_tuple(used.kind, used.name, used.built_in); });
      },
      "spec"_a);
  module.def("what_caches_see", py::overload_cast<const RunSpec&, bool>(&what_caches_see), "spec"_a, "by_lines"_a = false);
  module.def(
      "what_caches_see_of", [](const MachineHandle& machine) { return what_caches_see(machine.file.machine); }, "machine"_a);
}

}  // namespace homenode::python
