// What-if machines: a machine with some of its values replaced, e.g. with_changes(m, {{"link_bandwidth", "25 GB/s"}}).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/machine.hpp"

namespace homenode {

// Names are dotted paths: "coherence.snoop", "caches.3.size" (by level), "links.0.bandwidth"; without the number
// ("links.bandwidth") all of a kind change. Short names stand for the common ones, e.g. link_bandwidth.
// Changing the clock leaves times as they are: they were turned from cycles into time when the machine was read.
// The result is validated and has its own hash. Throws UsageError: unknown name, bad unit, or a machine that makes no sense.
Machine with_changes(const Machine&, const std::map<std::string, std::string>& changes);

// All names that with_changes takes for this machine, short names first.
std::vector<std::string> changeable_names(const Machine&);

}  // namespace homenode
