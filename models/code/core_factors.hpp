// Factors on the core time of regions, which `homenode anchor` finds where a program was timed: "0@1.27 3@0.9", by the region's number.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "sim/program/code_cycles.hpp"

namespace homenode {

// By region. Throws UsageError for a text of another form, a region that is named twice, a factor outside 0.01 to 100.
std::map<std::size_t, double> core_factors(const std::string& text);

// The cycles of the regions that the text names, mispredicted branches included, times their factors. Throws UsageError where core times
// are not known by blocks, and for a region that there is not.
std::shared_ptr<const CodeCycles> with_core_factors(std::shared_ptr<const CodeCycles>, const std::string& text);

}  // namespace homenode
