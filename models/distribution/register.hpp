// Every distribution by name.
#pragma once

#include "sim/base/registry.hpp"
#include "sim/policy/work_distribution.hpp"

namespace homenode {

Registry<WorkDistribution>& work_distributions();

}  // namespace homenode
