// How far each number of a machine may be off: its stated low and high, or a factor by what kind of source it has.
#pragma once

#include <string>
#include <vector>

#include "models/machines/machine_file.hpp"

namespace homenode {

struct UncertainValue {
  std::string name;                // "nodes.latency"; "core_time", "memory_time" for what with_changes takes by these names
  std::vector<std::string> paths;  // names for with_changes; several where alike parts are listed one by one
  std::string value, low, high;    // texts
  double low_factor = 1;           // low = low_factor x value; 0 where low is 0
  double high_factor = 1;          // low_factor <= 1 <= high_factor
  std::string basis;               // "stated", or what the factor was taken for: "measured or printed for this part (A)" ...
};

// The source of values that a what-if change replaced: they are as asked for.
inline constexpr const char* what_if_source = "what-if";

// Times, bandwidths, factors and counts of outstanding lines; nothing for what is zero. What a machine is built of (cores,
// sizes and ways of caches, links, pages, messages, clocks without stated bounds) is taken as described. The intervals of values without
// low and high are homenode's assumption, README.md in this folder.
std::vector<UncertainValue> uncertain_values(const MachineFile&);

}  // namespace homenode
