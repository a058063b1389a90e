#include "sim/program/workload.hpp"

namespace homenode {

WorkCounts& WorkCounts::operator+=(const WorkCounts& other) {
  instructions += other.instructions;
  integer += other.integer;
  fp_add += other.fp_add;
  fp_multiply += other.fp_multiply;
  fp_fma += other.fp_fma;
  divide += other.divide;
  load += other.load;
  store += other.store;
  branch += other.branch;
  return *this;
}

WorkCounts WorkCounts::scaled(double factor) const {
  return {.instructions = instructions * factor,
          .integer = integer * factor,
          .fp_add = fp_add * factor,
          .fp_multiply = fp_multiply * factor,
          .fp_fma = fp_fma * factor,
          .divide = divide * factor,
          .load = load * factor,
          .store = store * factor,
          .branch = branch * factor};
}

}  // namespace homenode
