#include <gtest/gtest.h>

#include <algorithm>

#include "sim/program/footprint.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

std::uint64_t accesses(const Workload& workload) {
  std::uint64_t sum = 0;
  for (const Execution& execution : workload.executions) sum += execution.accesses;
  return sum;
}

TEST(WorkloadBuilder, theReferenceWorkHasItsHandCount) {
  // 6 accesses a point, (n - 2)^2 points, 2 sweeps: 50.23 million (architecture.md); the initialisation writes 2 n^2.
  EXPECT_EQ(accesses(*jacobi2d(2048, 2)), 6ull * 2046 * 2046 * 2 + 2ull * 2048 * 2048);
}

TEST(WorkloadBuilder, blocksOfTheSixPointStencilCoverTheInnerPointsOnce) {
  const auto workload = jacobi3d(40, 30, 20, 10, 10, 20, 1);
  EXPECT_EQ(workload->executions[0].writes, 2ull * 40 * 30 * 20);
  EXPECT_EQ(workload->executions[1].writes, 38ull * 28 * 18);
  EXPECT_EQ(workload->executions[1].reads, 6ull * 38 * 28 * 18);
}

TEST(WorkloadBuilder, operandsOfOneBodyInterleave) {
  const auto workload = stream_triad(64, 1, 1);
  const ItemPattern& triad = workload->patterns.back();
  // b[0] c[0] a[0] b[1] ...: sequence of run r's access n is r + 3 n.
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_EQ(triad.runs[r].sequence, r);
    EXPECT_EQ(triad.runs[r].dimension[0].sequence_stride, 3u);
  }
}

TEST(Footprint, overlappingRowsCountOnce) {
  const auto workload = jacobi2d(1024, 1);
  // Rows i-1, i and i+1 of a, row i of b: about 4 rows of 1022 doubles; the middle row's neighbours add two points.
  const auto bytes = static_cast<double>(footprint_bytes(workload->patterns[1]));
  EXPECT_NEAR(bytes, 4 * 1022 * 8, 64);
}

}  // namespace
}  // namespace homenode::test
