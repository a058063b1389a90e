// Writes a machine as the TOML that machine_file reads.
#pragma once

#include <string>
#include <vector>

#include "models/machines/machine_file.hpp"

namespace homenode {

// Every value with the provenance that `parameters` holds for its path; "not stated" where there is none.
// Reading the text gives the same machine, with the same hash.
std::string write_machine_toml(const Machine&, const std::vector<MachineParameter>& parameters,
                               const std::map<std::string, std::string>& sources = {});

}  // namespace homenode
