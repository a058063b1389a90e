#include "models/machines/machine_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "models/machines/machine_fields.hpp"
#include "sim/errors.hpp"

namespace homenode {
namespace {

constexpr std::string_view schema = "homenode.machine/1";
constexpr std::string_view schema_family = "homenode.machine/";

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

// The user's text, for errors that show the line.
class Document {
public:
  Document(std::string_view text, std::string file_name) : text_{text}, file_name_{std::move(file_name)} {}

  [[noreturn]] void refuse(const toml::source_region& where, const std::string& message) const {
    const auto line = where.begin.line;
    const auto column = where.begin.column;
    std::string report = file_name_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message;
    if (line > 0) report += "\n  " + line_text(line) + "\n  " + std::string(column > 0 ? column - 1 : 0, ' ') + "^";
    throw InputError(report);
  }
  [[noreturn]] void refuse(const std::string& message) const { throw InputError(file_name_ + ": " + message); }

  toml::table parse() const {
    try {
      return toml::parse(text_, file_name_);
    } catch (const toml::parse_error& error) {
      refuse(error.source(), std::string{error.description()} + "; allowed: a TOML 1.0 document");
    }
  }

private:
  std::string line_text(toml::source_index line) const {
    std::istringstream lines{std::string{text_}};
    std::string found;
    for (toml::source_index number = 0; number < line; ++number) std::getline(lines, found);
    return found;
  }

  std::string_view text_;
  std::string file_name_;
};

// Builds one machine out of one document.
class MachineReader {
public:
  MachineReader(std::string_view text, const std::string& file_name) : document_{text, file_name} {}

  MachineFile read() {
    const toml::table root = document_.parse();
    read_head(root);
    read_sections(root);
    read_nodes(root);
    read_caches(root);
    read_links(root);
    try {
      validate(machine_);
    } catch (const InputError& error) { document_.refuse(error.what()); }
    machine_.hash = machine_hash(machine_);
    return std::move(file_);
  }

private:
  // ---- what TOML nodes may be

  void refuse_unknown(const toml::table& table, const std::string& place, const std::vector<std::string>& allowed) const {
    for (const auto& [key, node] : table)
      if (std::find(allowed.begin(), allowed.end(), key.str()) == allowed.end())
        document_.refuse(key.source(), "unknown key '" + std::string{key.str()} + "' in " + place + "; allowed: " + joined(allowed));
  }

  const toml::table& as_table(const toml::node& node, const std::string& name, const std::string& shape) const {
    if (!node.is_table()) document_.refuse(node.source(), name + " is " + kind_of(node) + "; allowed: " + shape);
    return *node.as_table();
  }

  static std::string kind_of(const toml::node& node) {
    std::ostringstream name;
    name << node.type();
    return "of the kind " + name.str();
  }

  std::string as_text(const toml::node* node, const toml::table& table, const std::string& name) const {
    if (node == nullptr) document_.refuse(table.source(), "'" + name + "' is missing; allowed: a text");
    const auto text = node->value_exact<std::string>();
    if (!text || text->empty()) document_.refuse(node->source(), name + " is " + (text ? "empty" : kind_of(*node)) + "; allowed: a text");
    return *text;
  }

  // An integer in [low, high].
  unsigned as_integer(const toml::node& node, const std::string& name, std::int64_t low, std::int64_t high) const {
    const auto number = node.value_exact<std::int64_t>();
    const std::string range = std::to_string(low) + " to " + std::to_string(high);
    if (!number) document_.refuse(node.source(), name + " is " + kind_of(node) + "; allowed: a whole number, " + range);
    if (*number < low || *number > high) document_.refuse(node.source(), name + " is " + std::to_string(*number) + "; allowed: " + range);
    return static_cast<unsigned>(*number);
  }

  // The tables of [[name]].
  std::vector<const toml::table*> tables(const toml::table& parent, const std::string& key, const std::string& name, bool required) const {
    std::vector<const toml::table*> found;
    const toml::node* node = parent.get(key);
    if (node == nullptr) {
      if (required) document_.refuse(parent.source(), "'" + name + "' is missing; allowed: one or more [[" + name + "]]");
      return found;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr) document_.refuse(node->source(), name + " is " + kind_of(*node) + "; allowed: one or more [[" + name + "]]");
    for (const toml::node& element : *array) found.push_back(&as_table(element, name, "one or more [[" + name + "]]"));
    return found;
  }

  // ---- a value with its provenance

  // { value, source, confidence, low, high, assumed, note }; returns the provenance, the value stays with the caller.
  MachineParameter provenance(const toml::node& node, const std::string& path) const {
    static const std::string shape = "{ value = ..., source = \"...\" }: every number needs its source";
    const toml::table& table = as_table(node, path, shape);
    refuse_unknown(table, path, {"value", "source", "confidence", "low", "high", "assumed", "note"});
    if (!table.contains("value")) document_.refuse(table.source(), path + ": 'value' is missing; allowed: " + shape);
    if (!table.contains("source")) document_.refuse(table.source(), path + ": 'source' is missing; allowed: " + shape);
    MachineParameter parameter;
    parameter.path = path;
    parameter.source = as_text(table.get("source"), table, path + ": source");
    if (const toml::node* confidence = table.get("confidence")) {
      parameter.confidence = as_text(confidence, table, path + ": confidence");
      static const std::set<std::string> levels{"A", "B", "C", "D", "M"};
      if (!levels.contains(parameter.confidence))
        document_.refuse(confidence->source(), path + ": confidence is '" + parameter.confidence + "'; allowed: A, B, C, D, M");
    }
    if (const toml::node* assumed = table.get("assumed")) {
      if (!assumed->is_boolean())
        document_.refuse(assumed->source(), path + ": assumed is " + kind_of(*assumed) + "; allowed: true, false");
      parameter.assumed = assumed->value_or(false);
    }
    if (const toml::node* note = table.get("note")) parameter.note = as_text(note, table, path + ": note");
    return parameter;
  }

  // The text that set_from_text reads; numbers keep their digits, [[0.5, "12 ns"], ...] becomes "0.5: 12 ns, ...".
  std::string value_text(const toml::node& node, const std::string& path) const {
    if (const auto text = node.value_exact<std::string>()) return *text;
    if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
    if (const auto number = node.value_exact<double>()) {
      std::array<char, 64> buffer{};
      return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), *number).ptr};
    }
    if (const toml::array* points = node.as_array()) {
      std::string curve;
      for (const toml::node& point : *points) {
        const toml::array* pair = point.as_array();
        if (pair == nullptr || pair->size() != 2)
          document_.refuse(point.source(), path + ": a point is " + kind_of(point) + "; allowed: [utilisation, \"extra time\"]");
        curve += (curve.empty() ? "" : ", ") + value_text(*pair->get(0), path) + ": " + value_text(*pair->get(1), path);
      }
      return curve;
    }
    document_.refuse(node.source(), path + " is " + kind_of(node) + "; allowed: a text with a unit, a number");
  }

  void set(const MachineField& field, const toml::node& node, const std::string& path) const {
    try {
      set_from_text(field, value_text(node, path), machine_.clock);
    } catch (const UnitError& error) { document_.refuse(node.source(), path + ": " + error.what()); }
  }

  // Fills the field from table[field.name] and returns what is known about it.
  MachineParameter read_field(const toml::table& table, const MachineField& field, const std::string& path) const {
    const toml::node* node = table.get(field.name);
    if (node == nullptr) {
      if (field.required) document_.refuse(table.source(), "'" + path + "' is missing; allowed: { value = ..., source = \"...\" }");
      return {path, text_of(field), "default of homenode", "", true, {}, {}, ""};
    }
    MachineParameter parameter = provenance(*node, path);
    const toml::table& described = *node->as_table();
    std::optional<double> low, high;
    if (const toml::node* bound = described.get("low")) {
      set(field, *bound, path + ": low");
      parameter.low = text_of(field);
      low = magnitude_of(field);
    }
    if (const toml::node* bound = described.get("high")) {
      set(field, *bound, path + ": high");
      parameter.high = text_of(field);
      high = magnitude_of(field);
    }
    set(field, *described.get("value"), path);
    parameter.value = text_of(field);
    const std::optional<double> value = magnitude_of(field);
    if ((low && value < low) || (high && value > high))
      document_.refuse(described.source(), path + " is " + parameter.value + "; allowed: from low = " + parameter.low.value_or("any") +
                                               " to high = " + parameter.high.value_or("any"));
    return parameter;
  }

  // ---- the parts of the schema

  void read_head(const toml::table& root) {
    const toml::node* found = root.get("schema");
    const std::string version = as_text(found, root, "schema");
    if (version != schema) {
      const bool other_version = version.starts_with(schema_family);
      document_.refuse(found->source(), "schema is '" + version + "'" + (other_version ? ", of another version of homenode" : "") +
                                            "; allowed: '" + std::string{schema} + "'");
    }
    std::vector<std::string> allowed{"schema", "name", "description", "sources", "sockets", "hubs", "nodes", "caches", "links"};
    for (const MachineSection& section : sections_of(machine_)) {
      if (!section.name.empty())
        allowed.push_back(section.name);
      else
        for (const MachineField& field : section.fields) allowed.push_back(field.name);
    }
    refuse_unknown(root, "the machine", allowed);
    machine_.name = as_text(root.get("name"), root, "name");
    if (const toml::node* description = root.get("description")) machine_.description = as_text(description, root, "description");
    if (const toml::node* sources = root.get("sources"))
      for (const auto& [key, node] : as_table(*sources, "sources", "a table of texts"))
        file_.sources[std::string{key.str()}] = as_text(&node, *sources->as_table(), "sources." + std::string{key.str()});
    const toml::node* sockets = root.get("sockets");
    if (sockets == nullptr) document_.refuse("'sockets' is missing; allowed: { value = 2, source = \"...\" }");
    MachineParameter parameter = provenance(*sockets, "sockets");
    machine_.sockets = as_integer(*sockets->as_table()->get("value"), "sockets", 1, 254);
    parameter.value = std::to_string(machine_.sockets);
    file_.parameters.push_back(std::move(parameter));
    const toml::node* hubs = root.get("hubs");
    if (hubs == nullptr) return;
    MachineParameter count = provenance(*hubs, "hubs");
    machine_.hubs = as_integer(*hubs->as_table()->get("value"), "hubs", 0, 254 - machine_.sockets);
    count.value = std::to_string(machine_.hubs);
    file_.parameters.push_back(std::move(count));
  }

  void read_sections(const toml::table& root) {
    static const toml::table none;
    for (const MachineSection& section : sections_of(machine_)) {
      const toml::node* node = root.get(section.name);
      const bool top = section.name.empty();
      std::vector<std::string> names;
      bool required = false;
      for (const MachineField& field : section.fields) {
        names.push_back(field.name);
        required = required || field.required;
      }
      if (!top && node == nullptr && required)
        document_.refuse("'" + section.name + "' is missing; allowed: [" + section.name + "] with " + joined(names));
      const toml::table& table = top ? root : node == nullptr ? none : as_table(*node, section.name, "[" + section.name + "]");
      if (!top) refuse_unknown(table, "[" + section.name + "]", names);
      for (const MachineField& field : section.fields)
        file_.parameters.push_back(read_field(table, field, top ? field.name : section.name + "." + field.name));
    }
  }

  struct NodeEntry {
    const toml::table* table;
    std::vector<NodeId> nodes;                    // that it describes
    std::vector<const toml::table*> controllers;  // each of them has
    unsigned cores = 0;                           // each of them has
  };

  // [[nodes]]: sockets = [..] plain, per_socket = 2 plain; one entry describes alike nodes of several sockets.
  NodeEntry read_node_entry(const toml::table& table) {
    refuse_unknown(table, "[[nodes]]", {"sockets", "per_socket", "cores", "memory", "latency", "memory_side_cache", "controllers"});
    NodeEntry entry{&table, {}, tables(table, "controllers", "nodes.controllers", true), 0};
    for (const toml::table* controller : entry.controllers)
      refuse_unknown(*controller, "[[nodes.controllers]]", {"read_only", "one_to_one", "loaded_latency"});
    const toml::node* sockets = table.get("sockets");
    if (sockets == nullptr || !sockets->is_array())
      document_.refuse(sockets ? sockets->source() : table.source(),
                       "nodes.sockets is missing or no list; allowed: a list of sockets, [0, 1]");
    const toml::node* per_socket = table.get("per_socket");
    const unsigned count = per_socket ? as_integer(*per_socket, "nodes.per_socket", 1, 254) : 1;
    for (const toml::node& socket : *sockets->as_array()) {
      const unsigned number = as_integer(socket, "nodes.sockets", 0, machine_.sockets - 1);
      for (unsigned repeat = 0; repeat < count; ++repeat) {
        entry.nodes.push_back(NodeId{machine_.nodes.size()});
        machine_.nodes.push_back({SocketId{number}, {}, {}, {}});
      }
    }
    return entry;
  }

  void read_nodes(const toml::table& root) {
    std::vector<NodeEntry> entries;
    for (const toml::table* table : tables(root, "nodes", "nodes", true)) entries.push_back(read_node_entry(*table));
    std::vector<unsigned> cores_of_node(machine_.nodes.size());
    std::vector<std::vector<ControllerDescription>> controllers_of_node(machine_.nodes.size());
    std::vector<const NodeEntry*> entry_of_node(machine_.nodes.size());
    const bool alike = entries.size() == 1;

    for (NodeEntry& entry : entries) {
      const toml::node* cores = entry.table->get("cores");
      if (cores == nullptr)
        document_.refuse(entry.table->source(), "'nodes.cores' is missing; allowed: { value = 4, source = \"...\" }, 0 for none");
      MachineParameter cores_parameter = provenance(*cores, "nodes.cores");
      entry.cores = as_integer(*cores->as_table()->get("value"), "nodes.cores", 0, 65535);
      cores_parameter.value = std::to_string(entry.cores);
      NodeDescription described;
      const std::vector<MachineField> fields = fields_of(described);
      for (const NodeId node : entry.nodes) {
        cores_of_node[node.index()] = entry.cores;
        entry_of_node[node.index()] = &entry;
        if (alike && node != entry.nodes.front()) {
          machine_.nodes[node.index()] = {machine_.nodes[node.index()].socket, described.memory, described.latency,
                                          described.memory_side_cache};
          continue;
        }
        const std::string place = alike ? "nodes." : "nodes." + std::to_string(node.value()) + ".";
        cores_parameter.path = place + "cores";
        file_.parameters.push_back(cores_parameter);
        for (const MachineField& field : fields)
          if (field.required || entry.table->contains(field.name))
            file_.parameters.push_back(read_field(*entry.table, field, place + field.name));
        described.socket = machine_.nodes[node.index()].socket;
        machine_.nodes[node.index()] = described;
      }
    }
    for (unsigned socket = 0; socket < machine_.sockets; ++socket)
      for (std::size_t node = 0; node < machine_.nodes.size(); ++node)
        if (machine_.nodes[node].socket.value() == socket)
          machine_.core_node.insert(machine_.core_node.end(), cores_of_node[node], NodeId{node});
    read_controllers(entry_of_node, alike);
  }

  void read_controllers(const std::vector<const NodeEntry*>& entry_of_node, bool nodes_alike) {
    for (std::size_t node = 0; node < machine_.nodes.size(); ++node) {
      const NodeEntry& entry = *entry_of_node[node];
      const bool alike = nodes_alike && entry.controllers.size() == 1;
      for (const toml::table* table : entry.controllers) {
        const std::size_t index = machine_.controllers.size();
        ControllerDescription controller;
        controller.node = NodeId{node};
        const std::string place = alike ? "controllers." : "controllers." + std::to_string(index) + ".";
        for (const MachineField& field : fields_of(controller)) {
          MachineParameter parameter = read_field(*table, field, place + field.name);
          if (!alike || index == 0) file_.parameters.push_back(std::move(parameter));
        }
        machine_.controllers.push_back(std::move(controller));
      }
    }
  }

  void read_caches(const toml::table& root) {
    for (const toml::table* table : tables(root, "caches", "caches", true)) {
      CacheDescription cache;
      std::vector<std::string> names{"level"};
      const std::vector<MachineField> fields = fields_of(cache);
      for (const MachineField& field : fields) names.push_back(field.name);
      refuse_unknown(*table, "[[caches]]", names);
      const toml::node* level = table->get("level");
      if (level == nullptr) document_.refuse(table->source(), "'caches.level' is missing; allowed: a whole number from 1");
      cache.level = as_integer(*level, "caches.level", 1, 8);
      for (const MachineField& field : fields)
        file_.parameters.push_back(read_field(*table, field, "caches." + std::to_string(cache.level) + "." + field.name));
      machine_.caches.push_back(cache);
    }
  }

  // The pairs of sockets and hubs that alike links join: between = { value = [[0, 1], [0, 2]], source = "..." }.
  std::vector<std::pair<SocketId, SocketId>> read_pairs(const toml::node& list) const {
    static const std::string shape = "a list of pairs of sockets or hubs, [[0, 1]]";
    if (!list.is_array()) document_.refuse(list.source(), "links.between is " + kind_of(list) + "; allowed: " + shape);
    std::vector<std::pair<SocketId, SocketId>> pairs;
    for (const toml::node& element : *list.as_array()) {
      const toml::array* pair = element.as_array();
      if (pair == nullptr || pair->size() != 2)
        document_.refuse(element.source(), "links.between has a part that is no pair; allowed: " + shape);
      const auto end = [&](std::size_t place) {
        return SocketId{as_integer(*pair->get(place), "links.between", 0, machine_.link_ends() - 1)};
      };
      pairs.emplace_back(end(0), end(1));
    }
    return pairs;
  }

  void read_links(const toml::table& root) {
    const std::vector<const toml::table*> entries = tables(root, "links", "links", false);
    for (const toml::table* table : entries) {
      refuse_unknown(*table, "[[links]]", {"between", "bandwidth", "latency"});
      const toml::node* between = table->get("between");
      if (between == nullptr)
        document_.refuse(table->source(), "'links.between' is missing; allowed: { value = [[0, 1]], source = \"...\" }");
      MachineParameter between_parameter = provenance(*between, "links.between");
      bool first = true;
      for (const auto& [from, to] : read_pairs(*between->as_table()->get("value"))) {
        const bool alike = entries.size() == 1;
        const std::string place = alike ? "links." : "links." + std::to_string(machine_.links.size()) + ".";
        LinkDescription link;
        link.from = from;
        link.to = to;
        const std::string pair = std::to_string(from.value()) + "-" + std::to_string(to.value());
        if (first || !alike) {
          between_parameter.path = place + "between";
          between_parameter.value = pair;
          file_.parameters.push_back(between_parameter);
        } else {
          file_.parameters.at(between_index_).value += ", " + pair;
        }
        if (first) between_index_ = file_.parameters.size() - 1;
        for (const MachineField& field : fields_of(link)) {
          MachineParameter parameter = read_field(*table, field, place + field.name);
          if (first || !alike) file_.parameters.push_back(std::move(parameter));
        }
        machine_.links.push_back(link);
        first = false;
      }
    }
  }

  Document document_;
  MachineFile file_;
  Machine& machine_ = file_.machine;
  std::size_t between_index_ = 0;
};

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file || std::filesystem::is_directory(path))
    throw InputError(path.string() + ": cannot be read; allowed: a machine description (TOML)");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> with_environment(const std::vector<std::filesystem::path>& directories) {
  std::vector<std::filesystem::path> all;
  if (const char* paths = std::getenv("HOMENODE_MACHINE_PATH")) {
    std::istringstream list{paths};
    for (std::string path; std::getline(list, path, ':');)
      if (!path.empty()) all.emplace_back(path);
  }
  all.insert(all.end(), directories.begin(), directories.end());
  return all;
}

}  // namespace

MachineFile parse_machine(std::string_view text, const std::string& file_name) { return MachineReader{text, file_name}.read(); }

MachineFile read_machine_file(const std::filesystem::path& path) { return parse_machine(text_of_file(path), path.string()); }

Machine load_machine(const std::filesystem::path& path) { return read_machine_file(path).machine; }

std::vector<std::string> machine_names(const std::vector<std::filesystem::path>& directories) {
  std::set<std::string> names;
  for (const std::filesystem::path& directory : with_environment(directories)) {
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator{directory, missing})
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

std::filesystem::path find_machine(const std::string& name, const std::vector<std::filesystem::path>& directories) {
  const std::vector<std::string> names = machine_names(directories);
  if (!std::binary_search(names.begin(), names.end(), name)) throw UsageError(unknown_name("machine", name, names));
  for (const std::filesystem::path& directory : with_environment(directories)) {
    std::filesystem::path path = directory / (name + ".toml");
    if (std::filesystem::exists(path)) return path;
  }
  throw UsageError(unknown_name("machine", name, names));
}

Machine load_machine_by_name(const std::string& name, const std::vector<std::filesystem::path>& directories) {
  return load_machine(find_machine(name, directories));
}

}  // namespace homenode
