// Descriptions of what machines consume, in TOML, schema "homenode.energy/1" (README.md in this folder lists every key).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/energy/energy_model.hpp"
#include "models/machines/machine_file.hpp"

namespace homenode {

struct EnergyFile {
  EnergyModel model;
  std::vector<MachineParameter> parameters;    // in the order of the schema; defaults included, as assumed
  std::map<std::string, std::string> sources;  // what the keys in `source` stand for
};

// Throws InputError: "file:line:column: what is wrong", then the user's own line and a caret.
EnergyFile read_energy_file(const std::filesystem::path&);
EnergyFile parse_energy_file(std::string_view text, const std::string& file_name);

inline constexpr DescriptionFolders energy_folders{"energy description", "HOMENODE_ENERGY_PATH"};

// The total with one parameter at its low and at its high end, the others as described; for each that has both.
struct EnergySensitivity {
  std::string parameter;
  Energy low, high;
};
std::vector<EnergySensitivity> energy_sensitivity(const EnergyFile&, const Machine&, const RunReport&);

}  // namespace homenode
