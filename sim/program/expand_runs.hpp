// The same program with every access on its own, as a list of raw addresses has it: what the models make of a trace without runs.
// Stores lose the mark streamable, which single accesses cannot have.
#pragma once

#include <memory>

#include "sim/program/workload.hpp"

namespace homenode {

// Memory grows with the accesses of a pattern, not with how often it is repeated.
std::shared_ptr<Workload> expand_runs(std::shared_ptr<const Workload>);

}  // namespace homenode
