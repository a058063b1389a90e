// One more placement of the same program: what leaves the caches is the first one's, and so is the report.
#include <gtest/gtest.h>

#include "models/engines/parts/cache_record.hpp"
#include "models/machines/machine_file.hpp"
#include "models/run/run.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/equal_reports.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

Machine x5550() { return load_machine(test::source_folder() / "models/machines/xeon-x5550-2s.toml"); }

RunSpec eight_threads(const char* placement, const char* caches = "runs") {
  RunSpec options;
  options.threads = 8;
  options.placement = placement;
  options.caches = caches;
  return options;
}

class Record : public ::testing::TestWithParam<std::tuple<const char*, const char*, std::int64_t>> {};
INSTANTIATE_TEST_SUITE_P(all, Record,
                         ::testing::Combine(::testing::Values("runs", "lines"),
                                            ::testing::Values("static", "static:1", "init@static sweep@dynamic:4", "guided"),
                                            // Too little for anything, for a part, and enough.
                                            ::testing::Values(1, 30'000, 1 << 28)));

TEST_P(Record, changesNoReport) {
  const auto& [caches, distribution, limit] = GetParam();
  const Machine machine = x5550();
  const auto workload = jacobi2d(256, 3);
  const auto record = std::make_shared<CacheRecord>(Bytes{limit});
  for (const char* placement : {"interleave", "first-touch", "bind:0", "optimal", "stencil-aware"}) {
    RunSpec options = eight_threads(placement, caches);
    options.distribution = distribution;
    const RunReport expected = accounted_run(*workload, machine, options);
    RunExtras extras;
    extras.record = record;
    SCOPED_TRACE(placement);
    expect_equal(accounted_run(*workload, machine, options, extras), expected);
  }
  // The first region is a loop already.
  EXPECT_EQ(record->slices().empty(), std::string_view{distribution} == "guided");
}

TEST(Caches, doNotSeeWherePagesLieWhenTheScheduleIsStatic) {
  // Threads of a static loop pass the caches in rounds: the lines that hit, and those that memory serves, are equal for every placement.
  const Machine machine = x5550();
  const auto workload = jacobi2d(1024, 4);
  const RunReport near = accounted_run(*workload, machine, eight_threads("first-touch"));
  for (const char* placement : {"interleave", "bind:0", "bind:1"}) {
    const RunReport other = accounted_run(*workload, machine, eight_threads(placement));
    EXPECT_NE(other.time, near.time) << placement;
    EXPECT_EQ(other.counts.hit_lines, near.counts.hit_lines) << placement;
    EXPECT_EQ(other.counts.transfer_lines, near.counts.transfer_lines) << placement;
    EXPECT_EQ(other.counts.memory_lines, near.counts.memory_lines) << placement;
  }
}

TEST(CacheRecord, isReadWhereCachesAreTheSameAndLatenciesAreNot) {
  // A machine whose links are slower has the same caches; one with a smaller last level has not, and another team touches other lines.
  const auto workload = jacobi2d(512, 4);
  RunSpec options = eight_threads("interleave");
  RunExtras recording, without;
  recording.record = std::make_shared<CacheRecord>(Bytes{1 << 28});
  recording.quantum = without.quantum = Bytes{1 << 18};
  accounted_run(*workload, x5550(), options, recording);
  Machine slower = x5550(), smaller = x5550();
  for (LinkDescription& link : slower.links) link.latency = link.latency * 2;
  smaller.caches.back().size = Bytes{smaller.caches.back().size.count() / 2};
  for (const Machine& machine : {slower, smaller}) {
    for (const unsigned threads : {8u, 4u}) {
      RunSpec alone = eight_threads("interleave");
      options.threads = alone.threads = threads;
      expect_equal(accounted_run(*workload, machine, options, recording), accounted_run(*workload, machine, alone, without));
    }
  }
}

}  // namespace
}  // namespace homenode::test
