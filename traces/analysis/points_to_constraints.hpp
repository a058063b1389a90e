// The constraints that the statements of a program put on what its pointers point to.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

#include "traces/analysis/points_to.hpp"

namespace homenode::analysis {

class Constraints {
public:
  explicit Constraints(PointsTo& points_to) : points_to_(points_to) {}
  void add(llvm::Module&);
  // Arguments and result of a call that enters a function of the bitcode.
  void pass(const llvm::CallBase&, const llvm::Function&);
  // An indirect call, or a creation, found a further target.
  void call_target(const llvm::CallBase&, const llvm::Value* target);
  // The same for a call through a table of functions.
  void table_target(const PointsTo::TableCall&, ObjectId table);
  static const llvm::Value* without_casts(const llvm::Value*);

private:
  using Node = PointsTo::Node;
  struct TableSlot {
    const llvm::Value* table;
    std::uint64_t number;
  };
  static std::optional<TableSlot> table_slot(const llvm::Value* callee);
  Node value(const llvm::Value*);
  void global(const llvm::GlobalVariable&);
  void initializer(const llvm::Constant&, Node contents);
  void instruction(const llvm::Instruction&);
  void call(const llvm::CallBase&);
  void creation(const llvm::CallBase&);
  void library(const llvm::CallBase&, const llvm::Function*);
  void run_routine(const llvm::CallBase&, llvm::Function&);

  PointsTo& points_to_;
  bool makes_addresses_ = false;  // of integers
};

}  // namespace homenode::analysis
