// Who feeds whom, byte by byte.
#include "sim/thread_graph.hpp"

#include <gtest/gtest.h>

#include "sim/errors.hpp"
#include "sim/workload_builder.hpp"

namespace homenode {
namespace {

const ThreadId zero{0u}, one{1u}, two{2u};

TEST(ThreadGraph, NeighboursOfAStencilShareTheirBorders) {
  // Rows of n doubles; thread t of 2 updates rows 1..4 and 5..8 of b from a, then of a from b.
  const std::int64_t n = 10, row = n * 8;
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 100 * 8), b = builder.object("b", 100 * 8);
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, a}}) {
    const RegionId sweep = builder.loop(from == a ? "forth" : "back", n - 2);
    const std::int64_t first = row + 8;
    builder.nest(sweep, {static_cast<std::uint32_t>(n - 2)},
                 {read(from, first, {8}, row), read(from, first - 8, {8}, row), read(from, first + 8, {8}, row),
                  read(from, first - row, {8}, row), read(from, first + row, {8}, row), write(to, first, {8}, row)});
    builder.repeat(sweep);
  }
  const auto workload = builder.build();
  const ThreadGraph graph = thread_graph(*workload, 2);
  ASSERT_EQ(graph.threads.size(), 2u);
  EXPECT_TRUE(graph.threads[0].parent.is_none());
  EXPECT_EQ(graph.threads[1].parent, zero);
  // Each writes 4 rows of 8 inner points in both arrays.
  EXPECT_EQ(graph.threads[0].written_bytes, 2u * 4 * 8 * 8);
  // Of what 0 writes, 1 reads the last row's inner points, in both arrays; and the other way round.
  EXPECT_EQ(graph.shared_bytes(zero, one), 2u * 8 * 8);
  EXPECT_EQ(graph.shared_bytes(one, zero), 2u * 8 * 8);
  // Reads: rows 0..5 by thread 0, without the corners of the first and the last one: 4 x 10 + 2 x 8 points in both arrays.
  EXPECT_EQ(graph.threads[0].read_bytes, 2u * (4 * 10 + 2 * 8) * 8);
}

TEST(ThreadGraph, SerialInitialisationFeedsEveryThread) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 1200);
  const RegionId init = builder.serial("init");
  builder.nest(init, {150}, {write(a, 0, {8})});
  builder.repeat(init);
  const RegionId sum = builder.loop("sum", 150);
  builder.nest(sum, {1}, {read(a, 0, {0}, 8)});
  builder.repeat(sum);
  const auto workload = builder.build();
  const ThreadGraph graph = thread_graph(*workload, 3);
  EXPECT_EQ(graph.shared_bytes(zero, one), 400u);
  EXPECT_EQ(graph.shared_bytes(zero, two), 400u);
  EXPECT_EQ(graph.shared_bytes(one, two), 0u);
}

TEST(ThreadGraph, CreatedThreadsHaveTheirCreatorAndWhatTheyHandOver) {
  WorkloadBuilder builder;
  const ObjectId queue = builder.object("queue", 640), own = builder.object("frame", 64, ObjectKind::stack, true);
  const RegionId main = builder.serial("main");
  builder.sync(main, SyncOperation::create, 1, 1);
  builder.nest(main, {1}, {write(own, 0, {0})});
  builder.sync(main, SyncOperation::join, 1);
  builder.repeat(main);
  const RegionId producer = builder.serial("producer");
  builder.sync(producer, SyncOperation::create, 2, 2);
  builder.nest(producer, {40}, {write(queue, 0, {16})});  // 40 x 8 bytes with gaps
  builder.repeat(producer);
  const RegionId consumer = builder.serial("consumer");
  builder.nest(consumer, {80}, {read(queue, 0, {8}), write(own, 8, {0})});
  builder.repeat(consumer);
  for (const RegionId routine : {producer, consumer}) builder.region(routine).kind = RegionKind::thread;
  const auto workload = builder.build();
  workload->threads.resize(3);
  workload->threads[2].routine = "consume";
  const ThreadGraph graph = thread_graph(*workload, 1);
  ASSERT_EQ(graph.threads.size(), 3u);
  EXPECT_EQ(graph.threads[1].parent, zero);
  EXPECT_EQ(graph.threads[2].parent, one);
  EXPECT_EQ(graph.threads[2].routine, "consume");
  EXPECT_EQ(graph.threads[1].joined_by, zero);
  EXPECT_TRUE(graph.threads[2].joined_by.is_none());
  EXPECT_EQ(graph.shared_bytes(one, two), 40u * 8);
  EXPECT_EQ(graph.threads[2].read_bytes, 640u);
  EXPECT_EQ(graph.shared_bytes(two, zero), 0u);  // frames are their own
}

TEST(ThreadGraph, BoundCodeWantsItsTeam) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 64);
  const RegionId patches = builder.bound("patches", 4);
  builder.nest(patches, {1}, {write(a, 0, {0}, 8)});
  builder.repeat(patches);
  const auto workload = builder.build();
  EXPECT_THROW(thread_graph(*workload, 2), UsageError);
  EXPECT_EQ(thread_graph(*workload, 4).threads[3].written_bytes, 8u);
}

}  // namespace
}  // namespace homenode
