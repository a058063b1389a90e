// The policies that a run is made of, by name.
#pragma once

#include <string>
#include <vector>

#include "models/run/run_spec.hpp"

namespace homenode {

struct UsedPolicy {
  std::string kind, name;  // of its registry; without settings
  bool built_in = true;    // not an extension's
};

// Modifiers and what stands for no policy (`auto`) left out. Throws UsageError on a malformed text.
std::vector<UsedPolicy> used_policies(const RunSpec&);

}  // namespace homenode
