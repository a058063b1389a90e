// Placement `optimal`: the bound that no placement can beat, and beside it the best placement that is found for the pages of a run,
// replayed.
#pragma once

#include "models/optimum/page_demand.hpp"
#include "models/run/run_plan.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/report/report.hpp"

namespace homenode {

// `first_touch`: the run that `demand` was told of; `addresses`: where its pages lie at its end. Throws UsageError for an engine that tells
// no bound.
RunReport bound_of(const RunPlan&, const PageDemand& demand, const RunReport& first_touch, const AddressSpace& addresses);

}  // namespace homenode
