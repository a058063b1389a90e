// NUMA-BTLP's three types of threads (I. Stirb, thesis abstract, S3, section 3), by what a thread has data dependences with:
//
//   autonomous    with no other thread; what all only read is free to it
//   side-by-side  with at least one; relative to each of those, and not transitive
//   postponed     "only with the thread j, where j is the generating thread of the thread i"
//
// and, where the paper comes to the mapping: "A postponed thread that has no other brother thread is set with priority as side-by-side."
// LoneSon says whether that holds already. Who lists the types of a run's threads goes by the definition alone (thread_types.hpp); who
// places threads by them goes by both sentences: the mapping btdm, and the analysis of source code, which inserts the calls that bind
// them (traces/analysis/classification.hpp).
//
// What differs besides is what the two know. A run tells every thread and what it read of whom. Source code tells creations: one stands for
// several threads if its call is reached more than once, these are brothers, and a dependence is certain or possible.
#pragma once

#include <cstdint>

// Plain C++17, without exceptions: the compiler's plugin includes it.
namespace homenode {

enum class ThreadType : std::uint8_t { autonomous, side_by_side, postponed };
enum class LoneSon : std::uint8_t { postponed, side_by_side };

struct ThreadRelations {
  bool depends = false;           // on any thread, or one on it
  bool on_creator_alone = false;  // on none but the thread that created it
  bool has_brother = false;       // another thread of the same creator
};

constexpr ThreadType thread_type(ThreadRelations relations, LoneSon lone_son) {
  if (!relations.depends) return ThreadType::autonomous;
  const bool postponed = relations.on_creator_alone && (relations.has_brother || lone_son == LoneSon::postponed);
  return postponed ? ThreadType::postponed : ThreadType::side_by_side;
}

constexpr const char* name_of(ThreadType type) {
  switch (type) {
    case ThreadType::autonomous: return "autonomous";
    case ThreadType::side_by_side: return "side-by-side";
    case ThreadType::postponed: return "postponed";
  }
  return "";
}

}  // namespace homenode
