#include "sim/parameters.hpp"

#include <algorithm>
#include <charconv>

#include "sim/errors.hpp"

namespace homenode {

PolicySpec parse_policy_spec(std::string_view text) {
  PolicySpec spec;
  const std::size_t colon = text.find(':');
  spec.name = std::string{text.substr(0, colon)};
  if (spec.name.empty())
    throw UsageError("empty policy name in '" + std::string{text} + "'; allowed: name, name:value or name:key=value,key=value");
  if (colon == std::string_view::npos) return spec;
  std::string_view rest = text.substr(colon + 1);
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (item.empty() || equals == 0 || equals + 1 == item.size()) {
      throw UsageError("malformed setting '" + std::string{item} + "' in '" + std::string{text} +
                       "'; allowed: name:value or name:key=value,key=value");
    }
    if (equals == std::string_view::npos) {
      spec.settings.emplace_back("", std::string{item});
    } else {
      spec.settings.emplace_back(std::string{item.substr(0, equals)}, std::string{item.substr(equals + 1)});
    }
    if (comma == std::string_view::npos) return spec;
    rest = rest.substr(comma + 1);
  }
}

Parameters resolve_parameters(const std::string& kind, const PolicySpec& spec, const std::vector<ParameterSpec>& allowed) {
  Parameters parameters;
  std::map<std::string, bool> given;
  for (const ParameterSpec& parameter : allowed) parameters.set(parameter.name, parameter.default_value);
  for (std::size_t position = 0; position < spec.settings.size(); ++position) {
    const std::string& key = spec.settings[position].first;
    const std::string& text = spec.settings[position].second;
    if (allowed.empty()) throw UsageError(kind + " '" + spec.name + "' takes no parameters; found '" + text + "'");
    const ParameterSpec* parameter = nullptr;
    if (key.empty()) {
      if (position != 0)
        throw UsageError(kind + " '" + spec.name + "': only the first value may stand without a key; found '" + text + "'");
      parameter = &allowed.front();
    } else {
      const auto found = std::find_if(allowed.begin(), allowed.end(), [&](const ParameterSpec& p) { return p.name == key; });
      if (found == allowed.end()) {
        std::vector<std::string> names;
        for (const ParameterSpec& p : allowed) names.push_back(p.name);
        throw UsageError(unknown_name("parameter of " + kind + " '" + spec.name + "'", key, names));
      }
      parameter = &*found;
    }
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool number = error == std::errc{} && end == text.data() + text.size();
    if (!number || value < parameter->minimum || value > parameter->maximum) {
      std::string range = "an integer of at least " + std::to_string(parameter->minimum);
      if (parameter->maximum != INT64_MAX) range += " and at most " + std::to_string(parameter->maximum);
      throw UsageError(kind + " '" + spec.name + "': " + parameter->name + " = '" + text + "' is not " + range);
    }
    parameters.set(parameter->name, value);
    given[parameter->name] = true;
  }
  for (const ParameterSpec& parameter : allowed) {
    if (parameter.required && !given[parameter.name]) {
      throw UsageError(kind + " '" + spec.name + "' needs its parameter " + parameter.name + ", e.g. '" + spec.name + ":" +
                       std::to_string(std::max<std::int64_t>(parameter.default_value, parameter.minimum)) + "'");
    }
  }
  return parameters;
}

}  // namespace homenode
