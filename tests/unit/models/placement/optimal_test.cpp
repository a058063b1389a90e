// The lower bound of `optimal`, against every placement of every page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t page = 4096;

// Page p of the program, in the order of first touch by address, on the node of digit p of `number`.
class Enumerated final : public PagePlacement {
public:
  Enumerated(std::uint64_t number, std::size_t nodes) : number_{number}, nodes_{nodes} {}
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      const auto place = known_.emplace(faults[i].page, known_.size()).first;
      std::uint64_t digit = number_;
      for (std::size_t p = 0; p < place->second; ++p) digit /= nodes_;
      home[i] = NodeId{digit % nodes_};
    }
  }

private:
  std::uint64_t number_;
  std::size_t nodes_;
  std::map<PageNumber, std::size_t> known_;
};

RunSpec scattered(unsigned threads, std::string placement) {
  RunSpec options;
  options.threads = threads;
  options.mapping = "scatter";
  options.placement = std::move(placement);
  return options;
}

TEST(Optimal, isNotAboveAnyPlacementOfSmallPrograms) {
  std::mt19937_64 random{11};
  const auto pick = [&](std::int64_t from, std::int64_t to) { return std::uniform_int_distribution<std::int64_t>{from, to}(random); };
  for (int trial = 0; trial < 20; ++trial) {
    const bool two = trial % 2 == 0;
    const Machine machine = two ? two_sockets(2) : four_socket_square(2);
    const std::size_t nodes = machine.nodes.size(), pages = two ? 6 : 3;
    const auto threads = static_cast<unsigned>(pick(1, 4));
    WorkloadBuilder builder;
    const ObjectId a = builder.object("a", pages * page, ObjectKind::mapped);
    if (pick(0, 1) == 0) {
      const RegionId init = builder.serial("init");
      builder.nest(init, {static_cast<std::uint32_t>(pages * 512)}, {write(a, 0, {8})});
      builder.repeat(init);
    }
    for (int region = 0; region < 2; ++region) {
      const std::int64_t whole = static_cast<std::int64_t>(pages);
      const RegionId loop = builder.loop("loop" + std::to_string(region), whole);
      const Reference used = pick(0, 1) == 0 ? read(a, 0, {8}, page) : write(a, 0, {8}, page);
      builder.nest(loop, {512}, {used});
      if (pick(0, 1) == 0) builder.nest(loop, {static_cast<std::uint32_t>(64 * pages)}, {read(a, 0, {64})});  // and all of it
      WorkCounts work;
      work.instructions = static_cast<double>(pick(0, 20'000));
      builder.work(loop, work);
      builder.repeat(loop, static_cast<unsigned>(pick(1, 3)));
    }
    const auto workload = builder.build();
    const RunReport optimal = run(*workload, machine, scattered(threads, "optimal"));
    const Time bound = optimal.time;
    EXPECT_GT(bound, Time{});
    ASSERT_TRUE(optimal.best && optimal.best->searched);
    EXPECT_TRUE(optimal.best->exact) << "trial " << trial;
    EXPECT_LE(optimal.best->pages, pages);  // those that caches do not keep
    EXPECT_EQ(optimal.best->bound, bound);
    std::uint64_t placements = 1;
    for (std::size_t p = 0; p < pages; ++p) placements *= nodes;
    Time best = Time::max();
    for (std::uint64_t number = 0; number < placements; ++number) {
      RunSpec options = scattered(threads, "enumerated");
      RunExtras extras;
      extras.own_placement = std::make_shared<Enumerated>(number, nodes);
      const RunReport report = run(*workload, machine, options, extras);
      ASSERT_TRUE(report.lower_bound.has_value());
      EXPECT_LE(*report.lower_bound, report.time);
      best = std::min(best, report.time);
    }
    EXPECT_LE(bound, best) << "trial " << trial;
    // The objective leaves out page faults and latency under load; what was found is one of these placements.
    EXPECT_LE(optimal.best->objective, best) << "trial " << trial;
    EXPECT_GE(optimal.best->found, best) << "trial " << trial;
  }
}

// Each thread writes and reads pages of its own: first touch is the best there is. T = fork and barrier of each region + (core time of
// all iterations, which hides memory, + all page faults) / threads: every thread has the same work and one fault.
TEST(Optimal, isTightWhereEveryThreadHasItsOwnPages) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 4 * page, ObjectKind::mapped);
  for (const char* label : {"write", "read"}) {
    const RegionId loop = builder.loop(label, 4);
    builder.nest(loop, {512}, {label[0] == 'w' ? write(a, 0, {8}, page) : read(a, 0, {8}, page)});
    WorkCounts work;
    work.instructions = 4e6;
    builder.work(loop, work);
    builder.repeat(loop);
  }
  const auto workload = builder.build();
  const Machine machine = four_socket_square();
  const RunReport first_touch = run(*workload, machine, scattered(4, "first-touch"));
  const RunReport optimal = run(*workload, machine, scattered(4, "optimal"));
  EXPECT_EQ(optimal.time, first_touch.time);
  Time sum;
  for (const RegionReport& region : optimal.regions) sum += region.time;
  EXPECT_LE(sum, optimal.time);
  for (const ThreadReport& thread : optimal.threads) EXPECT_EQ(thread.busy + thread.idle, optimal.time);
}

// One core reads 64 MiB that no cache keeps: its own controller brings 24 GB/s, and the two links into its socket 12 GB/s each, of which
// 64 of 72 bytes are data: T >= 64 MiB / (24 + 2 x 12 x 64 / 72) GB/s.
TEST(Optimal, countsWhatControllersAndLinksOfASocketCanBring) {
  Machine machine = four_socket_square(1);
  machine.prefetched_lines = 1000;  // latency does not count
  WorkloadBuilder builder;
  const std::int64_t bytes = std::int64_t{64} << 20;
  const ObjectId a = builder.object("a", static_cast<std::uint64_t>(bytes), ObjectKind::mapped);
  const RegionId init = builder.serial("init"), read_all = builder.serial("read");
  builder.nest(init, {static_cast<std::uint32_t>(bytes / 64)}, {write(a, 0, {64})});
  builder.nest(read_all, {static_cast<std::uint32_t>(bytes / 64)}, {read(a, 0, {64})});
  builder.repeat(init);
  builder.repeat(read_all);
  const auto workload = builder.build();
  const RunReport report = run(*workload, machine, scattered(1, "optimal"));
  const double least = static_cast<double>(bytes) / (24e9 + 2 * 12e9 * 64 / 72);
  ASSERT_EQ(report.regions.back().label, "read");
  EXPECT_GE(report.regions.back().time.seconds(), least * (1 - 1e-6));
  EXPECT_LE(report.regions.back().time.seconds(), least * 1.1);  // the 8 MiB that the cache still had to write back
  EXPECT_LE(report.time, run(*workload, machine, scattered(1, "interleave")).time);
}

}  // namespace
}  // namespace homenode::test
