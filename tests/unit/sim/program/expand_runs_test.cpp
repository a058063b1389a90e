// A program with each access on its own: the same accesses in the same order, and the same lines in the caches.
#include "sim/program/expand_runs.hpp"

#include <gtest/gtest.h>

#include "models/run/run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

TEST(ExpandRuns, hasNoRunsAndEveryAccess) {
  // A row of gather: per element a read of the index, one of the table where it says, and a write.
  const auto workload = gather(1000, 500, 10);
  const auto raw = expand_runs(workload);
  ASSERT_EQ(raw->patterns.size(), workload->patterns.size());
  for (std::size_t p = 0; p < raw->patterns.size(); ++p) {
    std::uint64_t accesses = 0;
    EXPECT_TRUE(raw->patterns[p].runs.empty());
    for (const IrregularStream& stream : raw->patterns[p].streams) {
      accesses += stream.offset.size();
      for (std::size_t i = 1; i < stream.sequence.size(); ++i) EXPECT_LT(stream.sequence[i - 1], stream.sequence[i]);
    }
    EXPECT_EQ(accesses, workload->patterns[p].accesses);
  }
}

TEST(ExpandRuns, movesTheSameLines) {
  // 5-point Jacobi on 4 MiB in a last level of 64 MiB, in which no set is too small: each line of both arrays is zeroed in the caches and
  // written back once.
  Machine machine = one_node();
  machine.caches[2].size = Bytes{64 << 20};
  const auto workload = jacobi2d(512, 2);
  for (const char* engine : {"flow", "line"}) {
    RunSpec options;
    options.engine = engine;
    options.caches = "lines";
    options.threads = 4;
    const RunReport runs = run(*workload, machine, options), raw = run(*expand_runs(workload), machine, options);
    EXPECT_EQ(raw.counts.accesses, runs.counts.accesses);
    EXPECT_EQ(raw.counts.write_bytes, std::vector<std::uint64_t>{4 << 20});
    EXPECT_EQ(raw.counts.read_bytes, runs.counts.read_bytes);
    EXPECT_EQ(raw.counts.write_bytes, runs.counts.write_bytes);
  }
}

}  // namespace
}  // namespace homenode::test
