// Policies by name. The built-in ones by one explicit line each (no self-registering statics: static linking drops them silently).
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
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

// Policies of one kind. Those that are built in are given at the start; extensions add theirs while the program runs, from any thread.
template <class Interface>
class Registry {
public:
  using Entry = PolicyEntry<Interface>;
  using Entries = std::vector<Entry>;

  Registry(std::string kind, Entries built_in)
      : kind_{std::move(kind)}, built_in_{built_in.size()}, entries_{std::make_shared<const Entries>(std::move(built_in))} {}
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Throws UsageError for the name of a built-in policy and for what is no name.
  void check_new_name(const std::string& name) const {
    if (!is_policy_name(name))
      throw UsageError(kind_ + " name '" + name + "'; allowed: a small letter, then small letters, digits and hyphens");
    if (is_built_in(name)) throw UsageError(kind_ + " '" + name + "' is built in; allowed: any other name");
  }
  // An extension's policy. It replaces one of its name that an extension added before; policies that were made stay. Throws as
  // check_new_name.
  void add(Entry entry) {
    check_new_name(entry.name);
    const std::string name = entry.name;
    change([&](Entries& entries) {
      const auto known = named(entries, name);
      if (known == entries.end())
        entries.push_back(std::move(entry));
      else
        *known = std::move(entry);
    });
  }
  // Takes back what an extension added, if it is there.
  void remove(const std::string& name) {
    change([&](Entries& entries) {
      const auto known = named(entries, name);
      if (known - entries.begin() >= static_cast<std::ptrdiff_t>(built_in_) && known != entries.end()) entries.erase(known);
    });
  }
  // `look` may add policies. It is called for each name that is not there, before the name is refused.
  void when_unknown(std::function<void()> look) {
    const std::lock_guard lock{mutex_};
    look_ = std::move(look);
  }

  const std::string& kind() const { return kind_; }
  Entries entries() const { return *now(); }  // as of now; built-in ones first
  bool is_built_in(std::string_view name) const {
    const auto entries = now();
    const auto end = entries->begin() + static_cast<std::ptrdiff_t>(built_in_);
    return std::any_of(entries->begin(), end, [&](const Entry& entry) { return entry.name == name; });
  }

  // Throws UsageError for an unknown name, an unknown parameter, a value out of range, a modifier without a policy before it.
  std::unique_ptr<Interface> make(std::string_view text) const {
    const std::vector<PolicySpec> specs = parse_policy_specs(text);
    const auto entries = entries_for(specs);
    const Entry& policy = find(*entries, specs.front(), false);
    std::unique_ptr<Interface> made = policy.make(resolve_parameters(kind_, specs.front(), policy.parameters));
    for (std::size_t i = 1; i < specs.size(); ++i) made = modified(*entries, specs[i], std::move(made));
    return made;
  }
  // `policy` under the modifiers that `text` names after the policy's own name, which is not looked up.
  std::shared_ptr<Interface> modify(std::string_view text, std::shared_ptr<Interface> policy) const {
    const std::vector<PolicySpec> specs = parse_policy_specs(text);
    const auto entries = now();
    for (std::size_t i = 1; i < specs.size(); ++i) policy = modified(*entries, specs[i], std::move(policy));
    return policy;
  }

private:
  std::shared_ptr<const Entries> now() const {
    const std::lock_guard lock{mutex_};
    return entries_;
  }
  // Whoever reads keeps the entries that it began with.
  template <class Change>
  void change(const Change& apply) {
    const std::lock_guard lock{mutex_};
    auto changed = std::make_shared<Entries>(*entries_);
    apply(*changed);
    entries_ = std::move(changed);
  }
  template <class List>
  static auto named(List& entries, std::string_view name) {
    return std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name; });
  }

  std::shared_ptr<const Entries> entries_for(const std::vector<PolicySpec>& specs) const {
    auto entries = now();
    const auto known = [&](const PolicySpec& spec) { return named(*entries, spec.name) != entries->end(); };
    if (std::all_of(specs.begin(), specs.end(), known)) return entries;
    std::function<void()> look;
    {
      const std::lock_guard lock{mutex_};
      look = look_;
    }
    if (look) look();
    return now();
  }

  std::unique_ptr<Interface> modified(const Entries& entries, const PolicySpec& spec, std::shared_ptr<Interface> policy) const {
    const Entry& modifier = find(entries, spec, true);
    return modifier.modify(resolve_parameters(kind_, spec, modifier.parameters), std::move(policy));
  }

  const Entry& find(const Entries& entries, const PolicySpec& spec, bool modifier) const {
    std::vector<std::string> names;
    for (const auto& entry : entries) {
      const bool modifies = entry.modify != nullptr;
      if (entry.name == spec.name && modifies == modifier) return entry;
      if (entry.name == spec.name && modifies)
        throw UsageError(kind_ + " '" + spec.name + "' modifies another one; allowed: a " + kind_ + " before it, as in '" +
                         entries.front().name + "+" + spec.name + "'");
      if (modifies == modifier) names.push_back(entry.name);
    }
    throw UsageError(unknown_name(modifier ? "modifier of a " + kind_ : kind_, spec.name, names));
  }

  std::string kind_;
  std::size_t built_in_;  // so many entries, the first
  mutable std::mutex mutex_;
  std::shared_ptr<const Entries> entries_;
  std::function<void()> look_;
};

}  // namespace homenode
