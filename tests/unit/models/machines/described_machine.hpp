// A complete description of a small machine, whose lines the tests damage one at a time.
#pragma once

#include <stdexcept>
#include <string>

namespace homenode {

inline const std::string described_machine = R"(schema = "homenode.machine/1"
name = "small"
description = "two sockets"
sockets = { value = 2, source = "T" }
clock = { value = "2 GHz", source = "T", confidence = "A" }

[sources]
T = "this test"

[[nodes]]
sockets = [0, 1]
cores = { value = 2, source = "T" }
memory = { value = "1 GiB", source = "T" }
latency = { value = "60 ns", source = "T", confidence = "B", low = "50 ns", high = "70 ns", note = "a proxy" }

[[nodes.controllers]]
read_only = { value = "20 GB/s", source = "T" }
one_to_one = { value = "16 GB/s", source = "T", assumed = true }
loaded_latency = { value = [[0.5, "10 ns"], [1.0, "60 ns"]], source = "T" }

[[caches]]
level = 1
size = { value = "32 KiB", source = "T" }
ways = { value = 8, source = "T" }
cores_per_cache = { value = 1, source = "T" }
inclusion = { value = "inclusive", source = "T" }
latency = { value = "4 cycles", source = "T" }

[[caches]]
level = 2
size = { value = "1 MiB", source = "T" }
ways = { value = 16, source = "T" }
cores_per_cache = { value = 2, source = "T" }
inclusion = { value = "inclusive", source = "T" }
latency = { value = "15 ns", source = "T" }
bandwidth_per_core = { value = "8 B/cycle", source = "T" }

[[links]]
between = { value = [[0, 1]], source = "T" }
bandwidth = { value = "9 GB/s", source = "T" }
latency = { value = "40 ns", source = "T" }

[core]
miss_buffers = { value = 10, source = "T" }
prefetched_lines = { value = 16, source = "T" }
divide = { value = 0.05, source = "T" }

[coherence]
snoop = { value = "source", source = "T" }
core_to_core_local = { value = "30 ns", source = "T" }
core_to_core_remote = { value = "70 ns", source = "T" }
)";

inline std::string with_line(const std::string& old_part, const std::string& new_part) {
  std::string text = described_machine;
  const auto place = text.find(old_part);
  if (place == std::string::npos) throw std::logic_error("the described machine has no '" + old_part + "'");
  return text.replace(place, old_part.size(), new_part);
}

}  // namespace homenode
