#include "sim/base/parameters.hpp"

#include <algorithm>
#include <charconv>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"

namespace homenode {

namespace {

bool parse_value(const ParameterSpec& parameter, const std::string& text, std::int64_t& value) {
  try {
    switch (parameter.kind) {
      case ParameterKind::time: value = parse_time(text).count(); return true;
      case ParameterKind::bytes: value = parse_bytes(text).count(); return true;
      case ParameterKind::word:
        value = std::find(parameter.words.begin(), parameter.words.end(), text) - parameter.words.begin();
        return value < static_cast<std::int64_t>(parameter.words.size());
      case ParameterKind::integer:
      case ParameterKind::list: break;
    }
  } catch (const UnitError&) { return false; }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// One value, or those of a list; false if one is malformed or out of range.
bool parse_values(const ParameterSpec& parameter, const std::string& text, std::vector<std::int64_t>& values) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = parameter.kind == ParameterKind::list ? std::min(text.find(':', begin), text.size()) : text.size();
    std::int64_t value = 0;
    if (!parse_value(parameter, text.substr(begin, end - begin), value) || value < parameter.minimum || value > parameter.maximum)
      return false;
    values.push_back(value);
    begin = end + 1;
  }
  return true;
}

const char* kind_of_value(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::time: return "a time with its unit";
    case ParameterKind::bytes: return "a size with its unit";
    case ParameterKind::word: return "a word";
    case ParameterKind::list: return "a list, with colons, of integers";
    case ParameterKind::integer: break;
  }
  return "an integer";
}

}  // namespace

ParameterSpec integer_parameter(std::string name, std::string unit, std::string description, std::int64_t default_value,
                                std::int64_t minimum, std::int64_t maximum) {
  ParameterSpec parameter;
  parameter.name = std::move(name);
  parameter.unit = std::move(unit);
  parameter.description = std::move(description);
  parameter.default_value = default_value;
  parameter.minimum = minimum;
  parameter.maximum = maximum;
  return parameter;
}

ParameterSpec required(ParameterSpec parameter) {
  parameter.required = true;
  return parameter;
}

ParameterSpec time_parameter(std::string name, std::string description, Time default_value, Time minimum) {
  ParameterSpec parameter = integer_parameter(std::move(name), "time", std::move(description), default_value.count(), minimum.count());
  parameter.kind = ParameterKind::time;
  return parameter;
}

ParameterSpec bytes_parameter(std::string name, std::string description, Bytes default_value, Bytes minimum) {
  ParameterSpec parameter = integer_parameter(std::move(name), "size", std::move(description), default_value.count(), minimum.count());
  parameter.kind = ParameterKind::bytes;
  return parameter;
}

ParameterSpec word_parameter(std::string name, std::string description, std::vector<std::string> words) {
  const auto last = static_cast<std::int64_t>(words.size()) - 1;
  ParameterSpec parameter = integer_parameter(std::move(name), "word", std::move(description), 0, 0, last);
  parameter.kind = ParameterKind::word;
  parameter.words = std::move(words);
  return parameter;
}

ParameterSpec list_parameter(std::string name, std::string unit, std::string description, std::int64_t minimum, std::int64_t maximum) {
  ParameterSpec parameter = integer_parameter(std::move(name), std::move(unit), std::move(description), minimum, minimum, maximum);
  parameter.kind = ParameterKind::list;
  return parameter;
}

std::string parameter_text(const ParameterSpec& parameter, std::int64_t value) {
  switch (parameter.kind) {
    case ParameterKind::time: return to_string(Time::picoseconds(value));
    case ParameterKind::bytes: return to_string(Bytes{value});
    case ParameterKind::word: return parameter.words.at(static_cast<std::size_t>(value));
    case ParameterKind::integer:
    case ParameterKind::list: break;
  }
  return std::to_string(value);
}

bool is_policy_name(std::string_view name) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && small(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return small(c) || (c >= '0' && c <= '9') || c == '-'; });
}

std::vector<PolicySpec> parse_policy_specs(std::string_view text) {
  std::vector<PolicySpec> specs;
  while (true) {
    const std::size_t plus = text.find('+');
    specs.push_back(parse_policy_spec(text.substr(0, plus)));
    if (plus == std::string_view::npos) return specs;
    text.remove_prefix(plus + 1);
  }
}

PolicySpec parse_policy_spec(std::string_view text) {
  PolicySpec spec;
  const std::size_t colon = text.find(':');
  spec.name = std::string{text.substr(0, colon)};
  if (spec.name.empty())
    throw UsageError("empty policy name in '" + brief(text) + "'; allowed: name, name:value or name:key=value,key=value");
  if (colon == std::string_view::npos) return spec;
  std::string_view rest = text.substr(colon + 1);
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (item.empty() || equals == 0 || equals + 1 == item.size()) {
      throw UsageError("malformed setting '" + brief(item) + "' in '" + brief(text) + "'; allowed: name:value or name:key=value,key=value");
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
  for (const ParameterSpec& parameter : allowed) {
    if (parameter.kind == ParameterKind::list)
      parameters.set(parameter.name, std::vector<std::int64_t>{});
    else
      parameters.set(parameter.name, parameter.default_value);
  }
  for (std::size_t position = 0; position < spec.settings.size(); ++position) {
    const std::string& key = spec.settings[position].first;
    const std::string& text = spec.settings[position].second;
    if (allowed.empty()) throw UsageError(kind + " '" + spec.name + "' takes no parameters; found '" + brief(text) + "'");
    const ParameterSpec* parameter = nullptr;
    if (key.empty()) {
      if (position != 0)
        throw UsageError(kind + " '" + spec.name + "': only the first value may stand without a key; found '" + brief(text) + "'");
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
    if (given[parameter->name])
      throw UsageError(kind + " '" + spec.name + "': " + parameter->name + " is set again to '" + brief(text) + "'; allowed: once");
    std::vector<std::int64_t> values;
    const bool parsed = parse_values(*parameter, text, values);
    if (!parsed && parameter->kind == ParameterKind::word)
      throw UsageError(unknown_name(parameter->name + " of " + kind + " '" + spec.name + "'", text, parameter->words));
    if (!parsed) {
      std::string range = std::string{kind_of_value(parameter->kind)} + " of at least " + parameter_text(*parameter, parameter->minimum);
      if (parameter->maximum != INT64_MAX) range += " and at most " + parameter_text(*parameter, parameter->maximum);
      throw UsageError(kind + " '" + spec.name + "': " + parameter->name + " = '" + brief(text) + "' is not " + range);
    }
    if (parameter->kind == ParameterKind::list)
      parameters.set(parameter->name, std::move(values));
    else
      parameters.set(parameter->name, values.front());
    given[parameter->name] = true;
  }
  for (const ParameterSpec& parameter : allowed) {
    if (parameter.required && !given[parameter.name]) {
      throw UsageError(kind + " '" + spec.name + "' needs its parameter " + parameter.name + ", e.g. '" + spec.name + ":" +
                       parameter_text(parameter, std::max<std::int64_t>(parameter.default_value, parameter.minimum)) + "'");
    }
  }
  return parameters;
}

}  // namespace homenode
