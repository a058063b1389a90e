// Parts that an imported trace may lack, and the error of a policy or option that needs one.
#pragma once

#include <string>

#include "sim/program/workload.hpp"

namespace homenode {

enum class Recorded : std::uint8_t {
  objects,            // the program's own objects: without them an object is a range of addresses
  heap_calls,         // where blocks are allocated and released
  iterations,         // work that may go to any thread: loop iterations, tasks
  work,               // instructions by class
  dependence,         // which loads produce addresses
  streamable_stores,  // stores that may be non-temporal
  synchronisation,    // barriers, locks
  threads,            // which thread did what
  thread_creation,    // who created and joined whom
  marks,              // steps, owners, thread types
};
inline constexpr std::uint8_t recorded_kinds = static_cast<std::uint8_t>(Recorded::marks) + 1;

// "heap-calls": as `Workload::lacks` and the features of a trace file name it.
std::string name_of(Recorded);
std::string meaning_of(Recorded);  // "allocations and releases"
bool has(const Workload&, Recorded);
// Throws UsageError that names `who` (a policy or an option with its value), what it needs, and the trace that lacks it.
void require(const Workload&, Recorded, const std::string& who);

}  // namespace homenode
