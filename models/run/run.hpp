// One run, everything chosen by name: what `homenode replay` and hn.replay call.
#pragma once

#include "models/run/run_spec.hpp"
#include "sim/machine/machine.hpp"
#include "sim/program/workload.hpp"
#include "sim/report/report.hpp"

namespace homenode {

// Throws UsageError before anything runs when a name, a parameter or a region label is unknown, or threads do not fit.
RunReport run(const Workload&, const Machine&, const RunSpec&, const RunExtras& = {});

}  // namespace homenode
