// One declaration a placement; its line in register.cpp makes it known by name.
#pragma once

#include "sim/policy/page_placement.hpp"
#include "sim/registry.hpp"

namespace homenode {

PolicyEntry<PagePlacement> first_touch();
PolicyEntry<PagePlacement> interleave();
PolicyEntry<PagePlacement> bind();
PolicyEntry<PagePlacement> autonuma();
PolicyEntry<PagePlacement> carrefour();
PolicyEntry<PagePlacement> preferred();
PolicyEntry<PagePlacement> weighted_interleave();
PolicyEntry<PagePlacement> stencil_aware();
PolicyEntry<PagePlacement> optimal();

}  // namespace homenode
