// What a run yields, gathered from the parts of the event loop at its end.
#pragma once

#include "sim/loop/executions.hpp"
#include "sim/loop/time_accounts.hpp"
#include "sim/report/report.hpp"

namespace homenode {

// All but the heap's part. Takes the log.
RunReport report_of(const Threads&, Executions&, const TimeAccounts&, Time team_overhead);

}  // namespace homenode
