// Who shares bandwidth for the engine `simgrid`. SimGrid is large and not on every host: homenode is not linked to it. A library of its own
// is, and it is loaded when the engine is asked for first.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "models/engines/parts/bandwidth_sharing.hpp"

namespace homenode {

using MakeSharing = std::function<std::unique_ptr<BandwidthSharing>(std::size_t resources, std::size_t concurrent)>;

// Before the first run of the engine, from one thread.
void use_simgrid(MakeSharing);

// Loads the library when it is called first, and keeps it. Throws UsageError, which says what to install, if the library or SimGrid is
// missing; an empty path: homenode was built without SimGrid. Safe to call from several threads.
MakeSharing simgrid_of_module(std::string path);

// By what use_simgrid was given last; without that as if built without SimGrid.
std::unique_ptr<BandwidthSharing> simgrid_sharing(std::size_t resources, std::size_t concurrent);

}  // namespace homenode
