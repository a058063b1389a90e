// When latency-weighted gives threads unequal shares: the estimates are made by hand, so that each rule is seen alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/distribution/register.hpp"
#include "sim/base/errors.hpp"
#include "sim/hardware/cost_oracle.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

// Seconds an iteration of each of two threads, and the share of the time in which pages are placed.
class Estimates final : public CostOracle {
public:
  RegionEstimate estimate(ExecutionId, std::span<const ScheduledRange> schedule) const override {
    RegionEstimate result{0, {0, 0}, fault_share, "core"};
    for (const ScheduledRange& range : schedule)
      result.thread_seconds[range.thread.index()] += static_cast<double>(range.last - range.first) * seconds[range.thread.index()];
    result.seconds = std::max(result.thread_seconds[0], result.thread_seconds[1]);
    return result;
  }
  void record_execution(ExecutionId, std::span<const ScheduledRange>) override {}
  double seconds[2] = {1, 1};
  double fault_share = 0;
};

struct TwoThreads {
  // Of 1000 iterations of the next execution, those of thread 0.
  std::int64_t first_share() {
    distribution->prepare({ExecutionId{executions++}, &region, 1000, nullptr, &memory}, {{CoreId{0u}, CoreId{4u}}, &machine}, &estimates);
    return distribution->next(ThreadId{0u}, Time{}).items.size();
  }
  Machine machine = two_sockets();
  Region region;
  LoopMemory memory;
  Estimates estimates;
  std::size_t executions = 0;
  std::unique_ptr<WorkDistribution> distribution = work_distributions().make("latency-weighted");
};

TEST(LatencyWeighted, sharesAreByTheSpeedOfTheThreadsFromTheSecondExecutionOn) {
  TwoThreads run;
  run.estimates.seconds[0] = 2;
  EXPECT_EQ(run.first_share(), 500);
  // x iterations at 2 s take as long as 1000 - x at 1 s: x = 333.
  EXPECT_NEAR(static_cast<double>(run.first_share()), 333, 1);
}

TEST(LatencyWeighted, staysWithEqualSharesForLessThanHalfAPercent) {
  TwoThreads run;
  run.estimates.seconds[0] = 1.004;
  // 500 x 1.004 = 502 s; shares that suit would take 1000 / (1 + 1 / 1.004) = 501 s, 0.2 % less.
  for (int execution = 0; execution < 5; ++execution) EXPECT_EQ(run.first_share(), 500);
}

TEST(LatencyWeighted, doesNotWeighAnExecutionThatPlacesPages) {
  TwoThreads run;
  run.estimates.seconds[0] = 2;
  run.estimates.fault_share = 0.01;
  for (int execution = 0; execution < 5; ++execution) EXPECT_EQ(run.first_share(), 500);
  run.estimates.fault_share = 0.004;
  EXPECT_EQ(run.first_share(), 500);  // the first without finds its data where others left them
  EXPECT_LT(run.first_share(), 400);
}

TEST(LatencyWeighted, goesBackToEqualSharesIfTheTrialIsNoBetter) {
  TwoThreads run, better;
  for (TwoThreads* each : {&run, &better}) {
    each->estimates.seconds[0] = 2;
    for (int execution = 0; execution < 3; ++execution) each->first_share();
  }
  // Equal shares were to take 500 x 2 = 1000 s. Now the threads' roles are exchanged: 667 x 2 = 1333 s for the shares as they are.
  run.estimates.seconds[0] = 1;
  run.estimates.seconds[1] = 2;
  EXPECT_EQ(run.first_share(), 500);
  EXPECT_NEAR(static_cast<double>(better.first_share()), 333, 1);  // 667 s
}

// Times that grow with the fifth root of a thread's iterations: equal ones are far off, and each round comes nearer by a little.
class SlowlySettling final : public CostOracle {
public:
  RegionEstimate estimate(ExecutionId, std::span<const ScheduledRange> schedule) const override {
    RegionEstimate result{0, {0, 0}, 0, "core"};
    for (const ScheduledRange& range : schedule)
      result.thread_seconds[range.thread.index()] =
          (range.thread.index() == 0 ? 2 : 1) * std::pow(static_cast<double>(range.last - range.first), 0.2);
    result.seconds = std::max(result.thread_seconds[0], result.thread_seconds[1]);
    return result;
  }
  void record_execution(ExecutionId, std::span<const ScheduledRange>) override {}
};

TEST(LatencyWeighted, weighsInTwentyFourRounds) {
  // Thread 0 has r times as many iterations as thread 1 and takes 2 r^0.2 times as long. A round divides r by that to the power of 0.8:
  // ln r becomes 0.84 ln r - 0.8 ln 2, which settles at -5 ln 2. It begins at 0; the last of 24 estimates is of the weights after 23
  // rounds: ln r = -5 ln 2 (1 - 0.84^23) = -3.403, and thread 0 has 1000 r / (1 + r) = 32 iterations (49 after 11).
  const double ratio = std::exp(-5 * std::log(2.0) * (1 - std::pow(0.84, 23)));
  const Machine machine = two_sockets();
  const Region region;
  LoopMemory memory;
  const SlowlySettling estimates;
  std::int64_t share = 0;
  for (std::size_t execution = 0; execution < 2; ++execution) {
    const auto distribution = work_distributions().make("latency-weighted");
    distribution->prepare({ExecutionId{execution}, &region, 1000, nullptr, &memory}, {{CoreId{0u}, CoreId{4u}}, &machine}, &estimates);
    share = distribution->next(ThreadId{0u}, Time{}).items.size();
  }
  EXPECT_NEAR(static_cast<double>(share), 1000 * ratio / (1 + ratio), 1);
}

// (2^63 - 1)^2 is 1 modulo 2^64: a product that overflows would look like a divisor of every number of iterations.
TEST(LatencyWeighted, refusesExtentsWhoseProductOverflows) {
  TwoThreads run;
  run.distribution = work_distributions().make("latency-weighted:dims=3,rows=9223372036854775807,columns=9223372036854775807");
  EXPECT_THROW(run.first_share(), UsageError);
  run.distribution = work_distributions().make("latency-weighted:dims=2");
  run.region.dimensions = {{INT64_MIN, INT64_MAX, 1}, {INT64_MAX, INT64_MIN, -1}};  // as a trace may say
  EXPECT_THROW(run.first_share(), UsageError);
}

}  // namespace
}  // namespace homenode::test
