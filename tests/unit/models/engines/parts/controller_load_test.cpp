// What shared resources are called, and what they carry.
#include "models/engines/parts/controller_load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

TEST(SharedResources, areControllersThenBothWaysOfEachLinkThenTheContendedLineAndTheLockOfPageFaults) {
  const Machine machine = four_socket_square();  // links 0-1, 0-2, 1-3, 2-3
  const Topology topology{machine};
  std::vector<std::string> names;
  std::vector<double> gigabytes;
  for (std::size_t resource = 0; resource < shared_resources(machine, topology); ++resource) {
    names.push_back(shared_resource_name(machine, topology, resource));
    gigabytes.push_back(shared_resource_bandwidth(machine, topology, resource) / 1e9);
  }
  EXPECT_THAT(names,
              ::testing::ElementsAre("controller 0", "controller 1", "controller 2", "controller 3", "link 0->1", "link 1->0", "link 0->2",
                                     "link 2->0", "link 1->3", "link 3->1", "link 2->3", "link 3->2", "contended line", "page faults"));
  EXPECT_THAT(gigabytes, ::testing::ElementsAre(24, 24, 24, 24, 12, 12, 12, 12, 12, 12, 12, 12, 0, 0));
}

}  // namespace
}  // namespace homenode::test
