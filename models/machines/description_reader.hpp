// What machine and system descriptions have in common: TOML values with their provenance,
// { value = "66 ns", source = "SN", confidence = "B" }, and errors that show the user's own line with a caret.
#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "models/machines/machine_fields.hpp"
#include "models/machines/machine_file.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"

namespace homenode {

// Throws InputError when it cannot be read; `what`: "a machine description".
std::string description_text(const std::filesystem::path&, const std::string& what);

inline std::string joined(const std::vector<std::string>& names) {
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
    if (line > 0) {
      // Of a long line the part around the place.
      const std::size_t place = column > 0 ? column - 1 : 0, first = place > shown ? place - shown / 2 : 0;
      report += "\n  " + line_text(line, first) + "\n  " + std::string(place - first, ' ') + "^";
    }
    throw InputError(report);
  }
  [[noreturn]] void refuse(const std::string& message) const { throw InputError(file_name_ + ": " + message); }

  toml::table parse() const {
    try {
      return toml::parse(text_, file_name_);
    } catch (const toml::parse_error& error) { refuse(error.source(), brief(error.description()) + "; allowed: a TOML 1.0 document"); }
  }

private:
  static constexpr std::size_t shown = 160;  // characters of a line

  std::string line_text(toml::source_index line, std::size_t first) const {
    std::istringstream lines{std::string{text_}};
    std::string found;
    for (toml::source_index number = 0; number < line; ++number) std::getline(lines, found);
    found = found.substr(std::min(first, found.size()), shown);
    for (char& letter : found)
      if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7F') letter = ' ';
    return found;
  }

  std::string_view text_;
  std::string file_name_;
};

// Reads values, and lists what is known about them. `clock` is what times in cycles are converted by; 0 Hz refuses them.
class DescriptionReader {
protected:
  DescriptionReader(std::string_view text, const std::string& file_name, const Frequency& clock)
      : document_{text, file_name}, clock_{clock} {}

  void check_schema(const toml::table& root, std::string_view schema) const {
    const toml::node* found = root.get("schema");
    const std::string version = as_text(found, root, "schema");
    if (version == schema) return;
    const bool other_version = version.starts_with(schema.substr(0, schema.find('/') + 1));
    document_.refuse(found->source(), "schema is '" + brief(version) + "'" + (other_version ? ", of another version of homenode" : "") +
                                          "; allowed: '" + std::string{schema} + "'");
  }

  std::map<std::string, std::string> read_sources(const toml::table& root) const {
    std::map<std::string, std::string> texts;
    if (const toml::node* sources = root.get("sources"))
      for (const auto& [key, node] : as_table(*sources, "sources", "a table of texts"))
        texts[std::string{key.str()}] = as_text(&node, *sources->as_table(), "sources." + brief(key.str()));
    return texts;
  }

  // Name, description, sources and sections: all there is in a description that has only those. `kind`: "the system".
  template <class File>
  void read_described(const toml::table& root, std::string_view schema, const std::string& kind, File& file, std::string& name,
                      std::string& description, const std::vector<MachineSection>& sections) {
    check_schema(root, schema);
    std::vector<std::string> allowed{"schema", "name", "description", "sources"};
    for (const MachineSection& section : sections) allowed.push_back(section.name);
    refuse_unknown(root, kind, allowed);
    name = as_text(root.get("name"), root, "name");
    if (const toml::node* text = root.get("description")) description = as_text(text, root, "description");
    file.sources = read_sources(root);
    read_sections(root, sections, file.parameters);
  }

  // ---- what TOML nodes may be

  void refuse_unknown(const toml::table& table, const std::string& place, const std::vector<std::string>& allowed) const {
    for (const auto& [key, node] : table)
      if (std::find(allowed.begin(), allowed.end(), key.str()) == allowed.end())
        document_.refuse(key.source(), "unknown key '" + brief(key.str()) + "' in " + place + "; allowed: " + joined(allowed));
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
        document_.refuse(confidence->source(), path + ": confidence is '" + brief(parameter.confidence) + "'; allowed: A, B, C, D, M");
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
      set_from_text(field, value_text(node, path), clock_);
    } catch (const UnitError& error) { document_.refuse(node.source(), path + ": " + error.what()); }
  }

  // Fills the field from table[field.name] and returns what is known about it.
  MachineParameter read_field(const toml::table& table, const MachineField& field, const std::string& path) const {
    const toml::node* node = table.get(field.name);
    if (node == nullptr) {
      if (field.required) document_.refuse(table.source(), "'" + path + "' is missing; allowed: { value = ..., source = \"...\" }");
      return {.path = path, .value = text_of(field), .source = "default of homenode", .assumed = true};
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

  // ---- sections of single values; what a file leaves out is listed as homenode's default

  void read_sections(const toml::table& root, const std::vector<MachineSection>& sections,
                     std::vector<MachineParameter>& parameters) const {
    static const toml::table none;
    for (const MachineSection& section : sections) {
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
        parameters.push_back(read_field(table, field, top ? field.name : section.name + "." + field.name));
    }
  }

  Document document_;

private:
  const Frequency& clock_;
};

}  // namespace homenode
