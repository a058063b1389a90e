#include "models/machines/machine_changes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "models/machines/machine_fields.hpp"
#include "sim/errors.hpp"

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

std::string full_name(const std::string& name) {
  for (const auto& [brief, full] : short_names)
    if (brief == name) return std::string{full};
  return name;
}

// "links.0.bandwidth" -> "links.bandwidth"; names without a number stay.
std::string without_number(const std::string& path) {
  const auto first = path.find('.');
  const auto second = first == std::string::npos ? first : path.find('.', first + 1);
  if (second == std::string::npos || !std::isdigit(static_cast<unsigned char>(path[first + 1]))) return path;
  return path.substr(0, first) + path.substr(second);
}

}  // namespace

std::vector<std::string> changeable_names(const Machine& described) {
  Machine machine = described;
  std::vector<std::string> names;
  for (const auto& [brief, full] : short_names) names.emplace_back(brief);
  std::vector<std::string> general, numbered;
  for (const MachineField& field : fields_of(machine)) {
    const std::string all_alike = without_number(field.name);
    if (std::find(general.begin(), general.end(), all_alike) == general.end()) general.push_back(all_alike);
    if (all_alike != field.name) numbered.push_back(field.name);
  }
  names.insert(names.end(), general.begin(), general.end());
  names.insert(names.end(), numbered.begin(), numbered.end());
  return names;
}

Machine with_changes(const Machine& original, const std::map<std::string, std::string>& changes) {
  Machine machine = original;
  const std::vector<MachineField> fields = fields_of(machine);
  for (const auto& [name, text] : changes) {
    const std::string path = full_name(name);
    bool known = false;
    for (const MachineField& field : fields) {
      if (field.name != path && without_number(field.name) != path) continue;
      known = true;
      try {
        set_from_text(field, text, machine.clock);
      } catch (const UnitError& error) { throw UsageError("parameter '" + name + "' of machine '" + machine.name + "': " + error.what()); }
    }
    if (!known) throw UsageError(unknown_name("parameter of machine '" + machine.name + "'", name, changeable_names(original)));
  }
  try {
    validate(machine);
  } catch (const InputError& error) { throw UsageError(std::string{"the changed "} + error.what()); }
  machine.hash = machine_hash(machine);
  return machine;
}

}  // namespace homenode
