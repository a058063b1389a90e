#include "models/machines/machine_writer.hpp"

#include <algorithm>

#include "models/machines/machine_fields.hpp"

namespace homenode {
namespace {

std::string toml_text(const std::string& text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string result = "\"";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') result += '\\';
    if (code < 0x20 || code == 0x7f)
      result += std::string{"\\u00"} + digits[code / 16] + digits[code % 16];
    else
      result += character;
  }
  return result + "\"";
}

// As TOML writes the text that set_from_text reads: whole and broken numbers bare, curves and tables as lists of pairs.
std::string literal(const MachineField& field, const std::string& text) {
  if (std::holds_alternative<unsigned*>(field.target)) return text;
  if (std::holds_alternative<double*>(field.target)) return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  if (std::holds_alternative<std::vector<ClockStep>*>(field.target)) {  // "1: 3.4 GHz, 40: 3 GHz", perhaps of a bound
    std::vector<ClockStep> steps;
    set_from_text({"", &steps}, text, Frequency{});
    std::string pairs;
    for (const ClockStep& step : steps)
      pairs += (pairs.empty() ? "[" : ", [") + std::to_string(step.cores) + ", " + toml_text(to_string(step.clock)) + "]";
    return "[" + pairs + "]";
  }
  if (const auto* curve = std::get_if<std::vector<LoadedLatencyPoint>*>(&field.target)) {
    std::string points;
    for (const LoadedLatencyPoint& point : **curve) {
      double utilisation = point.utilisation;
      const MachineField number{"", &utilisation};
      points += (points.empty() ? "[" : ", [") + literal(number, text_of(number)) + ", " + toml_text(to_string(point.extra)) + "]";
    }
    return "[" + points + "]";
  }
  return toml_text(text);
}

class Writer {
public:
  Writer(const Machine& machine, const std::vector<MachineParameter>& parameters) : machine_{machine}, parameters_{parameters} {}

  std::string write(const std::map<std::string, std::string>& sources) {
    line("schema = \"homenode.machine/1\"");
    line("name = " + toml_text(machine_.name));
    if (!machine_.description.empty()) line("description = " + toml_text(machine_.description));
    line("sockets = " + described("sockets", std::to_string(machine_.sockets)));
    if (machine_.hubs > 0) line("hubs = " + described("hubs", std::to_string(machine_.hubs)));
    std::vector<MachineSection> sections = sections_of(machine_);
    for (const MachineField& field : sections.front().fields) value(field, "");  // the top of the file
    if (!sources.empty()) {
      line("\n[sources]");
      for (const auto& [key, text] : sources) line(toml_text(key) + " = " + toml_text(text));
    }
    nodes();
    for (CacheDescription& cache : machine_.caches) {
      line("\n[[caches]]\nlevel = " + std::to_string(cache.level));
      for (const MachineField& field : fields_of(cache)) value(field, "caches." + std::to_string(cache.level) + ".");
    }
    for (std::size_t index = 0; index < machine_.links.size(); ++index) {
      LinkDescription& link = machine_.links[index];
      const std::string place = "links." + std::to_string(index) + ".";
      line("\n[[links]]");
      line("between = " +
           described(place + "between", "[[" + std::to_string(link.from.value()) + ", " + std::to_string(link.to.value()) + "]]"));
      for (const MachineField& field : fields_of(link)) value(field, place);
    }
    for (std::size_t index = 1; index < sections.size(); ++index) {
      const std::string place = sections[index].name + ".";
      const bool own_system = place.starts_with(system_prefix);
      std::vector<MachineField> fields = sections[index].fields;
      if (own_system) std::erase_if(fields, [&](const MachineField& field) { return is_default_system(field, place); });
      if (own_system && fields.empty() && place != "system.faults.") continue;  // one part tells that there is a system
      line("\n[" + sections[index].name + "]");
      for (const MachineField& field : fields) value(field, place);
    }
    return text_;
  }

private:
  void nodes() {
    for (std::size_t index = 0; index < machine_.nodes.size(); ++index) {
      NodeDescription& node = machine_.nodes[index];
      const std::string place = "nodes." + std::to_string(index) + ".";
      const auto cores = std::count(machine_.core_node.begin(), machine_.core_node.end(), NodeId{index});
      line("\n[[nodes]]\nsockets = [" + std::to_string(node.socket.value()) + "]");
      line("cores = " + described(place + "cores", std::to_string(cores)));
      for (const MachineField& field : fields_of(node)) value(field, place);
      for (std::size_t controller = 0; controller < machine_.controllers.size(); ++controller) {
        if (machine_.controllers[controller].node.index() != index) continue;
        line("\n[[nodes.controllers]]");
        for (const MachineField& field : fields_of(machine_.controllers[controller]))
          value(field, "controllers." + std::to_string(controller) + ".");
      }
    }
  }

  void value(const MachineField& field, const std::string& place) {
    const std::string text = text_of(field);
    const bool empty = text.empty() && !std::holds_alternative<std::vector<LoadedLatencyPoint>*>(field.target);
    const bool left_out = empty || (is_left_out(field) && known(place + field.name) == nullptr);
    if (!left_out) line(field.name + " = " + described(place + field.name, literal(field, text), &field));
  }

  // What a machine's own system has as the default one, and nobody has said.
  bool is_default_system(const MachineField& field, const std::string& place) const {
    if (known(place + field.name) != nullptr) return false;
    OperatingSystem plain;
    for (const MachineSection& section : sections_of(plain))
      for (const MachineField& other : section.fields)
        if (std::string{system_prefix} + section.name + "." + other.name == place + field.name) return text_of(other) == text_of(field);
    return false;
  }

  // "nodes.2.latency" is described by itself or by "nodes.latency".
  const MachineParameter* known(const std::string& path) const {
    const auto named = [&](const std::string& name) {
      const auto found = std::find_if(parameters_.begin(), parameters_.end(), [&](const MachineParameter& p) { return p.path == name; });
      return found == parameters_.end() ? nullptr : &*found;
    };
    if (const MachineParameter* exact = named(path)) return exact;
    const auto first = path.find('.');
    const auto second = first == std::string::npos ? first : path.find('.', first + 1);
    return second == std::string::npos ? nullptr : named(path.substr(0, first) + path.substr(second));
  }

  std::string described(const std::string& path, const std::string& value, const MachineField* field = nullptr) const {
    const MachineParameter* parameter = known(path);
    std::string table = "{ value = " + value + ", source = " + toml_text(parameter ? parameter->source : "not stated");
    if (parameter == nullptr) return table + " }";
    if (!parameter->confidence.empty()) table += ", confidence = " + toml_text(parameter->confidence);
    if (parameter->low && field) table += ", low = " + literal(*field, *parameter->low);
    if (parameter->high && field) table += ", high = " + literal(*field, *parameter->high);
    if (parameter->assumed) table += ", assumed = true";
    if (!parameter->note.empty()) table += ", note = " + toml_text(parameter->note);
    return table + " }";
  }

  void line(const std::string& text) { text_ += text + "\n"; }

  Machine machine_;  // a copy: fields point into something that could be changed
  const std::vector<MachineParameter>& parameters_;
  std::string text_;
};

}  // namespace

std::string write_machine_toml(const Machine& machine, const std::vector<MachineParameter>& parameters,
                               const std::map<std::string, std::string>& sources) {
  return Writer{machine, parameters}.write(sources);
}

}  // namespace homenode
