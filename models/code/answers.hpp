// Answers of the program homenode-mca, kept by what was asked.
#pragma once

#include <string>

#include "models/code/core_model.hpp"

namespace homenode {

// Throws UsageError with the program's own words where it refuses, InputError where it does not end well.
std::string answer_to(const std::string& request, const CoreModelFiles&);

}  // namespace homenode
