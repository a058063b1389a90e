// The closed form's estimate of a whole program.
#include "models/run/estimate.hpp"

#include <gtest/gtest.h>

#include "models/run/placement_pass.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

TEST(Estimate, hasAPlacementPassThatTouchesEachPageOnce) {
  // Two threads on a node each sweep four pages of their own: stencil-aware lets each touch its four, a fault of 500 ns and a line of 100
  // ns, ten of which are in flight.
  constexpr std::int64_t block = 4 * 4096;
  WorkloadBuilder builder;
  const ObjectId grid = builder.object("grid", 2 * block, ObjectKind::mapped);
  const RegionId sweep = builder.loop("sweep", 2);
  builder.nest(sweep, {block / 8}, {write(grid, 0, {8}, block)});
  builder.repeat(sweep);
  RunSpec spec;
  spec.threads = 2;
  spec.placement = "stencil-aware";
  const Estimate found = estimate(*builder.build(), two_sockets(1), spec);
  ASSERT_FALSE(found.regions.empty());
  EXPECT_EQ(found.regions[0].label, placement_pass_label);
  ASSERT_EQ(found.regions[0].thread_seconds.size(), 2U);
  for (const double seconds : found.regions[0].thread_seconds) EXPECT_NEAR(seconds, 4 * (500e-9 + 100e-9 / 10), 1e-12);
}

}  // namespace
}  // namespace homenode::test
