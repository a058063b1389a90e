// What each function reads and writes itself: loads, stores, copies, and what functions outside of the bitcode do to their arguments.
// Alias analysis and MemorySSA leave out reads of what the same function wrote just before.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/PassManager.h>

#include <map>
#include <optional>
#include <string>

#include "traces/analysis/points_to.hpp"

namespace homenode::analysis {

struct ByteRange {
  std::int64_t begin, end;
  bool overlaps(ByteRange other) const { return begin < other.end && other.begin < end; }
  bool contains(ByteRange other) const { return begin <= other.begin && other.end <= end; }
};
constexpr ByteRange everywhere = {-(std::int64_t{1} << 62), std::int64_t{1} << 62};

struct Access {
  // Where byte 0 is: of memory that the running thread made itself in this function; of what the function's first argument
  // points to; of the object; not known.
  enum class Base { own, argument, object, unknown };

  const llvm::Instruction* at = nullptr;
  bool reads = false, writes = false;
  bool certain = false;           // done whenever the function runs to its end, if loops run at least once
  std::string through;            // the function outside of the bitcode that does it; empty when the program does
  std::vector<ObjectId> objects;  // ascending
  Base base = Base::unknown;
  ByteRange bytes = everywhere;      // from the base
  std::optional<std::int64_t> size;  // bytes of one time; none when it varies
  std::optional<ByteRange> first;    // exactly the bytes of the first time, from the base
  const llvm::SCEV* address = nullptr;
};

struct Called {
  const llvm::CallBase* call;
  llvm::Function* function;
  bool certain;
};

struct FunctionSummary {
  std::vector<Access> accesses;
  std::vector<Called> called;                    // functions of the bitcode
  std::vector<const llvm::CallBase*> creations;  // of threads, live ones only
};

class Summaries {
public:
  Summaries(const PointsTo& points_to, llvm::FunctionAnalysisManager& analyses) : points_to_(points_to), analyses_(analyses) {}
  const FunctionSummary& of(llvm::Function&);
  // The functions that run when this one is called, itself included, creations of threads not followed; true: whenever it is.
  const std::map<llvm::Function*, bool>& closure(llvm::Function&);
  llvm::FunctionAnalysisManager& analyses() { return analyses_; }
  const PointsTo& points_to() const { return points_to_; }

private:
  const PointsTo& points_to_;
  llvm::FunctionAnalysisManager& analyses_;
  std::map<llvm::Function*, FunctionSummary> summaries_;
  std::map<llvm::Function*, std::map<llvm::Function*, bool>> closures_;
};

}  // namespace homenode::analysis
