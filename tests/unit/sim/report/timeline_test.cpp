// Spans that are joined and left out, and the use of resources by intervals.
#include "sim/report/timeline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sim/program/workload_builder.hpp"

namespace homenode {
namespace {

Time ns(std::int64_t count) { return Time::picoseconds(1000 * count); }

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(UseOverTime, isSpreadEvenly) {
  // 8 s of use from the middle of interval 1 to the middle of interval 3: 2, 4 and 2 of them.
  UseOverTime use{1, 64};
  const std::int64_t width = use.interval().count();
  use.add(0, Time::picoseconds(width * 3 / 2), Time::picoseconds(width * 7 / 2), 8);
  EXPECT_EQ(use.of(0), (std::vector<double>{0, 2, 4, 2}));
}

TEST(UseOverTime, keepsItsSumWhenIntervalsGetWider) {
  // The k-th use is 1/1024 s at 1000 k ns: exact sums, whatever the intervals.
  UseOverTime use{2, 16};
  const Time before = use.interval();
  for (std::int64_t k = 0; k < 1000; ++k) use.add(1, ns(1000 * k), ns(1000 * k), 1.0 / 1024);
  EXPECT_GT(use.interval(), before);
  EXPECT_LE(use.of(1).size(), 16U);
  EXPECT_DOUBLE_EQ(sum(use.of(1)), 1000.0 / 1024);
  EXPECT_TRUE(use.of(0).empty());
}

std::shared_ptr<Workload> two_loops() {
  WorkloadBuilder builder;
  builder.object("data", 64);
  for (const char* label : {"first", "second"}) builder.repeat(builder.loop(label, 1000));
  return builder.build();
}

TEST(Timeline, keepsAFewSpansAsTheyAre) {
  const auto workload = two_loops();
  Timeline timeline{100};
  timeline.begin_part(*workload, ns(5));
  timeline.record(ThreadActivity::barrier, ThreadId{1}, *workload, {ExecutionId{1}, 0, 0}, ns(30), ns(40));
  timeline.record(ThreadActivity::work, ThreadId{1}, *workload, {ExecutionId{0}, 3, 7}, ns(10), ns(30));
  timeline.record(ThreadActivity::page_work, ThreadId{1}, *workload, {ExecutionId{0}, 3, 7}, ns(10), ns(12));
  timeline.record(ThreadActivity::work, ThreadId{0}, *workload, {ExecutionId{0}, 0, 3}, ns(10), ns(10));  // takes no time: is not there
  const auto& spans = timeline.spans();
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].doing, ThreadActivity::work);
  EXPECT_EQ(spans[0].from, ns(15));
  EXPECT_EQ(spans[0].last, 7);
  EXPECT_EQ(spans[1].doing, ThreadActivity::page_work);
  EXPECT_EQ(timeline.labels()[spans[2].label], "second");
  EXPECT_EQ(timeline.least(), Time{});
}

TEST(Timeline, hasAnOverviewWithoutSpans) {
  // Two regions in a part that begins at 5 ns: 20 ns of work, and 10 ns of runtime; page work is within work, a barrier is none.
  const auto workload = two_loops();
  Timeline timeline{0};
  timeline.set_resources({"controller 0", "link 0->1"}, {1e9, 1e9}, 1000);
  timeline.begin_part(*workload, ns(5));
  timeline.record(ThreadActivity::work, ThreadId{1}, *workload, {ExecutionId{0}, 3, 7}, ns(10), ns(30));
  timeline.record(ThreadActivity::page_work, ThreadId{1}, *workload, {ExecutionId{0}, 3, 7}, ns(10), ns(12));
  timeline.record(ThreadActivity::runtime, ThreadId{0}, *workload, {ExecutionId{1}, 0, 0}, ns(30), ns(40));
  timeline.record(ThreadActivity::barrier, ThreadId{1}, *workload, {ExecutionId{1}, 0, 0}, ns(30), ns(40));
  timeline.used(1, ns(10), ns(20), 4e-9);
  EXPECT_FALSE(timeline.keeps_spans());
  EXPECT_TRUE(timeline.spans().empty());
  EXPECT_TRUE(timeline.use().of(1).empty());
  const RunOverTime over = timeline.overview();
  const auto sum = [](const RunOverTime::Row& row) { return std::accumulate(row.seconds.begin(), row.seconds.end(), 0.0); };
  ASSERT_EQ(over.resources.size(), 1U);  // of which something was used
  EXPECT_EQ(over.resources[0].name, "link 0->1");
  EXPECT_NEAR(sum(over.resources[0]), 4e-9, 1e-20);
  ASSERT_EQ(over.regions.size(), 2U);
  EXPECT_EQ(over.regions[0].name, "first");
  EXPECT_NEAR(sum(over.regions[0]), 20e-9, 1e-20);
  EXPECT_NEAR(sum(over.regions[1]), 10e-9, 1e-20);
  // 15 to 35 ns in intervals of 16.384: two of them have it, the first for 1.384 ns
  EXPECT_EQ(over.interval, Time::picoseconds(16'384));
  EXPECT_NEAR(over.regions[0].seconds[0], 1.384e-9, 1e-20);
}

TEST(Timeline, itsOverviewHasAtMost64Intervals) {
  // Ends at 1 ms = 16.384 ns x 61035.2: 2^10 times the least width makes 59.6 intervals of 16.8 us.
  const auto workload = two_loops();
  Timeline timeline{0};
  timeline.begin_part(*workload, Time{});
  for (std::int64_t k = 0; k < 1000; ++k)
    timeline.record(ThreadActivity::work, ThreadId{0}, *workload, {ExecutionId{0}, k, k + 1}, ns(1000 * k), ns(1000 * k + 1000));
  const RunOverTime over = timeline.overview();
  EXPECT_EQ(over.interval, Time::picoseconds(16'384 << 10));
  ASSERT_EQ(over.regions[0].seconds.size(), 60U);
  for (std::size_t interval = 0; interval < 59; ++interval)
    EXPECT_NEAR(over.regions[0].seconds[interval], over.interval.seconds(), 1e-15) << interval;
}

TEST(Timeline, joinsSpansOfOneExecutionThatAreTooMany) {
  // 1000 slices of 90 ns with 10 ns at a lock behind each: in a timeline of 100 spans, one that works from 0 to 99990 ns.
  const auto workload = two_loops();
  Timeline timeline{100};
  timeline.begin_part(*workload, Time{});
  for (std::int64_t k = 0; k < 1000; ++k) {
    timeline.record(ThreadActivity::work, ThreadId{0}, *workload, {ExecutionId{0}, k, k + 1}, ns(100 * k), ns(100 * k + 90));
    timeline.record(ThreadActivity::lock, ThreadId{0}, *workload, {ExecutionId{0}, 0, 0}, ns(100 * k + 90), ns(100 * k + 100));
  }
  const auto& spans = timeline.spans();
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].from, Time{});
  EXPECT_EQ(spans[0].to, ns(99'990));
  EXPECT_EQ(spans[0].last, 1000);
  EXPECT_EQ(spans[0].joined, 1000U);
  EXPECT_EQ(timeline.left_out(), 1000U);
  EXPECT_GT(timeline.least(), ns(10));
}

TEST(Timeline, neverOverlapsAndNeverGrowsBeyondItsSize) {
  // Two threads alternate between two regions, slices of 1 to 64 ns with page work in front and gaps of 0 to 7 ns.
  const auto workload = two_loops();
  Timeline timeline{200};
  timeline.begin_part(*workload, Time{});
  std::array<std::int64_t, 2> now{};
  std::uint64_t random = 1;
  for (std::int64_t k = 0; k < 20'000; ++k) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::size_t thread = random >> 63U, execution = (random >> 62U) % 2;
    const auto length = static_cast<std::int64_t>((random >> 40U) % 64 + 1), gap = static_cast<std::int64_t>((random >> 30U) % 8);
    const Time from = ns(now[thread]), to = ns(now[thread] + length);
    timeline.record(ThreadActivity::work, ThreadId{thread}, *workload, {ExecutionId{execution}, k % 1000, k % 1000 + 1}, from, to);
    timeline.record(ThreadActivity::page_work, ThreadId{thread}, *workload, {ExecutionId{execution}, 0, 0}, from, from + ns(length / 4));
    now[thread] += length + gap;
  }
  const auto& spans = timeline.spans();
  EXPECT_LE(spans.size(), 200U);
  EXPECT_GT(spans.size(), 2U);
  const Timeline::Span* work = nullptr;
  for (const Timeline::Span& span : spans) {
    EXPECT_GE(span.to - span.from, timeline.least());
    if (span.doing == ThreadActivity::page_work) {
      ASSERT_NE(work, nullptr);
      EXPECT_TRUE(work->thread == span.thread && work->from <= span.from && span.to <= work->to);
      continue;
    }
    if (work != nullptr && work->thread == span.thread) { EXPECT_LE(work->to, span.from); }
    work = &span;
  }
}

}  // namespace
}  // namespace homenode
