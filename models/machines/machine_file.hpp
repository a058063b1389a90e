// Machine descriptions in TOML, schema "homenode.machine/1" (README.md in this folder lists every key). Each number is
// written with where it comes from: { value = "66 ns", source = "SN", confidence = "B" }; nothing unknown is accepted.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/machine/machine.hpp"

namespace homenode {

inline constexpr std::size_t most_nodes = 254;  // of a machine

// A value of a machine and what is known about it.
struct MachineParameter {
  std::string path;                          // "nodes.latency"; "nodes.2.latency" where nodes differ; a name `with_changes` takes
  std::string value;                         // as the machine has it, with its unit
  std::string source;                        // who says so
  std::string confidence{};                  // A measured for this part, B same family, C indirect, D derived, M no text seen; may be empty
  bool assumed = false;                      // a proxy or a choice of ours
  std::optional<std::string> low{}, high{};  // the interval it lies in, if stated
  std::string note{};
  bool operator==(const MachineParameter&) const = default;
};

struct MachineFile {
  Machine machine;                             // validated, with its hash
  std::vector<MachineParameter> parameters;    // in the order of the schema; defaults included, as assumed
  std::map<std::string, std::string> sources;  // what the keys in `source` stand for
};

// Throws InputError: "file:line:column: what is wrong", then the user's own line and a caret.
MachineFile read_machine_file(const std::filesystem::path&);
MachineFile parse_machine(std::string_view text, const std::string& file_name);
Machine load_machine(const std::filesystem::path&);

// NAME.toml in the first directory that has it; those of the environment's `variable` (separated by ':') come first.
struct DescriptionFolders {
  const char* kind;  // "machine"
  const char* variable;
  std::vector<std::string> names(const std::vector<std::filesystem::path>& directories) const;
  std::filesystem::path find(const std::string& name, const std::vector<std::filesystem::path>& directories) const;
};
inline constexpr DescriptionFolders machine_folders{"machine", "HOMENODE_MACHINE_PATH"};

}  // namespace homenode
