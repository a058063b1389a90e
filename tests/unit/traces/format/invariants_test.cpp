// Each invariant: a sound workload, broken in one place, is told of in one line.
#include "traces/format/invariants.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "tests/support/workloads.hpp"

namespace homenode {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Ten iterations of two reads each of an array of 160 bytes.
std::shared_ptr<MemoryWorkload> sound() {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 160);
  const RegionId loop = builder.loop("loop", 10);
  builder.nest(loop, {2}, {read(a, 0, {8}, 16)});
  builder.repeat(loop);
  return std::dynamic_pointer_cast<MemoryWorkload>(builder.build());
}

std::vector<std::string> after(const std::function<void(MemoryWorkload&)>& change) {
  const auto workload = sound();
  change(*workload);
  return broken_invariants(*workload);
}

std::vector<std::string> with_body(const std::function<void(ExecutionBody&)>& change) {
  return after([&](MemoryWorkload& workload) {
    ExecutionBody body = *workload.bodies[0];
    change(body);
    workload.bodies[0] = std::make_shared<ExecutionBody>(body);
  });
}

TEST(Invariants, HoldForWhatIsBuilt) {
  EXPECT_THAT(broken_invariants(*sound()), IsEmpty());
  for (const auto& workload : {test::jacobi2d(20, 3), test::chase(50, 200, 4), test::gather(64, 32, 4), test::tasks(6)})
    EXPECT_THAT(broken_invariants(*workload), IsEmpty());
}

TEST(Invariants, OfPatterns) {
  EXPECT_THAT(after([](auto& w) { w.patterns[0].accesses = 3; }),
              ElementsAre("pattern 0: says 3 accesses, has 2", "execution 0: says 20 accesses, has 30"));
  EXPECT_THAT(after([](auto& w) { w.patterns[0].runs[0].slot = 1; }), ElementsAre("pattern 0: a run uses slot 1 of 1"));
  EXPECT_THAT(after([](auto& w) {
                AccessRun earlier = w.patterns[0].runs[0];
                w.patterns[0].runs[0].sequence = 4;
                earlier.dimensions = 0;
                w.patterns[0].runs.push_back(earlier);
                w.patterns[0].accesses = 3;
                w.executions[0].accesses = 30;
              }),
              ElementsAre("pattern 0: runs are not in order of their sequence numbers"));
  EXPECT_THAT(after([](auto& w) { w.patterns[0].runs[0].dimensions = 9; }),
              ElementsAre("pattern 0: a run has 9 dimensions; at most 4 are allowed", "pattern 0: says 2 accesses, has 0"));
}

TEST(Invariants, OfStreams) {
  const auto with_stream = [](const IrregularStream& stream) {
    return after([&](MemoryWorkload& workload) {
      workload.patterns[0].streams.push_back(stream);
      workload.patterns[0].accesses += stream.slot.size();
      workload.executions[0].accesses += 10 * stream.slot.size();
    });
  };
  IrregularStream stream;
  stream.width = 8;
  stream.slot = {0, 0};
  stream.offset = {0, 8};
  stream.producer_distance = {0, 0};
  stream.sequence = {2, 3};
  EXPECT_THAT(with_stream(stream), IsEmpty());
  stream.sequence = {3, 2};
  EXPECT_THAT(with_stream(stream), ElementsAre("pattern 0: a stream is not in order of its sequence numbers"));
  stream.sequence = {2, 3};
  stream.slot = {0, 1};
  EXPECT_THAT(with_stream(stream), ElementsAre("pattern 0: a stream uses a slot beyond its 1"));
  stream.slot = {0, 0};
  stream.offset = {0};
  EXPECT_THAT(with_stream(stream), ElementsAre("pattern 0: columns of a stream differ in length"));
}

TEST(Invariants, OfExecutions) {
  EXPECT_THAT(after([](auto& w) { w.executions[0].region = RegionId{5u}; }), ElementsAre("execution 0: of region 5, which does not exist"));
  EXPECT_THAT(after([](auto& w) { w.executions[0].iterations = 11; }), ElementsAre("execution 0: has 11 iterations, blocks for 10"));
  EXPECT_THAT(after([](auto& w) { w.executions[0].reads = 1; }), ElementsAre("execution 0: says 1 reads, has 20"));
  EXPECT_THAT(after([](auto& w) { w.executions[0].writes = 1; }), ElementsAre("execution 0: says 1 writes, has 0"));
}

TEST(Invariants, OfBlocks) {
  EXPECT_THAT(with_body([](auto& body) { body.blocks[0].pattern = PatternId{3u}; }),
              ElementsAre("execution 0: uses pattern 3, which does not exist", "execution 0: says 20 accesses, has 0",
                          "execution 0: says 20 reads, has 0"));
  EXPECT_THAT(with_body([](auto& body) {
                body.blocks[0].slots.push_back({ObjectId{0u}, 0, 0});
              }),
              ElementsAre("execution 0: binds 2 slots of 1"));
  // iteration 4 is in both blocks
  EXPECT_THAT(with_body([](auto& body) {
                body.blocks.push_back({4, 10, PatternId{0u}, {{ObjectId{0u}, 64, 16}}});
                body.blocks[0].last = 5;
              }),
              ElementsAre("execution 0: a block of iterations begins at 4 where 5 is next", "execution 0: says 20 accesses, has 22",
                          "execution 0: says 20 reads, has 22"));
}

TEST(Invariants, OfObjects) {
  EXPECT_THAT(with_body([](auto& body) { body.blocks[0].slots[0].object = ObjectId{7u}; }),
              ElementsAre("execution 0: binds object 7, which does not exist"));
  // the last access ends at 9 x 16 + 16 = 160
  EXPECT_THAT(after([](auto& w) { w.objects[0].bytes = 159; }),
              ElementsAre("execution 0: touches bytes 0 to 160 of object 0 ('a'), which has 159"));
  EXPECT_THAT(after([](auto& w) {
                w.objects[0].bytes = 0;
                w.objects[0].kind = ObjectKind::unknown;  // its bounds were not seen
              }),
              IsEmpty());
}

TEST(Invariants, AHundredLinesAreEnough) {
  EXPECT_EQ(after([](MemoryWorkload& workload) {
              for (unsigned copy = 0; copy < 200; ++copy) workload.executions.push_back({RegionId{9u}});
            }).size(),
            100u);
}

}  // namespace
}  // namespace homenode
