// Policies by name. Filled by one explicit line a policy (no self-registering statics: static linking drops them silently).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/base/parameters.hpp"

namespace homenode {

// A clause of its kind's contract (tests/contract) that a policy does not keep, and why.
struct Deviation {
  std::string clause, reason;
};

template <class Interface>
struct PolicyEntry {
  std::string name, description;
  std::vector<ParameterSpec> parameters;
  std::function<std::unique_ptr<Interface>(const Parameters&)> make;
  // Texts with settings, as "bind:0". The contracts hold for these as for the name alone; with a required parameter there must be one.
  std::vector<std::string> examples{};
  std::vector<Deviation> deviations{};
  // Instead of `make`: a modifier, which works on another policy (first-touch+autonuma).
  std::function<std::unique_ptr<Interface>(const Parameters&, std::shared_ptr<Interface>)> modify = nullptr;
};

template <class Interface>
class Registry {
public:
  explicit Registry(std::string kind) : kind_{std::move(kind)} {}
  void add(PolicyEntry<Interface> entry) { entries_.push_back(std::move(entry)); }
  const std::string& kind() const { return kind_; }
  const std::vector<PolicyEntry<Interface>>& entries() const { return entries_; }

  // Throws UsageError for an unknown name, an unknown parameter, a value out of range, a modifier without a policy before it.
  std::unique_ptr<Interface> make(std::string_view text) const {
    const std::vector<PolicySpec> specs = parse_policy_specs(text);
    const PolicyEntry<Interface>& policy = find(specs.front(), false);
    std::unique_ptr<Interface> made = policy.make(resolve_parameters(kind_, specs.front(), policy.parameters));
    for (std::size_t i = 1; i < specs.size(); ++i) made = modified(specs[i], std::move(made));
    return made;
  }
  // `policy` under the modifiers that `text` names after the policy's own name, which is not looked up.
  std::shared_ptr<Interface> modify(std::string_view text, std::shared_ptr<Interface> policy) const {
    const std::vector<PolicySpec> specs = parse_policy_specs(text);
    for (std::size_t i = 1; i < specs.size(); ++i) policy = modified(specs[i], std::move(policy));
    return policy;
  }

private:
  std::unique_ptr<Interface> modified(const PolicySpec& spec, std::shared_ptr<Interface> policy) const {
    const PolicyEntry<Interface>& modifier = find(spec, true);
    return modifier.modify(resolve_parameters(kind_, spec, modifier.parameters), std::move(policy));
  }

  const PolicyEntry<Interface>& find(const PolicySpec& spec, bool modifier) const {
    std::vector<std::string> names;
    for (const auto& entry : entries_) {
      const bool modifies = entry.modify != nullptr;
      if (entry.name == spec.name && modifies == modifier) return entry;
      if (entry.name == spec.name && modifies)
        throw UsageError(kind_ + " '" + spec.name + "' modifies another one; allowed: a " + kind_ + " before it, as in '" +
                         entries_.front().name + "+" + spec.name + "'");
      if (modifies == modifier) names.push_back(entry.name);
    }
    throw UsageError(unknown_name(modifier ? "modifier of a " + kind_ : kind_, spec.name, names));
  }

  std::string kind_;
  std::vector<PolicyEntry<Interface>> entries_;
};

}  // namespace homenode
