// Who feeds whom, byte by byte.
#include "sim/program/thread_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/program/workload_builder.hpp"

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

TEST(ThreadGraph, AgreesWithSetsOfBytes) {
  // 300 iterations, dealt out to 3 threads in equal parts, that read and write an array at places without order.
  std::mt19937 random{1};
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 4096);
  const RegionId loop = builder.loop("loop", 300);
  std::vector<std::set<std::uint32_t>> reads(3), writes(3);
  for (std::uint32_t i = 0; i < 300; ++i) {
    std::vector<Reference> accesses;
    for (int access = 0; access < 5; ++access) {
      const auto width = static_cast<std::uint16_t>(1U << random() % 4);
      const auto at = static_cast<std::uint32_t>(random() % (4096U / width)) * width;
      const bool writes_it = random() % 3 == 0;
      accesses.push_back(writes_it ? write(a, at, {0}, 0, width) : read(a, at, {0}, 0, width));
      for (std::uint32_t byte = at; byte < at + width; ++byte) (writes_it ? writes : reads)[i / 100].insert(byte);
    }
    builder.nest(loop, {1}, accesses);
    builder.next_block(loop, i + 1);
  }
  builder.repeat(loop);
  const auto workload = builder.build();
  const ThreadGraph graph = thread_graph(*workload, 3);
  for (const ThreadId writer : {zero, one, two}) {
    EXPECT_EQ(graph.threads[writer.index()].read_bytes, reads[writer.index()].size());
    EXPECT_EQ(graph.threads[writer.index()].written_bytes, writes[writer.index()].size());
    for (const ThreadId reader : {zero, one, two}) {
      if (writer == reader) continue;
      std::vector<std::uint32_t> both;
      std::ranges::set_intersection(writes[writer.index()], reads[reader.index()], std::back_inserter(both));
      EXPECT_EQ(graph.shared_bytes(writer, reader), both.size());
    }
  }
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

// What main writes before it creates a thread and what it reads after it has joined it is handed over: no dependence. What it writes
// while the thread runs is one, and so is what two threads share that run at the same time.
TEST(ThreadGraph, WhatCreationAndJoiningOrderIsNoDependence) {
  WorkloadBuilder builder;
  const ObjectId argument = builder.object("argument", 64), result = builder.object("result", 64), queue = builder.object("queue", 64);
  const RegionId main = builder.serial("main");
  builder.nest(main, {8}, {write(argument, 0, {8})});
  builder.sync(main, SyncOperation::create, 1, 1);
  builder.nest(main, {2}, {write(queue, 0, {8})});
  builder.sync(main, SyncOperation::create, 2, 2);
  builder.sync(main, SyncOperation::join, 1);
  builder.sync(main, SyncOperation::join, 2);
  builder.nest(main, {8}, {read(result, 0, {8})});
  builder.repeat(main);
  const RegionId first = builder.serial("first"), second = builder.serial("second");
  builder.nest(first, {8}, {read(argument, 0, {8}), read(queue, 0, {8}), write(result, 0, {8})});
  builder.nest(second, {1}, {read(argument, 0, {8}), read(queue, 0, {8}), read(result, 16, {8})});
  builder.repeat(first);
  builder.repeat(second);
  for (const RegionId routine : {first, second}) builder.region(routine).kind = RegionKind::thread;
  const auto workload = builder.build();
  workload->threads.resize(3);
  const ThreadGraph graph = thread_graph(*workload, 1);
  EXPECT_EQ(graph.shared_bytes(zero, one), 64u + 16);
  EXPECT_EQ(graph.dependent_bytes(zero, one), 16u);  // of the queue: thread 1 was there already
  EXPECT_EQ(graph.shared_bytes(zero, two), 8u + 8);
  EXPECT_EQ(graph.dependent_bytes(zero, two), 0u);  // all before its creation
  EXPECT_EQ(graph.shared_bytes(one, zero), 64u);
  EXPECT_EQ(graph.dependent_bytes(one, zero), 0u);  // joined
  EXPECT_EQ(graph.dependent_bytes(one, two), 8u);
  EXPECT_EQ(graph.threads[1].accesses, 24u);
}

// A thread that ended before another was created hands over as well, whoever joined it.
TEST(ThreadGraph, ThreadsOneAfterTheOtherHaveNoDependence) {
  WorkloadBuilder builder;
  const ObjectId data = builder.object("data", 64);
  const RegionId main = builder.serial("main");
  builder.sync(main, SyncOperation::create, 1, 1);
  builder.sync(main, SyncOperation::join, 1);
  builder.sync(main, SyncOperation::create, 2, 2);
  builder.repeat(main);
  const RegionId writer = builder.serial("writer"), reader = builder.serial("reader");
  builder.nest(writer, {8}, {write(data, 0, {8})});
  builder.nest(reader, {8}, {read(data, 0, {8})});
  builder.repeat(writer);
  builder.repeat(reader);
  for (const RegionId routine : {writer, reader}) builder.region(routine).kind = RegionKind::thread;
  const auto workload = builder.build();
  workload->threads.resize(3);
  const ThreadGraph graph = thread_graph(*workload, 1);
  EXPECT_EQ(graph.shared_bytes(one, two), 64u);
  EXPECT_EQ(graph.dependent_bytes(one, two), 0u);
}

TEST(ThreadGraph, SerialCodeOfATeamHandsOver) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 80);
  const RegionId init = builder.serial("init");
  builder.nest(init, {10}, {write(a, 0, {8})});
  builder.repeat(init);
  for (const std::int64_t shift : {8, 0}) {  // each writes its own half and the next sweep reads one element of the neighbour's
    const RegionId sweep = builder.loop(shift == 0 ? "write" : "read", 8);
    builder.nest(sweep, {1}, {shift == 0 ? write(a, 0, {0}, 8) : read(a, shift, {0}, 8)});
    builder.repeat(sweep);
  }
  const auto workload = builder.build();
  const ThreadGraph graph = thread_graph(*workload, 2);
  EXPECT_EQ(graph.shared_bytes(zero, one), 4u * 8);
  EXPECT_EQ(graph.dependent_bytes(zero, one), 0u);
  EXPECT_EQ(graph.dependent_bytes(one, zero), 8u);  // element 4, of the second half: iteration 3 reads it
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
