// What a policy can be told: `name`, `name:value` or `name:key=value,key=value`, and modifiers of it after a `+` each, written the
// same way. Unknown keys and values out of range are refused with what is allowed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"

namespace homenode {

// How a value is written: a bare integer, a number with its unit, kept as picoseconds ("1 s") or bytes ("256 MiB"), one of some
// words, kept as its place among them, or integers with colons between them ("2:1:1"), kept as a list; a list that is not given is
// empty.
enum class ParameterKind : std::uint8_t { integer, time, bytes, word, list };

// A parameter with its range.
struct ParameterSpec {
  std::string name, unit, description;
  std::int64_t default_value = 0, minimum = 0, maximum = INT64_MAX;
  bool required = false;
  ParameterKind kind = ParameterKind::integer;
  std::vector<std::string> words{};  // allowed ones
};
ParameterSpec integer_parameter(std::string name, std::string unit, std::string description, std::int64_t default_value,
                                std::int64_t minimum = 0, std::int64_t maximum = INT64_MAX);
ParameterSpec required(ParameterSpec);  // the same, without a default
ParameterSpec time_parameter(std::string name, std::string description, Time default_value, Time minimum = Time::picoseconds(1));
ParameterSpec bytes_parameter(std::string name, std::string description, Bytes default_value, Bytes minimum = Bytes{1});
ParameterSpec word_parameter(std::string name, std::string description, std::vector<std::string> words);  // default: the first
// Integers of [minimum, maximum]; what stands for a list that is not given is said in `description`.
ParameterSpec list_parameter(std::string name, std::string unit, std::string description, std::int64_t minimum, std::int64_t maximum);
// As a user writes it: "4", "1 s", "256 MiB".
std::string parameter_text(const ParameterSpec&, std::int64_t value);

class Parameters {
public:
  std::int64_t get(const std::string& name) const { return values_.at(name); }
  Time time(const std::string& name) const { return Time::picoseconds(get(name)); }
  Bytes bytes(const std::string& name) const { return Bytes{get(name)}; }
  const std::vector<std::int64_t>& list(const std::string& name) const { return lists_.at(name); }
  void set(const std::string& name, std::int64_t value) { values_[name] = value; }
  void set(const std::string& name, std::vector<std::int64_t> values) { lists_[name] = std::move(values); }
  const std::map<std::string, std::int64_t>& values() const { return values_; }

private:
  std::map<std::string, std::int64_t> values_;
  std::map<std::string, std::vector<std::int64_t>> lists_;
};

// A small letter, then small letters, digits and hyphens: what an extension may call a policy.
bool is_policy_name(std::string_view);

struct PolicySpec {  // parsed, not yet looked up
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;  // key empty: positional
};

// Throws UsageError on a malformed text.
std::vector<PolicySpec> parse_policy_specs(std::string_view text);  // the policy, then its modifiers
PolicySpec parse_policy_spec(std::string_view text);
// Defaults, then settings; `kind` and the policy's name go into the errors.
Parameters resolve_parameters(const std::string& kind, const PolicySpec&, const std::vector<ParameterSpec>&);

}  // namespace homenode
