// The three types of threads, and the communication tree, after I. Stirb's NUMA-BTLP (S3, section 3), from true dependences.
//
//   autonomous    no other thread writes what it reads, and it writes nothing that another reads; what all only read is free to it
//   side-by-side  it has a dependence with some thread; relative to each of those. Not transitive
//   postponed     it has dependences with the thread that created it, and with no other
//
// A dependence is what ThreadGraph::dependent_bytes counts, in either direction. The root is typed like the others; nobody created it,
// so it is never postponed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/program/thread_graph.hpp"

namespace homenode {

enum class ThreadType : std::uint8_t { autonomous, side_by_side, postponed };
std::string_view name_of(ThreadType);

struct ClassifiedThread {
  ThreadType type = ThreadType::autonomous;
  unsigned level = 1;                       // in the generation tree; the root's is 1
  std::vector<ThreadId> side_by_side_with;  // ascending; empty unless it is side-by-side
  // Whose son it is in the communication tree: its creator's; a side-by-side thread the son of all relative to which it is that were
  // added before it (in preorder of the generation tree), its creator's only if there is none. Empty for the root.
  std::vector<ThreadId> communication_parents;
};

// By thread.
std::vector<ClassifiedThread> classify_threads(const ThreadGraph&);
// Creators before whom they created, brothers by number: preorder of the generation tree.
std::vector<ThreadId> generation_preorder(const ThreadGraph&);

}  // namespace homenode
