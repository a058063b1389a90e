// What this host's operating system costs, measured, into the machine's own system (sim/machine/system.hpp).
#pragma once

#include "models/machines/native/describe_host.hpp"
#include "models/machines/native/described_fields.hpp"

namespace homenode {

// Page faults and the scheduler's switches and wake-ups; what was not measured stays as the system `default` has it, unsaid.
void describe_system(DescribedFields&, MachineFile&, const HostFigures&);

}  // namespace homenode
