// What-if machines: a machine with some of its values replaced, e.g. with_changes(m, {{"link_bandwidth", "25 GB/s"}}).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/machine/machine.hpp"

namespace homenode {

// Names are dotted paths: "coherence.snoop", "caches.3.size" (by level), "links.0.bandwidth"; without the number
// ("links.bandwidth") all of a kind change. Short names stand for the common ones, e.g. link_bandwidth.
// "x1.2" multiplies a number instead of replacing it. Two names take nothing else: core_time is the time of a core's instructions
// ("x2" halves every throughput of [core] and doubles what code takes by the model of its blocks); memory_time is that of caches, memory,
// links and ring ("x2" doubles every latency and halves every bandwidth).
// "sockets" and "topology" give it another shape first (machine_shape.hpp).
// Changing the clock leaves times as they are: they were turned from cycles into time when the machine was read. Clocks by number of
// cores change in the same proportion, unless they are changed themselves.
// The result is validated and has its own hash. Throws UsageError: unknown name, bad unit, or a machine that makes no sense.
Machine with_changes(const Machine&, const std::map<std::string, std::string>& changes);

// "links.latency" for "link_latency"; other names as they are.
std::string full_parameter_name(const std::string&);
// "links.latency" for "links.0.latency"; names without a number as they are.
std::string name_without_number(const std::string&);
// What core_time stands for: the throughputs "core.issue" ..., and "core.block_time".
std::vector<std::string> core_time_names();
// What memory_time stands for on this machine, without numbers: latencies and bandwidths that are not all zero.
std::vector<std::string> memory_time_names(const Machine&);

// All names that with_changes takes for this machine, short names first.
std::vector<std::string> changeable_names(const Machine&);

}  // namespace homenode
