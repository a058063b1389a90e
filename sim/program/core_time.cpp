#include "sim/program/core_time.hpp"

#include <algorithm>

namespace homenode {

double core_seconds(const WorkCounts& work, const CoreThroughput& core, Frequency clock) {
  const double floating = work.fp_add / core.fp_add;
  const double multiply = work.fp_multiply / core.fp_multiply + work.fp_fma / core.fp_fma;
  const double cycles = std::max({work.instructions / core.issue, work.integer / core.integer, floating, multiply,
                                  work.divide / core.divide, work.load / core.load, work.store / core.store, work.branch / core.branch});
  return cycles / clock.hertz();
}

double core_seconds(const WorkCounts& work, const RegionCycles* code, const Machine& machine) {
  if (code == nullptr) return core_seconds(work, machine.core, machine.clock);
  // Nothing waits on a core that predicts every branch right.
  const double wrong = machine.core.misprediction > 0
                           ? std::max(0.0, code->mispredictions * machine.core.misprediction + code->resolution * machine.core.block_time)
                           : 0;
  const double cycles = code->cycles + code->units.lost({.units = machine.core.smt_slowdown, .fetching = machine.core.smt_fetch_slowdown});
  return work.instructions * (cycles * machine.core.block_time + wrong) / machine.clock.hertz();
}

double loading_instructions(const WorkCounts& work, const RegionCycles* code) {
  return code == nullptr || code->loads < 0 ? work.load : work.instructions * code->loads;
}

}  // namespace homenode
