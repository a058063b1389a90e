// Automatic NUMA balancing is that of the kernel that the run is on.
#pragma once

#include <string>

#include "sim/machine/system.hpp"

namespace homenode {

// The placement with `autonuma` told the system's kernel, if the system names one. Throws UsageError if it was told another one.
std::string with_kernel_of(const OperatingSystem&, const std::string& placement);

}  // namespace homenode
