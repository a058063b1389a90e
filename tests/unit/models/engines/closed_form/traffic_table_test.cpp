// The traffic of a sample of the lines against that of all.
#include "models/engines/closed_form/traffic_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t iterations = 64, pages = 1024, page = 4096, lines_of_page = page / 64;

// Iteration i writes a word in line i of each of its 16 pages, reads 1024 lines of the whole array in no order, and twice a row of its own.
std::shared_ptr<Workload> scattered_program() {
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", pages * page, ObjectKind::mapped);
  const RegionId touch = builder.loop("touch", iterations), gather = builder.loop("gather", iterations);
  constexpr std::int64_t own = pages / iterations * page;
  builder.nest(touch, {pages / iterations}, {write(array, 0, {page}, own + 64)});
  std::vector<std::int64_t> order(pages * lines_of_page);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937{7});  // an order by a formula may always meet the same lines of a page
  for (std::int64_t i = 0; i < iterations; ++i) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t k = 0; k < 1024; ++k) offsets.push_back(64 * order[static_cast<std::size_t>(i * 1024 + k)]);
    builder.stream(gather, AccessKind::read, array, offsets);
    builder.nest(gather, {2048, 2}, {read(array, i * own, {8, 0})});
    builder.next_block(gather, i + 1);
  }
  builder.repeat(touch);
  builder.repeat(gather, 2);
  return builder.build();
}

struct Sums {
  double lines = 0, of_earlier_executions = 0, distance = 0, hits = 0;
};

Sums sums_of(const RegionTraffic& traffic) {
  Sums sums;
  for (const TrafficPart& part : traffic.parts) {
    const double lines = part.count * part.share;
    sums.lines += lines;
    if (part.past.loop == no_loop) continue;
    sums.of_earlier_executions += lines;
    sums.distance += lines * static_cast<double>(part.past.tail + part.past.since);
  }
  for (const double hits : traffic.hit_lines) sums.hits += hits;
  return sums;
}

TEST(TrafficTable, ofASampleHasTheTrafficOfAllLines) {
  const auto program = scattered_program();
  const Machine machine = two_sockets(4);
  const TrafficTable all{*program, machine, StoreTreatment::regular, Bytes{page}};
  const TrafficTable sample{*program, machine, StoreTreatment::regular, Bytes{page}, nullptr, 8};
  for (const std::size_t execution : {1U, 2U}) {
    const Sums whole = sums_of(all.traffic(ExecutionId{execution})), some = sums_of(sample.traffic(ExecutionId{execution}));
    EXPECT_GT(whole.hits, 64 * 256);  // the second pass over each row
    EXPECT_NEAR(some.hits, whole.hits, 0.02 * whole.hits);
    EXPECT_NEAR(some.lines, whole.lines, 0.02 * whole.lines);
    EXPECT_NEAR(some.of_earlier_executions, whole.of_earlier_executions, 0.02 * whole.of_earlier_executions + 64);
    // Distances are spread evenly up to their largest: a mean of n is known to 0.58 / sqrt(n).
    EXPECT_NEAR(some.distance, whole.distance, 3 * 0.58 / std::sqrt(whole.of_earlier_executions / 8) * whole.distance);
  }
  const Sums whole = sums_of(all.traffic(ExecutionId{2}));
  EXPECT_GT(whole.of_earlier_executions, 0.9 * pages * lines_of_page);
  EXPECT_GT(whole.distance / whole.of_earlier_executions, 0.4 * pages * lines_of_page);
}

TEST(TrafficTable, saysWhereASampleMeetsTheSameLinesOfEveryPage) {
  const auto program = scattered_program();
  const Machine machine = two_sockets(4);
  const auto error_of = [&](const Workload& workload, unsigned one_in) {
    return TrafficTable{workload, machine, StoreTreatment::regular, Bytes{page}, nullptr, one_in}.sampling_error();
  };
  EXPECT_EQ(error_of(*program, 1), 0);
  EXPECT_LT(error_of(*program, 8), 0.05);  // of few lines
  // One line of each record of 2 KiB, in no order: of a page two lines, which all are followed or none.
  WorkloadBuilder builder;
  const ObjectId records = builder.object("records", 4 * pages * page, ObjectKind::mapped);
  const RegionId gather = builder.loop("gather", iterations);
  std::vector<std::int64_t> order(8 * pages);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937{7});
  for (std::int64_t i = 0; i < iterations; ++i) {
    std::vector<std::int64_t> offsets;
    for (std::int64_t k = 0; k < 128; ++k) offsets.push_back(2048 * order[static_cast<std::size_t>(i * 128 + k)]);
    builder.stream(gather, AccessKind::read, records, offsets);
    builder.next_block(gather, i + 1);
  }
  builder.repeat(gather);
  EXPECT_GE(error_of(*builder.build(), 8), 1);
}

TEST(TrafficTable, ofASampleHasAllPagesThatAreWrittenFirst) {
  // Also those of which no followed line is written.
  const auto program = scattered_program();
  const TrafficTable sample{*program, two_sockets(4), StoreTreatment::regular, Bytes{page}, nullptr, 16};
  const RegionTraffic& touch = sample.traffic(ExecutionId{0});
  ASSERT_EQ(touch.fresh_pages.size(), static_cast<std::size_t>(pages));
  for (std::size_t i = 0; i < touch.fresh_pages.size(); ++i) EXPECT_EQ(touch.fresh_pages[i].first_cell, i / (pages / iterations));
  EXPECT_GE(sample.pages(), static_cast<std::uint64_t>(pages));
}

// 1024 reads an iteration whose loads the core waits for, and rows that prefetchers fetch: hits in private caches and lines from elsewhere.
TEST(TrafficTable, saysWhichLinesTheCoreWaitsFor) {
  const auto program = scattered_program();
  const Machine machine = two_sockets(4);
  CodeCycles cycles;
  cycles.waited = std::make_shared<const WaitedLoads>(program->sites.size(), std::uint8_t{51});
  const auto code = std::make_shared<const CodeCycles>(cycles);
  const TrafficTable table{*program, machine, StoreTreatment::regular, Bytes{page}, code};
  const RegionTraffic& gather = table.traffic(ExecutionId{1});
  double waited = 0, of_streams = 0, hits = 0, all_hits = 0;
  for (const TrafficPart& part : gather.parts)
    (part.parallelism > static_cast<float>(machine.miss_buffers) ? of_streams : waited) += part.count * part.share * part.waited / 255;
  for (std::size_t i = 0; i < gather.hit_waited.size(); ++i) hits += gather.hit_waited[i], all_hits += gather.hit_lines[i];
  EXPECT_EQ(of_streams, 0);
  EXPECT_NEAR(waited + hits, 0.2 * iterations * 1024, 0.01 * iterations * 1024);
  EXPECT_LT(hits, 0.2 * all_hits);  // the second pass over each row is a stream
}

TEST(TrafficTable, findsThePageOfAFollowedLine) {
  const auto program = scattered_program();
  const Machine machine = two_sockets(4);
  for (const unsigned one_in : {1U, 8U}) {
    const TrafficTable table{*program, machine, StoreTreatment::regular, Bytes{page}, nullptr, one_in};
    double lines = 0;
    for (const TrafficPart& part : table.traffic(ExecutionId{2}).parts)
      for (const LineRange& range : part.ranges) {
        EXPECT_LT(table.page_of(range.last - 1).value(), table.pages());
        EXPECT_LE(table.first_line(table.page_of(range.first)), range.first);
        lines += static_cast<double>(range.size() * table.one_in());
      }
    EXPECT_GT(lines, 0);
  }
}

}  // namespace
}  // namespace homenode::test
