// Placements by page: what the rules say for machines and programs made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/distribution/register.hpp"
#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"
#include "models/run/pilot.hpp"
#include "models/run/placement_pass.hpp"
#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t page = 4096;

std::vector<std::uint32_t> homes(PagePlacement& placement, ObjectId object, std::uint64_t pages, std::int64_t phase = 0) {
  std::vector<PageFault> faults;
  for (std::uint64_t p = 0; p < pages; ++p)
    faults.push_back(
        {PageNumber{1000 + p}, object, {ThreadId{0}, CoreId{0}, NodeId{0}, {}}, true, static_cast<std::int64_t>(p * page) - phase, page});
  std::vector<NodeId> nodes(pages, NodeId::none());
  placement.fault(faults, nodes);
  std::vector<std::uint32_t> result;
  for (const NodeId node : nodes) result.push_back(node.value());
  return result;
}

AccessSummary summary_of(const Workload& workload, const Machine& machine, unsigned threads, const std::string& distribution = "static") {
  RunSpec spec;
  spec.threads = threads;
  spec.mapping = "scatter";
  return pilot_summary({.workload = workload, .machine = machine, .spec = spec, .extras = {}, .make_distribution = [&](const std::string&) {
                          return work_distributions().make(distribution);
                        }});
}

std::string usage_error(const std::string& placement, const Machine& machine) {
  try {
    page_placements().make(placement)->prepare(nullptr, machine);
  } catch (const UsageError& error) { return error.what(); }
  return "nothing was thrown";
}

TEST(WeightedInterleave, goesRoundByItsWeights) {
  const auto placement = page_placements().make("weighted-interleave:weights=2:1");
  placement->prepare(nullptr, two_sockets());
  // Pages 1000, 1001, ... by page mod (2 + 1): 1000 mod 3 = 1.
  EXPECT_THAT(homes(*placement, ObjectId{0}, 6), ElementsAre(0, 1, 0, 0, 1, 0));
}

TEST(WeightedInterleave, weighsByBandwidthUnlessTold) {
  Machine machine = two_sockets();
  machine.controllers[0].read_only = Bandwidth::bytes_per_second(48e9);
  const auto placement = page_placements().make("weighted-interleave");
  placement->prepare(nullptr, machine);
  // floor(32 x 48 / 72) = 21 and floor(32 x 24 / 72) = 10 have no common divisor: 31 pages a round, of which 10 to node 1.
  const std::vector<std::uint32_t> round = homes(*placement, ObjectId{0}, 31);
  EXPECT_EQ(std::count(round.begin(), round.end(), 1u), 10);
  machine = two_sockets();
  placement->prepare(nullptr, machine);
  EXPECT_THAT(homes(*placement, ObjectId{0}, 4), ElementsAre(0, 1, 0, 1));  // 16 and 16 are 1 and 1
}

TEST(WeightedInterleave, hasTheWeightsOfTheSystemsKernel) {
  Machine machine = two_sockets();
  machine.controllers[0].read_only = Bandwidth::bytes_per_second(72e9);  // 24 and 8 of 32: 3 and 1
  const auto homes_on = [&](unsigned kernel) {
    OperatingSystem system;
    system.balancing.kernel = kernel;
    const auto placement = page_placements().make("weighted-interleave");
    placement->run_on(system);
    placement->prepare(nullptr, machine);
    return homes(*placement, ObjectId{0}, 4);
  };
  EXPECT_THAT(homes_on(612), ElementsAre(0, 1, 0, 1));  // all 1 until Linux 6.16
  for (const unsigned kernel : {0u, 601u, 616u}) EXPECT_THAT(homes_on(kernel), ElementsAre(0, 0, 0, 1)) << kernel;
}

TEST(WeightedInterleave, refusesWhatDoesNotFitTheMachine) {
  EXPECT_THAT(usage_error("weighted-interleave:2:1:1", two_sockets()), HasSubstr("has 3 weights; machine 'two-sockets' has 2 nodes"));
  EXPECT_THAT(usage_error("weighted-interleave:2:0", two_sockets()), HasSubstr("is not a list, with colons, of integers of at least 1"));
  EXPECT_THAT(usage_error("weighted-interleave:2:", two_sockets()), HasSubstr("weights = '2:'"));
}

TEST(Preferred, goesOnToTheNearestNodeWithRoom) {
  Machine machine = four_socket_square();  // from node 1: node 1, then 0 and 3 (one hop), then 2
  for (NodeDescription& node : machine.nodes) node.memory = Bytes{2 * page};
  const auto placement = page_placements().make("preferred:1");
  placement->prepare(nullptr, machine);
  EXPECT_THAT(homes(*placement, ObjectId{0}, 7), ElementsAre(1, 1, 0, 0, 3, 3, 2));
  EXPECT_THAT(usage_error("preferred:4", machine), HasSubstr("has nodes 0 to 3"));
}

TEST(PreferredMany, fillsTheNodesNearestToTheToucherFirst) {
  Machine machine = four_socket_square();  // from node 0: 1 and 2 (one hop), then 3
  for (NodeDescription& node : machine.nodes) node.memory = Bytes{2 * page};
  const auto placement = page_placements().make("preferred-many:3:1");
  placement->prepare(nullptr, machine);
  // Behind the two: the toucher's node, of which the run takes the nearest with room.
  EXPECT_THAT(homes(*placement, ObjectId{0}, 7), ElementsAre(1, 1, 3, 3, 0, 0, 0));
  EXPECT_THAT(usage_error("preferred-many:0:4", machine), HasSubstr("prefers node 4; machine 'four-socket-square' has nodes 0 to 3"));
}

// Four threads on four sockets, 4 pages of a and b each; a and b have a page of border at both ends. The master initialises all.
struct Stencil {
  ObjectId a, b, table;
  std::shared_ptr<Workload> workload;
};
Stencil stencil_1d() {
  WorkloadBuilder builder;
  Stencil s;
  s.a = builder.object("a", 18 * page, ObjectKind::mapped);
  s.b = builder.object("b", 18 * page, ObjectKind::mapped);
  s.table = builder.object("table", 8 * page, ObjectKind::mapped);
  const RegionId init = builder.serial("init");
  builder.nest(init, {18 * 512}, {write(s.a, 0, {8}), write(s.b, 0, {8})});
  builder.nest(init, {8 * 512}, {write(s.table, 0, {8})});
  builder.repeat(init);
  const RegionId sweep = builder.loop("sweep", 16);
  const auto step = static_cast<std::int64_t>(page);
  builder.nest(sweep, {512},
               {read(s.a, step - 8, {8}, step), read(s.a, step, {8}, step), read(s.a, step + 8, {8}, step), write(s.b, step, {8}, step)});
  builder.nest(sweep, {8 * 512}, {read(s.table, 0, {8})});
  builder.repeat(sweep, 4);
  s.workload = builder.build();
  return s;
}

TEST(StencilAware, pagesGoToTheThreadsThatUseThemMost) {
  const Stencil s = stencil_1d();
  const Machine machine = four_socket_square();
  const AccessSummary summary = summary_of(*s.workload, machine, 4);
  const auto placement = page_placements().make("stencil-aware");
  ASSERT_TRUE(placement->wants_summary());
  placement->prepare(&summary, machine);
  // Thread t has pages 1 + 4t to 4 + 4t; of its neighbours' pages it reads 8 bytes. The borders are the master's.
  EXPECT_THAT(homes(*placement, s.a, 18), ElementsAre(0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0));
  EXPECT_THAT(homes(*placement, s.b, 18), ElementsAre(0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0));
  // All four read the whole table: page 1000 + p on node (1000 + p) mod 4.
  EXPECT_THAT(homes(*placement, s.table, 8), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  // The same objects at other addresses: 16 bytes into a page.
  EXPECT_THAT(homes(*placement, s.a, 18, 16), ElementsAre(0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 0));
}

TEST(StencilAware, interleavesHugePagesByTheirOwnNumbers) {
  const Stencil s = stencil_1d();
  const Machine machine = four_socket_square();
  const AccessSummary summary = summary_of(*s.workload, machine, 4);
  const auto placement = page_placements().make("stencil-aware");
  placement->prepare(&summary, machine);
  // Huge pages 7, 8, 9 and 10 of 512 pages each, all of them of the table: nodes 7 mod 4 = 3, 0, 1, 2.
  std::vector<PageFault> faults;
  for (std::uint64_t huge = 7; huge < 11; ++huge)
    faults.push_back({PageNumber{512 * huge}, s.table, {ThreadId{0}, CoreId{0}, NodeId{0}, {}}, true, 0, 512 * page, 512});
  std::vector<NodeId> nodes(faults.size(), NodeId::none());
  placement->fault(faults, nodes);
  EXPECT_THAT(nodes, ElementsAre(NodeId{3}, NodeId{0}, NodeId{1}, NodeId{2}));
}

TEST(StencilAware, interleavesUpToAQuarterAboveAnEqualShare) {
  // Two nodes. 5 : 3 is 5 / 8 of the bytes, 1.25 times a half: pages 1000 and 1001 go by their numbers. 17 : 10 is 1.26 times a half.
  const Machine machine = two_sockets();
  AccessSummary summary;
  summary.node = {NodeId{0}, NodeId{1}};
  summary.objects[ObjectId{0}].pages = {{0, 2, {{ThreadId{0}, 5, 0}, {ThreadId{1}, 0, 3}}},
                                        {2, 4, {{ThreadId{0}, 0, 17}, {ThreadId{1}, 10, 0}}}};
  const auto placement = page_placements().make("stencil-aware");
  placement->prepare(&summary, machine);
  EXPECT_THAT(homes(*placement, ObjectId{0}, 4), ElementsAre(0, 1, 0, 0));
}

TEST(StencilAware, hasPagesTouchedByWhoeverUsesThemMostOnTheirNode) {
  // Node 0 has threads 0, 1 and 2 with 3, 5 and 4 bytes, node 1 thread 3 with 6: 12 > 6, and of node 0 thread 1 uses most.
  AccessSummary summary;
  summary.node = {NodeId{0}, NodeId{0}, NodeId{0}, NodeId{1}};
  ObjectUse& use = summary.objects[ObjectId{0}];
  use.at_start = true;
  use.pages = {{0, 2, {{ThreadId{0}, 3, 0}, {ThreadId{1}, 1, 4}, {ThreadId{2}, 4, 0}, {ThreadId{3}, 6, 0}}}};
  const auto placement = page_placements().make("stencil-aware");
  placement->prepare(&summary, two_sockets());
  const std::vector<TouchedPages> touched = placement->touched_first();
  ASSERT_EQ(touched.size(), 1u);
  EXPECT_EQ(touched[0].thread, ThreadId{1});
  EXPECT_EQ(touched[0].last, 2u);
}

TEST(StencilAware, doesNotHangOnItsThreshold) {
  const Stencil s = stencil_1d();
  const Machine machine = four_socket_square();
  const AccessSummary summary = summary_of(*s.workload, machine, 4);
  const auto usual = page_placements().make("stencil-aware");
  usual->prepare(&summary, machine);
  // The table's largest user, the master, has (1 + 16) / (1 + 64) of its bytes: 1.05 x a quarter. A page of a has one user: 4 x it.
  for (const char* text : {"stencil-aware:10", "stencil-aware:evenness=50", "stencil-aware:200"}) {
    const auto placement = page_placements().make(text);
    placement->prepare(&summary, machine);
    for (const ObjectId object : {s.a, s.b, s.table}) EXPECT_EQ(homes(*placement, object, 8), homes(*usual, object, 8)) << text;
  }
  const auto never = page_placements().make("stencil-aware:0");
  never->prepare(&summary, machine);
  EXPECT_THAT(homes(*never, s.table, 4), ElementsAre(0, 0, 0, 0));
}

TEST(StencilAware, usesTheScheduleOfTheRun) {
  const Stencil s = stencil_1d();
  const Machine machine = four_socket_square();
  const AccessSummary summary = summary_of(*s.workload, machine, 4, "static:1");
  const auto placement = page_placements().make("stencil-aware");
  placement->prepare(&summary, machine);
  // Iteration i goes to thread i mod 4 and has page i + 1.
  EXPECT_THAT(homes(*placement, s.b, 9), ElementsAre(0, 0, 1, 2, 3, 0, 1, 2, 3));
}

TEST(PlacementPass, touchesEveryPageOnceByItsUsers) {
  const Stencil s = stencil_1d();
  const Machine machine = four_socket_square();
  const AccessSummary summary = summary_of(*s.workload, machine, 4);
  const auto placement = page_placements().make("stencil-aware");
  placement->prepare(&summary, machine);
  const auto pass = placement_pass(*s.workload, summary, placement->touched_first(), 4);
  ASSERT_NE(pass, nullptr);
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> toucher;
  const auto body = pass->body(ExecutionId{0});
  for (std::size_t t = 0; t < 4; ++t) {
    const ItemBlock& block = body->blocks[t];
    for (const AccessRun& run : pass->patterns[block.pattern.index()].runs)
      for (std::uint32_t i = 0; i < run.dimension[0].count; ++i) {
        const std::int64_t at = (run.offset + i * run.dimension[0].stride) / static_cast<std::int64_t>(page);
        EXPECT_TRUE(toucher.emplace(std::pair{block.slots[run.slot].object.value(), at}, t).second) << "touched twice";
      }
  }
  EXPECT_EQ(toucher.size(), 18u + 18 + 8);
  EXPECT_EQ((toucher.at({s.a.value(), 6})), 1u);
  EXPECT_EQ((toucher.at({s.table.value(), 6})), 2u);  // in turn
  EXPECT_EQ(pass->executions.front().accesses, 44u);
}

TEST(PlacementPass, isPartOfTheTimeAndARegionOfItsOwn) {
  const Stencil s = stencil_1d();
  const Machine machine = four_socket_square();
  RunSpec options;
  options.threads = 4;
  options.mapping = "scatter";
  options.placement = "stencil-aware";
  const RunReport report = run(*s.workload, machine, options);
  ASSERT_EQ(report.regions.front().label, placement_pass_label);
  // The busiest thread faults in at least 44 pages / 4 at 500 ns; all regions follow each other.
  EXPECT_GE(report.regions.front().time, Time::nanoseconds(11 * 500));
  Time sum;
  for (const RegionReport& region : report.regions) sum += region.time;
  EXPECT_LE(sum, report.time);
  EXPECT_EQ(report.page_faults, 44u);
  // Pages by node: a and b 4 + 2 borders on node 0, else 4; table 2 each.
  EXPECT_THAT(report.pages_by_node, ElementsAre(2 * 6 + 2, 2 * 4 + 2, 2 * 4 + 2, 2 * 4 + 2));
  for (const ThreadReport& thread : report.threads) EXPECT_EQ(thread.busy + thread.idle, report.time);
  options.placement = "first-touch";
  const RunReport first_touch = run(*s.workload, machine, options);
  EXPECT_EQ(first_touch.regions.front().label, "init");
  // Everything on node 0 otherwise: the sweeps are slower.
  EXPECT_GT(first_touch.regions.back().time, report.regions.back().time);
}

// Of a pass by hand: each count of the whole is the sum of both.
TEST(PlacementPass, countsAreAddedToTheProgramsOwn) {
  const auto counted = [](std::uint64_t each) {
    RunReport report;
    EventCounts& counts = report.counts;
    counts.memory_lines = each;
    counts.transfer_lines = 10 * each;
    counts.upgrade_lines = 100 * each;
    counts.tlb_misses = 1000 * each;
    counts.zeroed_bytes = 10000 * each;
    counts.latency_ns["local"][100] = each;
    return report;
  };
  RunReport program = counted(7);
  put_in_front(counted(2), program);
  EXPECT_EQ(program.counts.memory_lines, 7u + 2);
  EXPECT_EQ(program.counts.transfer_lines, 10u * (7 + 2));
  EXPECT_EQ(program.counts.upgrade_lines, 100u * (7 + 2));
  EXPECT_EQ(program.counts.tlb_misses, 1000u * (7 + 2));
  EXPECT_EQ(program.counts.zeroed_bytes, 10000u * (7 + 2));
  EXPECT_EQ(program.counts.latency_ns.at("local").at(100), 7u + 2);
}

// An object that a team's code allocates cannot be touched before the program.
TEST(PlacementPass, leavesOutWhatIsAllocatedLater) {
  WorkloadBuilder builder;
  const ObjectId early = builder.object("early", 64 * page), late = builder.object("late", 64 * page);
  const RegionId start = builder.serial("start"), between = builder.serial("between");
  builder.heap(start, HeapOperation::allocate, early);
  builder.repeat(start);
  const RegionId first = builder.loop("first", 64), second = builder.loop("second", 64);
  builder.nest(first, {512}, {write(early, 0, {8}, page)});
  builder.repeat(first);
  builder.heap(between, HeapOperation::allocate, late);
  builder.repeat(between);
  builder.nest(second, {512}, {write(late, 0, {8}, page)});
  builder.repeat(second);
  const auto workload = builder.build();
  const AccessSummary summary = summary_of(*workload, two_sockets(), 4);
  EXPECT_TRUE(summary.objects.at(early).at_start);
  EXPECT_FALSE(summary.objects.at(late).at_start);
  EXPECT_EQ(summary.objects.at(early).phase, 64u);  // the builder aligns objects to lines
}

}  // namespace
}  // namespace homenode::test
