// Every placement by name.
#pragma once

#include "sim/base/registry.hpp"
#include "sim/policy/page_placement.hpp"

namespace homenode {

const Registry<PagePlacement>& page_placements();

}  // namespace homenode
