#include "models/machines/machine_intervals.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <variant>

#include "models/machines/machine_changes.hpp"
#include "models/machines/machine_fields.hpp"

namespace homenode {
namespace {

struct SourceClass {
  std::string_view confidence;
  double factor;  // assumed: the value lies between 1 / factor and factor times what is given
  std::string_view meaning;
};
constexpr std::array<SourceClass, 5> classes{{{"A", 1.03, "measured or printed for this part (A)"},
                                              {"B", 1.1, "same family (B)"},
                                              {"C", 1.25, "indirect (C)"},
                                              {"D", 1.2, "derived (D)"},
                                              {"M", 1.5, "no text seen (M)"}}};
// By classes of instructions, core time is a throughput bound, without dependence chains (core_time.hpp). By blocks, models err by 9 to
// 36 % on average (BHive: Chen et al., IISWC 2019, as cited by Abel and Reineke, ICS 2022); the triangle from 1/2 to 2 has a mean error of
// 23 %. Assumed for both.
constexpr double core_time_factor = 2;
// What a memory system's model makes of exact figures. A simulator of cores and caches in far more detail, validated against the machine
// it was made for, is usually within 10 % (zsim: Sanchez and Kozyrakis, ISCA 2013, cited from memory); the triangle from 1/1.35 to 1.35 has
// a mean error of 10 %. Assumed for ours.
constexpr double memory_time_factor = 1.35;

// No confidence given: as a value that nobody vouches for. A proxy is at best indirect.
const SourceClass& class_of(const MachineParameter& parameter) {
  const SourceClass& proxy = classes[2];
  for (const SourceClass& source : classes)
    if (source.confidence == parameter.confidence) return parameter.assumed && source.factor < proxy.factor ? proxy : source;
  return classes.back();
}

// DRAM behind a controller moves the engine `line` only, whose latencies are the machine's all the same. Clocks by number of cores lie
// between the base clock and the highest, the share of a latency that a core waits for is the whole of it and that in which a line keeps
// loads waiting is nothing, page walks as many as misses, translations of one level, nobody is on a core's other thread, unless somebody
// knows better: they are off only where bounds are stated.
bool may_be_off(const MachineField& field, bool stated) {
  if (field.name.starts_with("dram.")) return false;
  if (field.name == "core.load_waits" || field.name == "core.fill_serial" || field.name == "tlb.walks" ||
      field.name == "tlb.first_miss_penalty" || field.name == "tlb.first_misses" || field.name.starts_with("core.smt_"))
    return stated;
  if (std::holds_alternative<std::vector<ClockStep>*>(field.target)) return stated;
  static const std::set<std::string> counts{"core.miss_buffers", "core.prefetched_lines"};
  if (std::holds_alternative<unsigned*>(field.target)) return counts.contains(field.name);
  return std::holds_alternative<Time*>(field.target) || std::holds_alternative<Bandwidth*>(field.target) ||
         std::holds_alternative<std::optional<Time>*>(field.target) || std::holds_alternative<std::optional<Bandwidth>*>(field.target) ||
         std::holds_alternative<double*>(field.target) || std::holds_alternative<std::vector<LoadedLatencyPoint>*>(field.target);
}

// The first field that a parameter describes.
const MachineField* described(const std::vector<MachineField>& fields, const std::string& path) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const MachineField& field) { return field.name == path || name_without_number(field.name) == path; });
  return found == fields.end() ? nullptr : &*found;
}

std::string scaled_text(const MachineFile& file, const MachineField& field, double factor) {
  Machine copy = file.machine;
  for (const MachineField& other : fields_of(copy)) {
    if (other.name != field.name) continue;
    scale(other, factor);
    return text_of(other);
  }
  return {};
}

// bound / value
double ratio(const MachineFile& file, const MachineField& field, const std::string& bound, double value) {
  Machine copy = file.machine;
  for (const MachineField& other : fields_of(copy)) {
    if (other.name != field.name) continue;
    set_from_text(other, bound, copy.clock);
    return *magnitude_of(other) / value;
  }
  return 1;
}

UncertainValue interval_of(const MachineFile& file, const MachineField& field, const MachineParameter& parameter) {
  UncertainValue uncertain;
  uncertain.paths = {parameter.path};
  uncertain.value = text_of(field);
  if ((parameter.low || parameter.high) && magnitude_of(field)) {
    const double value = *magnitude_of(field);
    uncertain.low = parameter.low.value_or(uncertain.value);
    uncertain.high = parameter.high.value_or(uncertain.value);
    uncertain.low_factor = std::min(1.0, ratio(file, field, uncertain.low, value));
    uncertain.high_factor = std::max(1.0, ratio(file, field, uncertain.high, value));
    uncertain.basis = "stated";
    return uncertain;
  }
  const SourceClass& source = class_of(parameter);
  uncertain.low_factor = 1 / source.factor;
  uncertain.high_factor = source.factor;
  uncertain.low = scaled_text(file, field, uncertain.low_factor);
  uncertain.high = scaled_text(file, field, uncertain.high_factor);
  uncertain.basis = source.meaning;
  return uncertain;
}

bool all_asked_for(const MachineFile& file, const std::vector<std::string>& paths) {
  return std::all_of(paths.begin(), paths.end(), [&](const std::string& path) {
    return std::any_of(file.parameters.begin(), file.parameters.end(),
                       [&](const MachineParameter& parameter) { return parameter.path == path && parameter.source == what_if_source; });
  });
}

// "links.0.bandwidth" and three alike -> "links.bandwidth (0, 1, 2, 5)".
std::string name_of(const std::vector<std::string>& paths) {
  const std::string general = name_without_number(paths.front());
  if (general == paths.front()) return general;
  std::string numbers;
  for (const std::string& path : paths) {
    const auto first = path.find('.') + 1;
    numbers += (numbers.empty() ? "" : ", ") + path.substr(first, path.find('.', first) - first);
  }
  return general + " (" + numbers + ")";
}

// What a model makes of exact numbers, whose times are off by `percent` on average.
UncertainValue of_model(const std::string& name, double factor, const std::string& of_what, int percent) {
  const auto text = [](double value) {
    std::ostringstream out;
    out << 'x' << std::setprecision(3) << value;
    return out.str();
  };
  return {.name = name,
          .paths = {name},
          .value = "x1",
          .low = text(1 / factor),
          .high = text(factor),
          .low_factor = 1 / factor,
          .high_factor = factor,
          .basis = "a model of what " + of_what + "; assumed to be off by " + std::to_string(percent) + " % on average"};
}

}  // namespace

std::vector<UncertainValue> uncertain_values(const MachineFile& file) {
  Machine machine = file.machine;  // fields point into something that could be changed
  const std::vector<MachineField> fields = fields_of(machine);
  const std::vector<std::string> throughputs = core_time_names();
  std::vector<UncertainValue> all;
  if (!all_asked_for(file, throughputs)) all.push_back(of_model("core_time", core_time_factor, "instructions take", 23));
  if (!all_asked_for(file, memory_time_names(machine)))
    all.push_back(of_model("memory_time", memory_time_factor, "caches, memory and links take", 10));
  using Alike = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string, std::string>;
  std::map<Alike, std::size_t> alike;
  for (const MachineParameter& parameter : file.parameters) {
    const MachineField* field = described(fields, parameter.path);
    const bool stated = parameter.low || parameter.high;
    if (field == nullptr || !may_be_off(*field, stated) || is_zero(*field) || parameter.source == what_if_source) continue;
    if (!stated && std::find(throughputs.begin(), throughputs.end(), field->name) != throughputs.end()) continue;  // core_time
    UncertainValue uncertain = interval_of(file, *field, parameter);
    if (uncertain.low_factor == uncertain.high_factor) continue;
    const bool level = parameter.path.starts_with("caches.");  // two levels are never the same part
    const Alike key{level ? parameter.path : name_without_number(parameter.path),
                    uncertain.value,
                    uncertain.low,
                    uncertain.high,
                    parameter.source,
                    parameter.confidence,
                    parameter.note};
    if (const auto [place, first] = alike.emplace(key, all.size()); first)
      all.push_back(std::move(uncertain));
    else
      all[place->second].paths.push_back(parameter.path);
  }
  for (UncertainValue& uncertain : all) {
    const std::string& first = uncertain.paths.front();
    uncertain.name = uncertain.paths.size() == 1 ? first : name_of(uncertain.paths);
  }
  return all;
}

}  // namespace homenode
