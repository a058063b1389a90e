#include "models/machines/native/described_fields.hpp"

#include <algorithm>
#include <cmath>

#include "models/machines/machine_changes.hpp"
#include "models/machines/machine_fields.hpp"

namespace homenode {
namespace {

using native::Spread;

std::string source_of(const Spread& spread) {
  std::string source = measured_source;
  if (!spread.disturbance.empty()) source += " while " + spread.disturbance;
  if (!spread.unsettled.empty()) source += "; unsettled: " + spread.unsettled;
  return source;
}

}  // namespace

void DescribedFields::set(const std::string& name, const Spread& spread, const Text& text, const std::string& note) {
  Machine& machine = file_.machine;
  for (const MachineField& field : fields_of(machine)) {
    // "caches.1.latency" and "nodes.latency" are names; "nodes.0.latency" is one of the latter
    if (field.name != name && name_without_number(field.name) != name) continue;
    set_from_text(field, text(spread.low), machine.clock);
    const std::string low = text_of(field);
    set_from_text(field, text(spread.high), machine.clock);
    const std::string high = text_of(field);
    set_from_text(field, text(spread.value), machine.clock);
    const bool trusted = spread.disturbance.empty() && spread.unsettled.empty();
    const MachineParameter known{.path = field.name,
                                 .value = text_of(field),
                                 .source = source_of(spread),
                                 .confidence = trusted ? "A" : "C",
                                 .assumed = false,
                                 .low = low,
                                 .high = high,
                                 .note = note};
    const auto same = [&](const MachineParameter& parameter) { return parameter.path == field.name; };
    const auto found = std::find_if(file_.parameters.begin(), file_.parameters.end(), same);
    if (found == file_.parameters.end())
      file_.parameters.push_back(known);
    else
      *found = known;
  }
}

void DescribedFields::add_note(const std::string& name, const std::string& note) {
  for (MachineParameter& parameter : file_.parameters)
    if (parameter.path == name || name_without_number(parameter.path) == name)
      parameter.note += (parameter.note.empty() ? "" : "; ") + note;
}

void DescribedFields::without_bounds(const std::string& name) {
  for (MachineParameter& parameter : file_.parameters)
    if (parameter.path == name) parameter.low = parameter.high = std::nullopt;
}

void DescribedFields::refresh() {
  for (const MachineField& field : fields_of(file_.machine)) {
    for (MachineParameter& parameter : file_.parameters) {
      if (parameter.path != field.name || parameter.value == text_of(field)) continue;
      parameter.value = text_of(field);
      parameter.low.reset();
      parameter.high.reset();
    }
  }
}

std::string DescribedFields::time_text(double nanoseconds) { return to_string(Time::nanoseconds(std::max(0.0, nanoseconds))); }
std::string DescribedFields::bandwidth_text(double bytes_per_second) {
  return to_string(Bandwidth::bytes_per_second(std::round(std::max(1e6, bytes_per_second) / 1e6) * 1e6));
}
std::string DescribedFields::bytes_text(double bytes) { return to_string(Bytes{std::llround(bytes)}); }
std::string DescribedFields::number_text(double value) { return std::to_string(std::max(1e-3, value)); }
std::string DescribedFields::count_text(double value) {
  return std::to_string(static_cast<unsigned>(std::clamp(std::round(value), 1.0, 1e6)));
}

std::string rounded(double value, int digits) {
  const double scale = std::pow(10, digits);
  std::string text = std::to_string(std::round(value * scale) / scale);
  return text.substr(0, text.find('.') + 1 + static_cast<std::size_t>(digits));
}

Spread mapped(const Spread& spread, const std::function<double(double)>& function) {
  Spread result = spread;
  const auto [low, high] = std::minmax({function(spread.low), function(spread.high)});
  result.value = function(spread.value);
  result.median = function(spread.median);
  result.low = std::min(low, result.value);
  result.high = std::max(high, result.value);
  return result;
}

Spread resting_on(Spread spread, const Spread& other) {
  if (spread.disturbance.empty()) spread.disturbance = other.disturbance;
  if (spread.unsettled.empty()) spread.unsettled = other.unsettled;
  return spread;
}

}  // namespace homenode
