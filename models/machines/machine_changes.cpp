#include "models/machines/machine_changes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "models/machines/machine_fields.hpp"
#include "models/machines/machine_shape.hpp"
#include "sim/base/errors.hpp"

namespace homenode {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> short_names{{
    {"link_bandwidth", "links.bandwidth"},
    {"link_latency", "links.latency"},
    {"memory_latency", "nodes.latency"},
    {"memory_size", "nodes.memory"},
    {"read_bandwidth", "controllers.read_only"},
    {"one_to_one_bandwidth", "controllers.one_to_one"},
    {"loaded_latency", "controllers.loaded_latency"},
    {"snoop", "coherence.snoop"},
    {"core_to_core_local", "coherence.core_to_core_local"},
    {"core_to_core_remote", "coherence.core_to_core_remote"},
    {"miss_buffers", "core.miss_buffers"},
    {"prefetched_lines", "core.prefetched_lines"},
    {"streamable_stores", "core.streamable_stores"},
    {"overlap", "core.overlap"},
}};

constexpr std::string_view core_time = "core_time", memory_time = "memory_time", block_time = "core.block_time";
constexpr std::array<std::string_view, 9> core_throughputs{"core.issue",  "core.integer", "core.fp_add", "core.fp_multiply", "core.fp_fma",
                                                           "core.divide", "core.load",    "core.store",  "core.branch"};

// "x1.2" -> 1.2; nothing if the text is not of that form.
std::optional<double> factor_in(std::string_view text) {
  if (!text.starts_with('x')) return std::nullopt;
  text.remove_prefix(1);
  double factor = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (status != std::errc{} || end != text.data() + text.size() || !(factor > 0) || !std::isfinite(factor))
    throw UnitError("'x" + std::string{text} + "' is no factor; allowed: x and a positive number, such as x1.2");
  return factor;
}

void scale_core_time(const MachineField& field, double factor) {
  if (std::find(core_throughputs.begin(), core_throughputs.end(), field.name) != core_throughputs.end()) scale(field, 1 / factor);
  if (field.name == block_time) scale(field, factor);
}

bool is_bandwidth(const MachineField& field) {
  return std::holds_alternative<Bandwidth*>(field.target) || std::holds_alternative<std::optional<Bandwidth>*>(field.target);
}

// DRAM behind a controller says how the controller's time comes about.
bool is_of_memory_time(const MachineField& field) {
  if (is_bandwidth(field)) return true;
  const bool is_time = std::holds_alternative<Time*>(field.target) || std::holds_alternative<std::optional<Time>*>(field.target) ||
                       std::holds_alternative<std::vector<LoadedLatencyPoint>*>(field.target);
  static constexpr std::array<std::string_view, 7> parts{"nodes.", "controllers.", "caches.", "links.", "coherence.", "ring.", "tlb."};
  return is_time && std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return field.name.starts_with(part); });
}

void scale_memory_time(const MachineField& field, double factor) {
  if (is_of_memory_time(field)) scale(field, is_bandwidth(field) ? 1 / factor : factor);
}

// Whether it was a name of its own for several fields.
bool change_times(const std::vector<MachineField>& fields, const std::string& name, const std::string& text) {
  if (name != core_time && name != memory_time) return false;
  const std::optional<double> factor = factor_in(text);
  if (!factor) throw UnitError("'" + text + "' is no factor; allowed: x and a positive number, such as x2 for twice the time");
  for (const MachineField& field : fields) (name == core_time ? scale_core_time : scale_memory_time)(field, *factor);
  return true;
}

// Fields by their own names and by those without a number.
std::unordered_multimap<std::string, const MachineField*> fields_by_name(const std::vector<MachineField>& fields) {
  std::unordered_multimap<std::string, const MachineField*> found;
  for (const MachineField& field : fields) {
    found.emplace(field.name, &field);
    const std::string all_alike = name_without_number(field.name);
    if (all_alike != field.name) found.emplace(all_alike, &field);
  }
  return found;
}

bool change_fields(const std::unordered_multimap<std::string, const MachineField*>& by_name, const std::string& path,
                   const std::string& text, Frequency clock) {
  const std::optional<double> factor = factor_in(text);
  const auto [begin, end] = by_name.equal_range(path);
  for (auto entry = begin; entry != end; ++entry) {
    if (factor)
      scale(*entry->second, *factor);
    else
      set_from_text(*entry->second, text, clock);
  }
  return begin != end;
}

// Tables of clocks go with a changed base clock, in proportion. One of wide vectors that is above narrower code's then is cut to it, unless
// it was given in full.
void follow_clocks(Machine& machine, const Machine& original, const std::map<std::string, std::string>& changes) {
  const double factor = machine.clock.hertz() / original.clock.hertz();
  if (!changes.contains("clock_by_cores")) scale({"clock_by_cores", &machine.clock_by_cores}, factor);
  VectorWidth narrower = VectorWidth::narrow;
  for (const auto& [name, table, width] : {std::tuple{"clock_by_cores_256", &machine.clock_by_cores_256, VectorWidth::bits_256},
                                           std::tuple{"clock_by_cores_512", &machine.clock_by_cores_512, VectorWidth::bits_512}}) {
    const auto change = changes.find(name);
    if (change == changes.end()) scale({name, table}, factor);
    if (change == changes.end() || change->second.starts_with('x'))
      for (ClockStep& step : *table) {
        const Frequency most = machine.clock_of(step.cores, narrower);
        if (step.clock.hertz() > most.hertz()) step.clock = most;
      }
    narrower = width;
  }
}

}  // namespace

std::string full_parameter_name(const std::string& name) {
  for (const auto& [brief, full] : short_names)
    if (brief == name) return std::string{full};
  return name;
}

std::string name_without_number(const std::string& path) {
  const auto first = path.find('.');
  const auto second = first == std::string::npos ? first : path.find('.', first + 1);
  if (second == std::string::npos || !std::isdigit(static_cast<unsigned char>(path[first + 1]))) return path;
  return path.substr(0, first) + path.substr(second);
}

std::vector<std::string> core_time_names() {
  std::vector<std::string> names{core_throughputs.begin(), core_throughputs.end()};
  names.emplace_back(block_time);
  return names;
}

std::vector<std::string> memory_time_names(const Machine& described) {
  Machine machine = described;
  std::vector<std::string> names;
  for (const MachineField& field : fields_of(machine))
    if (is_of_memory_time(field) && !is_zero(field)) names.push_back(name_without_number(field.name));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> changeable_names(const Machine& described) {
  Machine machine = described;
  std::vector<std::string> names, general, numbered;
  for (const MachineField& field : fields_of(machine)) {
    const std::string all_alike = name_without_number(field.name);
    if (std::find(general.begin(), general.end(), all_alike) == general.end()) general.push_back(all_alike);
    if (all_alike != field.name) numbered.push_back(field.name);
  }
  for (const auto& [brief, full] : short_names)  // a machine without links has no latency of them
    if (std::find(general.begin(), general.end(), full) != general.end()) names.emplace_back(brief);
  names.emplace_back(core_time);
  names.emplace_back(memory_time);
  if (can_be_reshaped(machine)) {
    names.emplace_back(sockets_name);
    names.emplace_back(topology_name);
  }
  names.insert(names.end(), general.begin(), general.end());
  names.insert(names.end(), numbered.begin(), numbered.end());
  return names;
}

Machine with_changes(const Machine& original, const std::map<std::string, std::string>& changes) {
  Machine machine = original;
  reshape(machine, changes);
  const std::vector<MachineField> fields = fields_of(machine);
  const auto by_name = fields_by_name(fields);
  // Those that stand for many fields come last: they scale what the others set.
  std::vector<std::pair<std::string, std::string>> ordered{changes.begin(), changes.end()};
  std::erase_if(ordered, [](const auto& change) { return change.first == sockets_name || change.first == topology_name; });
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const auto& change) { return change.first != core_time && change.first != memory_time; });
  for (const auto& [name, text] : ordered) {
    bool known = false;
    try {
      known = change_times(fields, name, text) || change_fields(by_name, full_parameter_name(name), text, machine.clock);
    } catch (const UnitError& error) { throw UnitError("parameter '" + name + "' of machine '" + machine.name + "': " + error.what()); }
    if (!known)
      throw UsageError(unknown_name("parameter of machine '" + machine.name + "'", name, changeable_names(original)) +
                       "; 'homenode machines " + machine.name + " --changeable' lists them");
  }
  follow_clocks(machine, original, changes);
  try {
    validate(machine);
  } catch (const InputError& error) { throw UsageError(std::string{"the changed "} + error.what()); }
  machine.hash = machine_hash(machine);
  return machine;
}

}  // namespace homenode
