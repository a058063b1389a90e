// Which bytes of which objects a pointer can stand for, by what it may point to and by scalar evolution.
#pragma once

#include "traces/analysis/accesses.hpp"

namespace homenode::analysis {

class Addresses {
public:
  Addresses(const PointsTo& points_to, llvm::ScalarEvolution& evolution, llvm::Function& function)
      : points_to_(points_to), evolution_(evolution), function_(function) {}
  // Of `bytes` bytes at the pointer; none: any number. No objects: nothing that another thread could see.
  Access access(llvm::Value* pointer, std::optional<std::uint64_t> bytes);

private:
  std::vector<ObjectId> objects(const std::vector<Target>&);
  Access::Base base(const llvm::Value*, const std::vector<Target>&) const;

  const PointsTo& points_to_;
  llvm::ScalarEvolution& evolution_;
  llvm::Function& function_;
  std::optional<std::set<ObjectId>> held_outside_;
};

// What an expression is the first time all loops are entered; none when that is no constant.
std::optional<std::int64_t> first_value(const llvm::SCEV*);
// From the least to the greatest value; `everywhere` when nothing is known.
ByteRange value_range(llvm::ScalarEvolution&, const llvm::SCEV*);

}  // namespace homenode::analysis
