#include "models/energy/energy_file.hpp"

#include "models/machines/description_reader.hpp"
#include "models/machines/machine_fields.hpp"
#include "models/machines/parsed_once.hpp"

namespace homenode {
namespace {

constexpr std::string_view schema = "homenode.energy/1";
const Frequency no_clock;

std::vector<MachineSection> sections_of(EnergyModel& model) {
  return {
      {"core",
       {{"busy", &model.core.busy}, {"spinning", &model.core.spinning}, {"idle", &model.core.idle}, {"wakeup", &model.core.wakeup}}},
      {"cache",
       {{"first_level", &model.cache.first_level},
        {"private_line", &model.cache.private_line},
        {"shared_line", &model.cache.shared_line},
        {"transfer", &model.cache.transfer}}},
      {"controller", {{"read", &model.controller.read}, {"write", &model.controller.write}}},
      {"link", {{"byte", &model.link.byte}}},
      {"static", {{"socket", &model.background.socket}, {"controller", &model.background.controller}, {"link", &model.background.link}}}};
}

class EnergyReader : DescriptionReader {
public:
  EnergyReader(std::string_view text, const std::string& file_name) : DescriptionReader{text, file_name, no_clock} {}

  EnergyFile read() {
    const toml::table root = document_.parse();
    read_described(root, schema, "the energy description", file_, file_.model.name, file_.model.description, sections_of(file_.model));
    return std::move(file_);
  }

private:
  EnergyFile file_;
};

EnergyModel with(EnergyModel model, const std::string& path, const std::string& value) {
  for (const MachineSection& section : sections_of(model)) {
    for (const MachineField& field : section.fields)
      if (section.name + "." + field.name == path) set_from_text(field, value, no_clock);
  }
  return model;
}

}  // namespace

EnergyFile parse_energy_file(std::string_view text, const std::string& file_name) { return EnergyReader{text, file_name}.read(); }

EnergyFile read_energy_file(const std::filesystem::path& path) {
  return parsed_once(description_text(path, "an energy description"), path.string(), &parse_energy_file);
}

std::vector<EnergySensitivity> energy_sensitivity(const EnergyFile& file, const Machine& machine, const RunReport& report) {
  std::vector<EnergySensitivity> result;
  for (const MachineParameter& parameter : file.parameters) {
    if (!parameter.low || !parameter.high) continue;
    const auto total = [&](const std::string& value) {
      return energy_of(with(file.model, parameter.path, value), machine, report).total();
    };
    result.push_back({parameter.path, total(*parameter.low), total(*parameter.high)});
  }
  return result;
}

}  // namespace homenode
