// What a policy can be told: `name`, `name:value` or `name:key=value,key=value`. Unknown keys and values out of range are
// refused with what is allowed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace homenode {

// An integer parameter with its range; `text` parameters list the values they allow.
struct ParameterSpec {
  std::string name, unit, description;
  std::int64_t default_value = 0, minimum = 0, maximum = INT64_MAX;
  bool required = false;
};

class Parameters {
public:
  std::int64_t get(const std::string& name) const { return values_.at(name); }
  void set(const std::string& name, std::int64_t value) { values_[name] = value; }
  const std::map<std::string, std::int64_t>& values() const { return values_; }

private:
  std::map<std::string, std::int64_t> values_;
};

struct PolicySpec {  // parsed, not yet looked up
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;  // key empty: positional
};

// Throws UsageError on a malformed text.
PolicySpec parse_policy_spec(std::string_view text);
// Defaults, then settings; `kind` and the policy's name go into the errors.
Parameters resolve_parameters(const std::string& kind, const PolicySpec&, const std::vector<ParameterSpec>&);

}  // namespace homenode
