// S3, section 3, rule by rule, on trees drawn by hand.
#include "sim/program/thread_types.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/program/workload_builder.hpp"

namespace homenode {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ThreadId thread(std::size_t number) { return ThreadId{number}; }

// `parents[t]` created thread t + 1; each dependence is 8 bytes that the first writes and the second reads.
ThreadGraph graph_of(const std::vector<std::size_t>& parents, const std::vector<std::pair<std::size_t, std::size_t>>& dependences) {
  ThreadGraph graph{parents.size() + 1};
  for (std::size_t t = 0; t < parents.size(); ++t) graph.threads[t + 1].parent = thread(parents[t]);
  for (const auto& [writer, reader] : dependences) {
    graph.add_shared(thread(writer), thread(reader), 8);
    graph.add_dependent(thread(writer), thread(reader), 8);
  }
  return graph;
}

ThreadType type(const std::vector<ClassifiedThread>& threads, std::size_t t) { return threads[t].type; }

// "The main thread is the root; the threads created directly from the main function form the second level", and so on.
//        0
//      1   4
//    2   3   5
TEST(GenerationTree, LevelsAndPreorder) {
  const ThreadGraph graph = graph_of({0, 1, 1, 0, 4}, {});
  EXPECT_THAT(generation_preorder(graph), ElementsAre(thread(0), thread(1), thread(2), thread(3), thread(4), thread(5)));
  const auto threads = classify_threads(graph);
  EXPECT_EQ(threads[0].level, 1u);
  EXPECT_EQ(threads[4].level, 2u);
  EXPECT_EQ(threads[5].level, 3u);
}

// Numbers go by creation, so a grandson may have a smaller one than an uncle:   0 - (1 - 3), 2
TEST(GenerationTree, PreorderGoesIntoDepthFirst) {
  EXPECT_THAT(generation_preorder(graph_of({0, 0, 1}, {})), ElementsAre(thread(0), thread(1), thread(3), thread(2)));
}

// Rules 1 and 2: nobody writes what it reads, and it writes nothing that others read.
TEST(ThreadTypes, AThreadWithoutDependencesIsAutonomous) {
  const auto threads = classify_threads(graph_of({0, 0, 0}, {{2, 3}}));
  EXPECT_EQ(type(threads, 1), ThreadType::autonomous);
  EXPECT_THAT(threads[1].side_by_side_with, IsEmpty());
  EXPECT_NE(type(threads, 2), ThreadType::autonomous);  // it writes what 3 reads
  EXPECT_NE(type(threads, 3), ThreadType::autonomous);  // it reads what 2 writes
}

// Rule 3: "the autonomous thread can read the data read only by all the threads".
TEST(ThreadTypes, DataThatAllOnlyReadMakesNoDependence) {
  WorkloadBuilder builder;
  const ObjectId table = builder.object("table", 64, ObjectKind::global);
  const RegionId main = builder.serial("main");
  builder.sync(main, SyncOperation::create, 1, 1);
  builder.sync(main, SyncOperation::create, 2, 2);
  builder.repeat(main);
  for (const char* name : {"one", "two"}) {
    const RegionId routine = builder.serial(name);
    builder.nest(routine, {8}, {read(table, 0, {8})});
    builder.repeat(routine);
    builder.region(routine).kind = RegionKind::thread;
  }
  const auto workload = builder.build();
  workload->threads.resize(3);
  const auto threads = classify_threads(thread_graph(*workload, 1));
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(type(threads, t), ThreadType::autonomous) << t;
}

// 1 - 2 - 3: 1 is side-by-side relative to 2, 2 to 3; 1 is not to 3.
TEST(ThreadTypes, SideBySideIsMutualAndNotTransitive) {
  const auto threads = classify_threads(graph_of({0, 0, 0}, {{1, 2}, {3, 2}}));
  for (const std::size_t t : {1, 2, 3}) EXPECT_EQ(type(threads, t), ThreadType::side_by_side) << t;
  EXPECT_THAT(threads[1].side_by_side_with, ElementsAre(thread(2)));
  EXPECT_THAT(threads[2].side_by_side_with, ElementsAre(thread(1), thread(3)));
  EXPECT_THAT(threads[3].side_by_side_with, ElementsAre(thread(2)));
}

// "Any two threads can be side-by-side, regardless of the position": 3 is a grandson, 2 its uncle.
TEST(ThreadTypes, SideBySideAcrossLevels) {
  const auto threads = classify_threads(graph_of({0, 0, 1}, {{3, 2}}));
  EXPECT_THAT(threads[3].side_by_side_with, ElementsAre(thread(2)));
  EXPECT_THAT(threads[2].side_by_side_with, ElementsAre(thread(3)));
  EXPECT_EQ(type(threads, 1), ThreadType::autonomous);
}

// "A thread is postponed if it has data dependencies only with its generating thread", in whichever direction.
TEST(ThreadTypes, DependencesWithTheCreatorAloneMakeAThreadPostponed) {
  for (const auto& dependence : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 0}}) {
    const auto threads = classify_threads(graph_of({0, 0}, {dependence}));
    EXPECT_EQ(type(threads, 1), ThreadType::postponed);
    EXPECT_THAT(threads[1].side_by_side_with, IsEmpty());
    EXPECT_EQ(type(threads, 2), ThreadType::autonomous);
  }
  EXPECT_EQ(type(classify_threads(graph_of({0, 0, 1}, {{0, 1}, {1, 2}})), 1), ThreadType::side_by_side);  // and with a brother
  EXPECT_EQ(type(classify_threads(graph_of({0, 1}, {{0, 2}})), 2), ThreadType::side_by_side);             // with the grandfather
  // "It does not write data read by the threads on the same or lower levels": here by its own son.
  EXPECT_EQ(type(classify_threads(graph_of({0, 1}, {{0, 1}, {1, 2}})), 1), ThreadType::side_by_side);
}

// "If the thread is autonomous or postponed, add the thread as son of the generating thread; side-by-side: as son of all the threads
// in relation to which it is side-by-side, already added to the tree."
//      generation  0 - (1 - 5), 2, 3, 4      1, 3 and 4 share with each other, 2 with the creator alone, 5 with nobody
TEST(CommunicationTree, FollowsItsTwoRules) {
  const auto threads = classify_threads(graph_of({0, 0, 0, 0, 1}, {{1, 3}, {3, 4}, {4, 1}, {0, 2}}));
  EXPECT_THAT(threads[0].communication_parents, IsEmpty());
  EXPECT_THAT(threads[5].communication_parents, ElementsAre(thread(1)));             // autonomous
  EXPECT_THAT(threads[2].communication_parents, ElementsAre(thread(0)));             // postponed
  EXPECT_THAT(threads[1].communication_parents, ElementsAre(thread(0)));             // nobody it shares with was there yet
  EXPECT_THAT(threads[3].communication_parents, ElementsAre(thread(1)));             // not its creator any more
  EXPECT_THAT(threads[4].communication_parents, ElementsAre(thread(1), thread(3)));  // of both
}

}  // namespace
}  // namespace homenode
