// Every placement by name.
#pragma once

#include "sim/base/registry.hpp"
#include "sim/policy/page_placement.hpp"

namespace homenode {

Registry<PagePlacement>& page_placements();

}  // namespace homenode
