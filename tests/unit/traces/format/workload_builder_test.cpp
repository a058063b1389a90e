#include "sim/program/workload_builder.hpp"

#include <gtest/gtest.h>

#include "sim/base/errors.hpp"
#include "tests/support/workloads.hpp"
#include "traces/format/trace_summary.hpp"

namespace homenode {
namespace {

TEST(WorkloadBuilder, CountsTheAccessesOfAStencil) {
  // accesses = 2 n^2 + sweeps * 6 (n - 2)^2
  const auto workload = test::jacobi2d(34, 3);
  EXPECT_EQ(access_sums(*workload).accesses, 2u * 34 * 34 + 3u * 6 * 32 * 32);
  EXPECT_EQ(workload->body(ExecutionId{1})->blocks.size(), 1u);
}

TEST(WorkloadBuilder, BlocksOfAThreeDimensionalStencilCoverItsInterior) {
  // accesses = 2 ni nj nk + sweeps * 7 (ni - 2)(nj - 2)(nk - 2)
  const auto workload = test::jacobi3d(20, 30, 16, 5, 10, 8, 2);
  EXPECT_EQ(access_sums(*workload).accesses, 2u * 20 * 30 * 16 + 2u * 7 * 18 * 28 * 14);
  std::int64_t next = 0;
  for (const ItemBlock& block : workload->body(ExecutionId{1})->blocks) {
    EXPECT_EQ(block.first, next);
    next = block.last;
  }
  EXPECT_EQ(next, 4 * 3 * 2);
}

TEST(WorkloadBuilder, IrregularReadsLieBetweenTheirNeighboursInSequence) {
  // index, x, y: sequence of x's k-th read = 3 k + 1
  const auto workload = test::gather(64, 128, 4);
  const ItemPattern& pattern = workload->patterns[workload->body(ExecutionId{2})->blocks[0].pattern.index()];
  ASSERT_EQ(pattern.streams.size(), 1u);
  for (std::size_t k = 0; k < 16; ++k) EXPECT_EQ(pattern.streams[0].sequence[k], 3 * k + 1);
  EXPECT_EQ(pattern.accesses, 48u);
}

TEST(WorkloadBuilder, RefusesAnAccessOutsideItsObject) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 80);
  const RegionId loop = builder.loop("loop", 2);
  builder.nest(loop, {10}, {read(a, 0, {8}, 8)});  // the second iteration ends at 88 > 80
  EXPECT_THROW(builder.repeat(loop), UsageError);
}

}  // namespace
}  // namespace homenode
