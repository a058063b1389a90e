// What the library has for models/engines/simgrid_module.cpp, which loads it.
#include <cstddef>

#include "models/engines/simgrid/simgrid_sharing.hpp"

// The caller owns what it gets, and keeps the library loaded as long as that lives. Throws UsageError as the constructor does.
extern "C" __attribute__((visibility("default"))) homenode::BandwidthSharing* homenode_simgrid_sharing(std::size_t resources,
                                                                                                       std::size_t concurrent) {
  return new homenode::SimgridSharing{resources, concurrent};
}
