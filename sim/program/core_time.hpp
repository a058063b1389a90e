// Time a core needs for an iteration's instructions when every access hits: the busiest of issue and execution pipes.
#pragma once

#include "sim/machine/machine.hpp"
#include "sim/program/code_cycles.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

// Seconds. Each class is counted in instructions and served at its sustained rate per cycle; the classes run side by side in
// their pipes, all pass the issue stage (throughput bound of a port model, as in OSACA and IACA; dependence chains are not in it).
double core_seconds(const WorkCounts&, const CoreThroughput&, Frequency clock);

// Seconds of instructions of a region: by its blocks where they are known, with what mispredicted branches cost; else by classes.
double core_seconds(const WorkCounts&, const RegionCycles*, const Machine&);

// How many instructions load, a vector at a time: likewise.
double loading_instructions(const WorkCounts&, const RegionCycles*);

}  // namespace homenode
