// What a replay and an estimate are both told.
#pragma once

#include <cstdint>
#include <string>

#include "models/run/run.hpp"
#include "models/systems/system_file.hpp"

namespace homenode::python {

// `system`: path of a description, empty for the default one.
inline RunOptions run_options(unsigned threads, const std::string& placement, const std::string& mapping, const std::string& distribution,
                              const std::string& stores, std::uint64_t seed, const std::string& system, const std::string& pages) {
  RunOptions options;
  if (!system.empty()) options.system = read_system_file(system).system;
  options.threads = threads;
  options.placement = placement;
  options.mapping = mapping;
  options.distribution = distribution;
  options.stores = stores;
  options.seed = seed;
  options.pages = pages;
  return options;
}

}  // namespace homenode::python
