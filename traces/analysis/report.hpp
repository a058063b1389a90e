// What the pass found, as JSON, and the names by which it calls things.
#pragma once

#include <llvm/Support/raw_ostream.h>

#include "traces/analysis/dependences.hpp"

namespace homenode::analysis {

struct Result {
  std::vector<ThreadNode> tree;
  std::vector<FoundDependence> dependences;
  std::vector<Classified> threads;          // by all dependences
  std::vector<Classified> certain_threads;  // by the certain ones alone
};

Result analyse(llvm::Module&, Summaries&);

// schema homenode.classify/1
void write_report(const Result&, const PointsTo&, llvm::raw_ostream&);

}  // namespace homenode::analysis
