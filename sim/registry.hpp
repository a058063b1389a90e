// Policies by name. Filled by one explicit line a policy (no self-registering statics: static linking drops them silently).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/errors.hpp"
#include "sim/parameters.hpp"

namespace homenode {

template <class Interface>
struct PolicyEntry {
  std::string name, description;
  std::vector<ParameterSpec> parameters;
  std::function<std::unique_ptr<Interface>(const Parameters&)> make;
};

template <class Interface>
class Registry {
public:
  explicit Registry(std::string kind) : kind_{std::move(kind)} {}
  void add(PolicyEntry<Interface> entry) { entries_.push_back(std::move(entry)); }
  const std::string& kind() const { return kind_; }
  const std::vector<PolicyEntry<Interface>>& entries() const { return entries_; }

  // Throws UsageError for an unknown name, an unknown parameter, a value out of range.
  std::unique_ptr<Interface> make(std::string_view text) const {
    const PolicySpec spec = parse_policy_spec(text);
    std::vector<std::string> names;
    for (const auto& entry : entries_) {
      if (entry.name == spec.name) return entry.make(resolve_parameters(kind_, spec, entry.parameters));
      names.push_back(entry.name);
    }
    throw UsageError(unknown_name(kind_, spec.name, names));
  }

private:
  std::string kind_;
  std::vector<PolicyEntry<Interface>> entries_;
};

}  // namespace homenode
