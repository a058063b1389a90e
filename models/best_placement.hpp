// Placement `optimal` beside its bound: the best placement that is found for the pages of a run, replayed.
#pragma once

#include "models/run.hpp"
#include "sim/address_space.hpp"
#include "sim/page_demand.hpp"
#include "sim/report.hpp"
#include "sim/topology.hpp"

namespace homenode {

// `first_touch`: the run that `demand` was told of; `addresses`: where its pages lie at its end.
BestPlacement best_placement(const Workload&, const Machine&, const Topology&, const RunOptions&, const PageDemand& demand,
                             const RunReport& first_touch, const AddressSpace& addresses);

}  // namespace homenode
