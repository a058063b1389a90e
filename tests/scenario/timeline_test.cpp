// The timeline of whole runs: it changes no result, its spans are the threads' busy times, and the use of a resource over time is what
// went through it.
#include <gtest/gtest.h>

#include <numeric>

#include "models/engines/parts/controller_costs.hpp"
#include "models/run/run.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

RunExtras with_timeline(std::size_t events = 100'000) {
  RunExtras extras;
  extras.timeline_events = events;
  return extras;
}

RunSpec options_of(const std::string& engine, const std::string& distribution = "static") {
  RunSpec options;
  options.engine = engine;
  options.threads = 8;
  options.placement = "interleave";
  options.distribution = distribution;
  options.caches = "lines";
  return options;
}

class TimelineOfRun : public testing::TestWithParam<const char*> {};

TEST_P(TimelineOfRun, changesNoResult) {
  RunSpec options = options_of(GetParam());
  const auto workload = jacobi2d(256, 2);
  const RunReport with = accounted_run(*workload, two_sockets(), options, with_timeline());
  const RunReport without = accounted_run(*workload, two_sockets(), options);
  EXPECT_EQ(with.time, without.time);
  EXPECT_EQ(with.counts.latency_ns, without.counts.latency_ns);
  EXPECT_EQ(without.timeline, nullptr);
}

TEST_P(TimelineOfRun, everyRunHasItsOverview) {
  // Of a region: seconds by interval together = busy seconds of all threads. Of a resource: those of the timeline with many intervals.
  const auto workload = jacobi2d(256, 2);
  const Machine machine = two_sockets();
  const RunReport with = accounted_run(*workload, machine, options_of(GetParam()), with_timeline());
  const RunReport without = accounted_run(*workload, machine, options_of(GetParam()));
  const auto values = [](const RunReport& report) {
    std::vector<std::vector<double>> all;
    for (const auto* rows : {&report.over_time.resources, &report.over_time.regions})
      for (const RunOverTime::Row& row : *rows) all.push_back(row.seconds);
    return all;
  };
  EXPECT_EQ(with.over_time.interval, without.over_time.interval);
  EXPECT_EQ(values(with), values(without));
  ASSERT_EQ(without.over_time.regions.size(), without.regions.size());
  for (std::size_t region = 0; region < without.regions.size(); ++region) {
    Time busy;
    for (const Time time : without.regions[region].busy) busy += time;
    EXPECT_EQ(without.over_time.regions[region].name, without.regions[region].label);
    EXPECT_NEAR(sum(without.over_time.regions[region].seconds), busy.seconds(), 1e-9 * busy.seconds());
    EXPECT_LE(without.over_time.regions[region].seconds.size(), 64U);
  }
  std::size_t used = 0;
  for (std::size_t resource = 0; resource < with.timeline->resources().size(); ++resource) {
    const double seconds = sum(with.timeline->use().of(resource));
    if (seconds == 0) continue;
    ASSERT_LT(used, without.over_time.resources.size());
    EXPECT_EQ(without.over_time.resources[used].name, with.timeline->resources()[resource]);
    EXPECT_NEAR(sum(without.over_time.resources[used++].seconds), seconds, 1e-9 * seconds);
  }
  EXPECT_EQ(used, without.over_time.resources.size());
  EXPECT_GT(used, 0U);
}

TEST_P(TimelineOfRun, linksAreInUseForTheirBytes) {
  // Seconds in use = bytes / bandwidth; a message's time on a link is in whole picoseconds, 8 bytes take 667 of them.
  const Machine machine = two_sockets();
  const RunReport report = accounted_run(*jacobi2d(512, 2), machine, options_of(GetParam()), with_timeline());
  const Timeline& timeline = *report.timeline;
  for (std::size_t link = 0; link < 2; ++link) {
    const std::size_t resource = machine.controllers.size() + link;
    const double bytes = sum(timeline.use().of(resource)) * timeline.bandwidths()[resource];
    EXPECT_GT(report.counts.link_bytes[link], 0U);
    EXPECT_NEAR(bytes, static_cast<double>(report.counts.link_bytes[link]), 1e-3 * bytes) << timeline.resources()[resource];
  }
}

TEST_P(TimelineOfRun, controllersAreInUseForTheirLines) {
  // reads x their cost <= seconds in use <= reads and writes x theirs; the difference is what was written back behind the end, and in
  // `line` the last batches.
  const Machine machine = two_sockets();
  const RunReport report = accounted_run(*jacobi2d(512, 2), machine, options_of(GetParam()), with_timeline());
  for (std::size_t home = 0; home < 2; ++home) {
    const LineCosts costs = line_costs(machine, home);
    const double reads = static_cast<double>(report.counts.read_bytes[home]) / 64 * costs.read;
    const double all = reads + static_cast<double>(report.counts.write_bytes[home]) / 64 * costs.write;
    const double used = sum(report.timeline->use().of(home));
    EXPECT_GE(used, 0.999 * reads);
    EXPECT_LE(used, 1.001 * all);
  }
}

TEST_P(TimelineOfRun, nothingIsUsedMoreThanWhole) {
  const RunReport report = accounted_run(*jacobi2d(512, 2), two_sockets(), options_of(GetParam()), with_timeline());
  const UseOverTime& use = report.timeline->use();
  for (std::size_t resource = 0; resource < use.resources(); ++resource) {
    // `flow` spreads a slice's use evenly over its time: it may be early or late by a slice.
    const double allowed = std::string{GetParam()} == "flow" ? 1.25 : 1.001;
    for (const double seconds : use.of(resource)) EXPECT_LE(seconds, allowed * use.interval().seconds());
  }
}

TEST_P(TimelineOfRun, workIsBusyTimeAndSpansOfAThreadDoNotOverlap) {
  // Work, runtime and heap calls of a thread: its busy time. With waits they never overlap, and a barrier is waited at.
  for (const char* distribution : {"static", "dynamic:8"}) {
    const RunReport report = accounted_run(*jacobi2d(256, 2), two_sockets(), options_of(GetParam(), distribution), with_timeline());
    std::vector<Time> busy(8), end(8);
    bool waited = false;
    for (const Timeline::Span& span : report.timeline->spans()) {
      const std::size_t thread = span.thread.index();
      if (span.doing == ThreadActivity::page_work) continue;
      EXPECT_GE(span.from, end[thread]);
      end[thread] = span.to;
      EXPECT_LE(span.to, report.time);
      if (span.doing <= ThreadActivity::runtime) busy[thread] += span.to - span.from;
      waited |= span.doing == ThreadActivity::barrier;
    }
    for (std::size_t thread = 0; thread < 8; ++thread) EXPECT_EQ(busy[thread], report.threads[thread].busy) << thread;
    EXPECT_TRUE(waited);
  }
}

TEST_P(TimelineOfRun, showsPagesThatMove) {
  // All pages lie on node 0, and the threads of node 1 ask for half of them.
  RunSpec options = options_of(GetParam());
  options.placement = "bind:0+carrefour:period=100us";
  const RunReport report = accounted_run(*jacobi2d(1024, 8), two_sockets(), options, with_timeline());
  ASSERT_GT(report.migrated_pages, 0U);
  Time moving;
  for (const Timeline::Span& span : report.timeline->spans())
    if (span.doing == ThreadActivity::page_work) moving += span.to - span.from;
  EXPECT_GE(moving, OperatingSystem{}.migration.fixed * static_cast<std::int64_t>(report.migrated_pages));
}

TEST_P(TimelineOfRun, waitsForTasksAndForCores) {
  RunSpec options = options_of(GetParam(), "tasks");
  options.threads = 4;
  options.oversubscribe = true;
  options.mapping = "cores:0:0:1:1";
  const RunReport report = accounted_run(*tasks(64), two_sockets(), options, with_timeline());
  std::vector<Time> end(4);
  std::size_t for_core = 0;
  for (const Timeline::Span& span : report.timeline->spans()) {
    EXPECT_GE(span.from, end[span.thread.index()]);
    end[span.thread.index()] = span.to;
    for_core += span.doing == ThreadActivity::core;
  }
  EXPECT_GT(for_core, 0U);
}

INSTANTIATE_TEST_SUITE_P(Engines, TimelineOfRun, testing::Values("flow", "line"));

TEST(OverviewOfABound, isEmpty) {
  RunSpec options = options_of("flow");
  options.placement = "optimal";
  const RunReport report = run(*jacobi2d(256, 2), two_sockets(), options);
  EXPECT_TRUE(report.over_time.resources.empty() && report.over_time.regions.empty());
}

TEST(TimelineOfPass, comesBeforeTheProgram) {
  // stencil-aware's initialisation pass is a program of its own, in front.
  RunSpec options = options_of("flow");
  options.placement = "stencil-aware";
  const RunReport report = accounted_run(*jacobi2d(256, 2), two_sockets(), options, with_timeline());
  const auto& spans = report.timeline->spans();
  ASSERT_FALSE(spans.empty());
  EXPECT_EQ(report.timeline->labels()[spans.front().label], "placement pass");
  EXPECT_EQ(report.regions.front().label, "placement pass");
  EXPECT_EQ(report.over_time.regions.front().name, "placement pass");
  EXPECT_GT(report.over_time.regions.front().seconds.front(), 0);
  Time busy;
  for (const Timeline::Span& span : spans)
    if (span.thread == ThreadId{0} && span.doing <= ThreadActivity::runtime && span.doing != ThreadActivity::page_work)
      busy += span.to - span.from;
  EXPECT_EQ(busy, report.threads[0].busy);
}

TEST(TimelineOfBound, isRefused) {
  RunSpec options = options_of("flow");
  options.placement = "optimal";
  EXPECT_THROW(accounted_run(*jacobi2d(128, 1), two_sockets(), options, with_timeline()), UsageError);
  options.placement = "first-touch";
  EXPECT_THROW(accounted_run(*jacobi2d(128, 1), two_sockets(), options, with_timeline(3)), UsageError);
}

}  // namespace
}  // namespace homenode::test
