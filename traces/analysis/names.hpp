// What the user calls an instruction's place, a routine, an object.
#pragma once

#include <llvm/IR/Instruction.h>

#include <string>

#include "traces/analysis/points_to.hpp"

namespace homenode::analysis {

struct SourcePlace {
  std::string file;  // empty without debug information
  unsigned line = 0;
};

// Of an instruction that was inlined: where it came from in the outermost function.
SourcePlace outer_place(const llvm::Instruction&);
// Where it was written.
SourcePlace inner_place(const llvm::Instruction&);
std::string routine_name(const PointsTo&, const llvm::Function&);
std::string object_name(const PointsTo&, ObjectId);

}  // namespace homenode::analysis
