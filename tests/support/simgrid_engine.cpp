// In every test program: its engine `simgrid` is linked, so that sanitizers see it. The package loads it
// (tests/python/test_simgrid_module.py).
#include <memory>

#include "models/engines/simgrid/simgrid_sharing.hpp"
#include "models/engines/simgrid_module.hpp"

namespace {

[[maybe_unused]] const bool is_used = [] {
  homenode::use_simgrid(
      [](std::size_t resources, std::size_t concurrent) { return std::make_unique<homenode::SimgridSharing>(resources, concurrent); });
  return true;
}();

}  // namespace
