// Hands out what a log of an earlier run says: holds two engines to one schedule, so that only their timing differs.
#pragma once

#include <memory>

#include "sim/policy/work_distribution.hpp"
#include "sim/report/report.hpp"

namespace homenode {

// The log must outlive the distribution.
std::unique_ptr<WorkDistribution> follow_log(const std::vector<HandOut>& log);

}  // namespace homenode
