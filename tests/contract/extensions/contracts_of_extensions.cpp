// The contract suites over the policies of the homenode that loads this library: an extension that takes policies instead of adding any.
#include <gtest/gtest.h>

#include "models/distribution/register.hpp"
#include "models/heap/register.hpp"
#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"
#include "sim/policy/extension.hpp"

namespace {

template <class Interface>
void take(const homenode::Registry<Interface>& from, homenode::Registry<Interface>& to) {
  for (const auto& entry : from.entries())
    if (!to.is_built_in(entry.name)) to.add(entry);
}

}  // namespace

HOMENODE_EXTENSION(registries) {
  take(registries.placements, homenode::page_placements());
  take(registries.mappings, homenode::thread_mappings());
  take(registries.distributions, homenode::work_distributions());
  take(registries.heaps, homenode::heap_managers());
}

// Of the policies that were there when the library was loaded. `arguments` as of a test program; returns its status.
extern "C" __attribute__((visibility("default"))) int homenode_run_contracts(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
