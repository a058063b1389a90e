// pthread_setaffinity_np after each creation of a thread (S3, section 3, steps 5 and 6), with the cores that affinity.c computes
// while the program runs.
#pragma once

#include "traces/analysis/report.hpp"

namespace homenode::analysis {

// Returns how many creations were followed up. Analyses of the changed functions are no longer valid afterwards.
unsigned insert_affinity_calls(llvm::Module&, const Result&, Summaries&);

}  // namespace homenode::analysis
