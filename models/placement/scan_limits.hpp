// What no scan of Linux exceeds, for hinting faults (kernel/sched/fair.c, task_numa_work).
#pragma once

#include <cstdint>

namespace homenode {

inline constexpr std::int64_t most_scanned_a_second = std::int64_t{2560} << 20;  // MAX_SCAN_WINDOW, bytes
// A scan looks at up to this many times the pages that it may unmap, to skip those that are not there.
inline constexpr std::uint64_t looked_at_for_unmapped = 8;

}  // namespace homenode
