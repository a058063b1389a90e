// A run under `optimal` is one by first touch, of which the report tells the bound that no placement can beat.
#pragma once

#include <string_view>

namespace homenode {

// Whether this is the placement that a text names, under whatever modifiers.
bool is_optimal(std::string_view placement);

}  // namespace homenode
