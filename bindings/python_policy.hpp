// What a policy written in Python was registered with, and what it makes for a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bindings/user_code.hpp"
#include "sim/base/parameters.hpp"
#include "sim/base/place.hpp"
#include "sim/base/registry.hpp"
#include "sim/machine/machine.hpp"

namespace homenode::python {

// For `homenode policies` and the contracts, as PolicyEntry has it.
struct PolicyDescription {
  std::string name, description;
  std::vector<ParameterSpec> parameters;
  std::vector<std::string> examples;
  std::vector<Deviation> deviations;
};

class PythonPolicy {
public:
  PythonPolicy(const std::string& kind, const std::string& name, KeptObject make, Parameters settings)
      : who_{kind + " '" + name + "'"}, make_{std::move(make)}, settings_{std::move(settings)} {}
  const std::string& who() const { return who_; }  // in errors
  // The object that decides in one run, made anew. With the GIL.
  KeptObject made_for(const Machine&) const;
  // Both equal for what the same registration makes with the same settings.
  const KeptObject& registration() const { return make_; }
  const std::map<std::string, std::int64_t>& settings() const { return settings_.values(); }

private:
  std::string who_;
  KeptObject make_;
  Parameters settings_;
};

// Thread, core, node and picoseconds: where and when code of a policy is called.
inline pybind11::tuple tuple_of(const Place& place) {
  return pybind11::make_tuple(place.thread.value(), place.core.value(), place.node.value(), place.now.count());
}

// A machine of C++ as Python holds it.
pybind11::object python_machine(const Machine&);

// The entry of a registry; Adapter(PythonPolicy, more...) is made without calling Python.
template <class Interface, class Adapter, class... More>
PolicyEntry<Interface> python_entry(const std::string& kind, const PolicyDescription& described, KeptObject make, More... more) {
  return {.name = described.name,
          .description = described.description,
          .parameters = described.parameters,
          .make =
              [kind, name = described.name, make = std::move(make), more...](const Parameters& settings) {
                return std::make_unique<Adapter>(PythonPolicy{kind, name, make, settings}, more...);
              },
          .examples = described.examples,
          .deviations = described.deviations};
}

}  // namespace homenode::python
