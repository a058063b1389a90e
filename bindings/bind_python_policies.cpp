// Policies written in Python: into the registries of their kinds, and out of them.
#include <pybind11/stl.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/heap_pages.hpp"
#include "bindings/loop_view.hpp"
#include "bindings/mapped_pages.hpp"
#include "bindings/python_distribution.hpp"
#include "bindings/python_heap.hpp"
#include "bindings/python_mapping.hpp"
#include "bindings/python_placement.hpp"
#include "models/distribution/register.hpp"
#include "models/heap/register.hpp"
#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

// Of each parameter its name and default; none: it is required.
using Settings = std::vector<std::pair<std::string, std::optional<std::int64_t>>>;

ParameterSpec parameter_from(const std::string& name, const std::optional<std::int64_t>& value) {
  const std::int64_t usual = value.value_or(0);
  ParameterSpec parameter = integer_parameter(name, "", "a setting of the policy's own", usual, usual < 0 ? INT64_MIN : 0);
  return value ? parameter : required(std::move(parameter));
}

PolicyDescription described_policy(const std::string& name, const std::string& description, const Settings& settings,
                                   const std::vector<std::string>& examples, const std::map<std::string, std::string>& deviations) {
  PolicyDescription described{.name = name, .description = description, .parameters = {}, .examples = examples, .deviations = {}};
  for (const auto& [parameter, value] : settings) described.parameters.push_back(parameter_from(parameter, value));
  for (const auto& [clause, reason] : deviations) described.deviations.push_back({clause, reason});
  return described;
}

Watch watch_from(const std::string& text) {
  if (text == "nothing") return Watch::nothing;
  if (text == "hinting-faults") return Watch::hinting_faults;
  if (text == "traffic") return Watch::traffic;
  throw UsageError(unknown_name("what a placement watches", text, std::vector<std::string>{"nothing", "hinting-faults", "traffic"}));
}

template <class Adapter, class Interface, class... More>
void add(Registry<Interface>& registry, const PolicyDescription& described, const py::object& make, More... more) {
  registry.add(python_entry<Interface, Adapter>(registry.kind(), described, KeptObject{make}, more...));
}

// Calls `work` with the registry of a kind.
template <class Work>
void with_registry(const std::string& kind, const Work& work) {
  if (kind == page_placements().kind()) work(page_placements());
  if (kind == thread_mappings().kind()) work(thread_mappings());
  if (kind == work_distributions().kind()) work(work_distributions());
  if (kind == heap_managers().kind()) work(heap_managers());
}

// Calls `look` of Python for a name that no registry has.
void when_unknown(const py::object& look) {
  const auto ask = [kept = KeptObject{look}] {
    const py::gil_scoped_acquire gil;
    kept.get()();
  };
  page_placements().when_unknown(ask);
  thread_mappings().when_unknown(ask);
  work_distributions().when_unknown(ask);
  heap_managers().when_unknown(ask);
}

}  // namespace

void bind_python_policies(py::module_& module) {
  bind_loop_view(module);
  bind_heap_pages(module);
  bind_mapped_pages(module);
  py::class_<PolicyDescription>(module, "PolicyDescription")
      .def(py::init(&described_policy), "name"_a, "description"_a, "settings"_a, "examples"_a, "deviations"_a);
  module.def(
      "add_placement",
      [](const PolicyDescription& described, const py::object& make, const std::string& watches, bool wakes) {
        add<PythonPlacement>(page_placements(), described, make, Watching{watch_from(watches), wakes});
      },
      "described"_a, "make"_a, "watches"_a, "wakes"_a);
  module.def(
      "add_mapping",
      [](const PolicyDescription& described, const py::object& make, bool graph) {
        add<PythonMapping>(thread_mappings(), described, make, graph);
      },
      "described"_a, "make"_a, "graph"_a);
  module.def(
      "add_distribution",
      [](const PolicyDescription& described, const py::object& make, bool estimates, bool tasks) {
        add<PythonDistribution>(work_distributions(), described, make, PythonDistribution::Asks{estimates, tasks});
      },
      "described"_a, "make"_a, "estimates"_a, "tasks"_a);
  module.def(
      "add_heap", [](const PolicyDescription& described, const py::object& make) { add<PythonHeap>(heap_managers(), described, make); },
      "described"_a, "make"_a);
  module.def(
      "remove_policy",
      [](const std::string& kind, const std::string& name) { with_registry(kind, [&](auto& registry) { registry.remove(name); }); },
      "kind"_a, "name"_a);
  module.def(
      "check_policy_name",
      [](const std::string& kind, const std::string& name) {
        with_registry(kind, [&](const auto& registry) { registry.check_new_name(name); });
      },
      "kind"_a, "name"_a);
  module.def("when_unknown", &when_unknown, "look"_a);
}

}  // namespace homenode::python
