// The rules of NUMA-BTLP (I. Stirb, thesis abstract S3, section 3), free of any compiler: a generation tree and data dependences
// in, a type for each thread and the communication tree out.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/program/thread_type.hpp"

namespace homenode::analysis {

// One creation: a routine that one call site hands to a new thread, below one creating thread. It stands for several threads when
// the site runs more than once.
struct GenerationNode {
  std::optional<std::size_t> generator;  // none for the main thread, which is node 0; else a smaller number
  bool several = false;
};

// Certain: whenever both threads run to their ends, one writes what the other reads. Possible: nothing excludes it.
enum class Certainty { possible, certain };

// `writer` writes data that `reader` reads. Equal ends: two threads of one creation.
struct Dependence {
  std::size_t writer, reader;
  Certainty certainty;
};

// Those of thread_type.hpp behind the main thread, which has none; affinity.h counts them so.
enum class ThreadType { main, autonomous, side_by_side, postponed };
const char* name_of(ThreadType);

struct Partner {
  std::size_t node;
  Certainty certainty;  // certain when a dependence between the two, either way, is
  // Written out: one source is compiled as C++17 (CMakeLists.txt).
  friend bool operator==(const Partner& a, const Partner& b) { return a.node == b.node && a.certainty == b.certainty; }
};

struct Classified {
  ThreadType type = ThreadType::main;
  std::vector<Partner> partners;                // ascending; whom it depends on or who depends on it
  std::vector<std::size_t> communicates_below;  // its fathers in the communication tree; none for the main thread
};

// The generation tree in preorder or any order in which a generator stands before what it generates. `least` leaves out
// dependences that are less certain.
// The rule is that of thread_type.hpp, LoneSon::side_by_side: a thread that depends on nobody but its generator and has no brother is
// side-by-side with it. A dependence between two threads of one creation counts as one with another thread.
std::vector<Classified> classify(const std::vector<GenerationNode>&, const std::vector<Dependence>&, Certainty least);

}  // namespace homenode::analysis
