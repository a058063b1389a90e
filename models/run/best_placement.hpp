// Placement `optimal` beside its bound: the best placement that is found for the pages of a run, replayed.
#pragma once

#include "models/optimum/page_demand.hpp"
#include "models/run/run.hpp"
#include "sim/machine/topology.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/report/report.hpp"

namespace homenode {

// `first_touch`: the run that `demand` was told of; `addresses`: where its pages lie at its end.
BestPlacement best_placement(const Workload&, const Machine&, const Topology&, const RunOptions&, const PageDemand& demand,
                             const RunReport& first_touch, const AddressSpace& addresses);

}  // namespace homenode
