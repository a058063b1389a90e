// The types of a run's threads (thread_type.hpp), and the communication tree, after I. Stirb's NUMA-BTLP (S3, section 3).
//
// A dependence, true ones alone, is what ThreadGraph::dependent_bytes counts, in either direction. The root is typed like the others;
// nobody created it, so it is never postponed.
#pragma once

#include <vector>

#include "sim/base/ids.hpp"
#include "sim/program/thread_graph.hpp"
#include "sim/program/thread_type.hpp"

namespace homenode {

struct ClassifiedThread {
  ThreadType type = ThreadType::autonomous;
  unsigned level = 1;                       // in the generation tree; the root's is 1
  std::vector<ThreadId> side_by_side_with;  // ascending; empty unless it is side-by-side
  // Whose son it is in the communication tree: its creator's; a side-by-side thread the son of all relative to which it is that were
  // added before it (in preorder of the generation tree), its creator's only if there is none. Empty for the root.
  std::vector<ThreadId> communication_parents;
};

// By thread.
std::vector<ClassifiedThread> classify_threads(const ThreadGraph&, LoneSon = LoneSon::postponed);
// Creators before whom they created, brothers by number: preorder of the generation tree.
std::vector<ThreadId> generation_preorder(const ThreadGraph&);

}  // namespace homenode
