// Descriptions of operating systems in TOML, schema "homenode.system/1" (README.md in this folder lists every key). Values are
// written as in machine descriptions, each with its source; nothing unknown is accepted.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/machines/machine_file.hpp"
#include "sim/machine/system.hpp"

namespace homenode {

struct SystemFile {
  OperatingSystem system;
  std::vector<MachineParameter> parameters;    // in the order of the schema; defaults included, as assumed
  std::map<std::string, std::string> sources;  // what the keys in `source` stand for
};

// Throws InputError: "file:line:column: what is wrong", then the user's own line and a caret.
SystemFile read_system_file(const std::filesystem::path&);
SystemFile parse_system(std::string_view text, const std::string& file_name);

inline constexpr DescriptionFolders system_folders{"system", "HOMENODE_SYSTEM_PATH"};

}  // namespace homenode
