// What a shared library of policies outside of homenode's tree begins with (docs/extensions.md):
//
//   HOMENODE_EXTENSION(registries) { registries.placements.add({"last-node", "every page on the last node", {}, make_last_node}); }
//
// HOMENODE_INTERFACE names homenode's version, the compiler and the headers that it was compiled with: homenode loads a library only if
// all of them are its own, as the registries and policies are C++ objects that both sides handle. CMake defines it
// (cmake/homenode_interface.cmake).
#pragma once

#include "sim/policy/policy_registries.hpp"

#define HOMENODE_EXTENSION(registries)                                                                              \
  extern "C" __attribute__((visibility("default"))) const char* homenode_interface() { return HOMENODE_INTERFACE; } \
  extern "C" __attribute__((visibility("default"))) void homenode_register([[maybe_unused]] homenode::PolicyRegistries& registries)
