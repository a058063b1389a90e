// Explicit tasks, from the stream to the trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/base/errors.hpp"
#include "tests/support/assembler_fixture.hpp"
#include "tests/support/stream_writer.hpp"

namespace homenode {
namespace {

using test::StreamWriter;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t block = 0x10000, stack_low = 0x6000'0000'0000, stack_high = stack_low + 0x100000;
constexpr std::uint64_t creators_stack = stack_low + 0x8000, inner_stack = stack_low + 0x6000, next_stack = 0x1000000;

// A team whose ranks have stacks; site 0 writes, site 1 reads. Execution 0 is the serial code, which allocates a block.
class TaskStream : public StreamWriter {
public:
  explicit TaskStream(unsigned team = 1) {
    hello(team);
    pc(0, HN_WRITE, 8);
    pc(1, HN_READ, 8);
    StreamWriter::allocate(block, 4096);
    for (unsigned rank = 0; rank < team; ++rank)
      opcode(HN_STACK), u(rank), u(stack_low + rank * next_stack), u(stack_high + rank * next_stack);
    parallel_begin(0, team);
  }
  void single(bool taken = true) { opcode(HN_SINGLE), u(0), u(0x3000), u(taken ? 1 : 0); }
  void single_end() { opcode(HN_SINGLE_END); }
  void task(std::uint64_t site = 0x5000, std::uint64_t stack = creators_stack) { opcode(HN_TASK_BEGIN), u(0), u(site), u(stack); }
  void task_end() { opcode(HN_TASK_END); }
  void sync(SyncOperation operation, std::uint64_t object = 0, std::uint64_t match = 0) {
    opcode(HN_SYNC);
    u(static_cast<std::uint64_t>(operation)), u(object), u(match);
  }
  void frame(unsigned rank, std::uint64_t low, std::uint64_t high) { opcode(HN_FRAME), u(rank), u(low), u(high), u(0), u(0x7000); }
  void finish() { parallel_end(0), end(); }
};

class AssemblerTasks : public test::AssemblerFixture {
protected:
  struct Event {
    std::uint64_t sequence;
    SyncOperation operation;
    std::uint64_t object;
    std::int64_t match;
    bool operator==(const Event&) const = default;
  };
  static const ItemBlock& block_of(const ExecutionBody& body, std::int64_t iteration) {
    for (const ItemBlock& candidate : body.blocks)
      if (candidate.first <= iteration && iteration < candidate.last) return candidate;
    throw UsageError("no such iteration");
  }
  static const ItemPattern& pattern_of(const Workload& workload, std::size_t execution, std::int64_t iteration) {
    return workload.patterns[block_of(*workload.body(ExecutionId{execution}), iteration).pattern.index()];
  }
  static std::vector<Event> events_of(const Workload& workload, std::size_t execution, std::int64_t iteration) {
    std::vector<Event> events;
    for (const SyncEvent& event : pattern_of(workload, execution, iteration).sync_events)
      events.push_back({event.sequence, event.operation, event.object, static_cast<std::int64_t>(event.match)});
    return events;
  }
  static std::string label(const Workload& workload, std::size_t execution) {
    return workload.regions[workload.executions[execution].region.index()].label;
  }
};

// A single writes a word, creates two tasks that write two words each, and writes another word.
TEST_F(AssemblerTasks, AreIterationsOfAnExecutionBeforeTheirCreators) {
  TaskStream stream;
  stream.single();
  stream.run(0, block, 0, 1, 0, 0);
  for (std::uint64_t k = 0; k < 2; ++k) {
    stream.task();
    stream.run(0, block + 64 + 16 * k, 0, 2, 8, 1);
    stream.task_end();
  }
  stream.run(0, block + 8, 1, 1, 0, 0);
  stream.single_end();
  stream.finish();
  const auto workload = assembled(stream);
  ASSERT_EQ(workload->executions.size(), 3u);
  const Execution& tasks = workload->executions[1];
  EXPECT_EQ(workload->regions[tasks.region.index()].kind, RegionKind::task);
  EXPECT_THAT(label(*workload, 1), testing::EndsWith(":task"));
  EXPECT_EQ(tasks.parallel, workload->executions[2].parallel);
  // two tasks of two writes; they differ by a shift of 16 bytes
  EXPECT_EQ(tasks.iterations, 2);
  EXPECT_EQ(tasks.writes, 4u);
  EXPECT_EQ(workload->body(ExecutionId{1})->blocks.size(), 1u);
  // the creator has two accesses of its own; both tasks come after its first
  EXPECT_EQ(workload->executions[2].accesses, 2u);
  EXPECT_THAT(events_of(*workload, 2, 0),
              ElementsAre(Event{1, SyncOperation::task_submit, 0, 0}, Event{1, SyncOperation::task_submit, 0, 1}));
  EXPECT_EQ(workload->executions[2].binding, Binding::free);
}

TEST_F(AssemblerTasks, EachPlaceThatCreatesThemIsARegion) {
  TaskStream stream;
  stream.single();
  for (const std::uint64_t site : {0x5000, 0x5100, 0x5000, 0x5200}) {
    stream.task(site);
    stream.run(0, block, 0, 1, 0, 0);
    stream.task_end();
  }
  stream.single_end();
  stream.finish();
  const auto workload = assembled(stream);
  ASSERT_EQ(workload->executions.size(), 5u);
  EXPECT_THAT(label(*workload, 2), testing::EndsWith(":task1"));
  EXPECT_THAT(label(*workload, 3), testing::EndsWith(":task2"));
  EXPECT_EQ(workload->executions[1].iterations, 2);
  EXPECT_THAT(events_of(*workload, 4, 0),
              ElementsAre(Event{0, SyncOperation::task_submit, 0, 0}, Event{0, SyncOperation::task_submit, 1, 0},
                          Event{0, SyncOperation::task_submit, 0, 1}, Event{0, SyncOperation::task_submit, 2, 0}));
}

// Task 0 creates task 1, which creates task 2, all at one place; each writes a word before and one after.
TEST_F(AssemblerTasks, NestWithNumbersRelativeToTheirCreator) {
  TaskStream stream;
  stream.single();
  for (std::uint64_t depth = 0; depth < 3; ++depth) {
    stream.task(0x5000, creators_stack - depth * 0x100);
    stream.run(0, block + 16 * depth, 0, 1, 0, 0);
  }
  for (std::uint64_t depth = 3; depth-- > 0;) {
    if (depth < 2) stream.sync(SyncOperation::task_wait);
    stream.run(0, block + 16 * depth + 8, 1, 1, 0, 0);
    stream.task_end();
  }
  stream.single_end();
  stream.finish();
  const auto workload = assembled(stream);
  EXPECT_EQ(workload->executions[1].iterations, 3);
  EXPECT_EQ(workload->executions[1].writes, 6u);
  for (const std::int64_t creator : {0, 1})
    EXPECT_THAT(events_of(*workload, 1, creator),
                ElementsAre(Event{1, SyncOperation::task_submit, 0, 1}, Event{1, SyncOperation::task_wait, 0, 0}));
  EXPECT_TRUE(events_of(*workload, 1, 2).empty());
  for (const std::int64_t task : {0, 1, 2}) {
    // depth d writes at 16 d and 16 d + 8: its place in the stream is its own, whatever its children did in between
    const auto body = workload->body(ExecutionId{1});
    EXPECT_EQ(block_of(*body, task).slots.at(0).base + (task - block_of(*body, task).first) * block_of(*body, task).slots.at(0).shift,
              16 * task);
  }
}

// Each of two ranks creates a task in its own code: another team would create others.
TEST_F(AssemblerTasks, CreatedByTheCodeOfRanksBindTheConstructToThem) {
  TaskStream stream{2};
  for (unsigned rank = 0; rank < 2; ++rank) {
    stream.rank(rank);
    stream.task();
    stream.run(0, block + 64 * rank, 0, 1, 0, 0);
    stream.task_end();
  }
  stream.rank(0);
  stream.finish();
  const auto workload = assembled(stream);
  ASSERT_EQ(workload->executions.size(), 3u);
  EXPECT_EQ(workload->executions[2].binding, Binding::rank);
  EXPECT_EQ(workload->executions[2].iterations, 2);
  EXPECT_EQ(workload->executions[1].binding, Binding::free);
  // rank r creates task r: relative to itself task 0
  for (const std::int64_t rank : {0, 1})
    EXPECT_THAT(events_of(*workload, 2, rank), ElementsAre(Event{0, SyncOperation::task_submit, 0, 0}));
}

// The token passes while a task of rank 0 waits for a lock: rank 1 runs one of its own meanwhile.
TEST_F(AssemblerTasks, OfSeveralRanksMayBeOpenAtOnce) {
  TaskStream stream{2};
  stream.rank(0);
  stream.task();
  stream.run(0, block, 0, 1, 0, 0);
  stream.rank(1);
  stream.task();
  stream.run(0, block + 64, 0, 3, 8, 1);
  stream.task_end();
  stream.rank(0);
  stream.run(0, block + 8, 1, 1, 0, 0);
  stream.task_end();
  stream.finish();
  const auto workload = assembled(stream);
  EXPECT_EQ(pattern_of(*workload, 1, 0).accesses, 2u);
  EXPECT_EQ(pattern_of(*workload, 1, 1).accesses, 3u);
}

// A task's own frame is private to who runs it; what it writes of its creator's frame is shared, and it is one object for both.
TEST_F(AssemblerTasks, ShareTheirCreatorsFrame) {
  TaskStream stream{2};
  stream.rank(1);
  stream.single();
  constexpr std::uint64_t creators = creators_stack + next_stack;
  stream.frame(1, creators, creators + 64);
  stream.run(0, creators + 8, 0, 1, 0, 0);
  stream.task(0x5000, creators);
  stream.frame(1, creators - 256, creators);
  stream.run(0, creators - 128, 0, 1, 0, 0);
  stream.run(1, creators + 8, 1, 1, 0, 0);
  stream.task_end();
  stream.single_end();
  stream.rank(0);
  stream.finish();
  const auto workload = assembled(stream);
  const std::vector<SlotBinding> tasks = workload->body(ExecutionId{1})->blocks.at(0).slots,
                                 creator = workload->body(ExecutionId{2})->blocks.at(0).slots;
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_TRUE(workload->objects[tasks[0].object.index()].thread_private);
  EXPECT_FALSE(workload->objects[tasks[1].object.index()].thread_private);
  EXPECT_EQ(tasks[1].object, creator.at(0).object);
}

// Two tasks at the same place on the stack each have a child that writes in their frames: these are different frames.
TEST_F(AssemblerTasks, EachHasAFrameOfItsOwnWhereItIsShared) {
  TaskStream stream{2};
  stream.rank(1);
  stream.single();
  constexpr std::uint64_t creators = creators_stack + next_stack, inner = inner_stack + next_stack;
  for (int k = 0; k < 3; ++k) {
    stream.task(0x5000, creators);
    stream.frame(1, inner, creators);
    stream.run(0, inner + 8, 0, 1, 0, 0);
    stream.task(0x5100, inner);
    stream.run(1, inner + 8, 0, 1, 0, 0);
    stream.task_end();
    stream.task_end();
  }
  stream.single_end();
  stream.rank(0);
  stream.finish();
  const auto workload = assembled(stream);
  std::vector<ObjectId> frames;
  for (const std::int64_t task : {0, 1, 2}) {
    const auto parents = workload->body(ExecutionId{1}), children = workload->body(ExecutionId{2});
    frames.push_back(block_of(*parents, task).slots.at(0).object);
    EXPECT_EQ(block_of(*children, task).slots.at(0).object, frames.back());
    EXPECT_FALSE(workload->objects[frames.back().index()].thread_private);
  }
  EXPECT_NE(frames[0], frames[1]);
  EXPECT_NE(frames[1], frames[2]);
  EXPECT_NE(frames[0], frames[2]);
}

TEST_F(AssemblerTasks, OfAKilledProgramAreKeptAsFarAsTheyCame) {
  TaskStream stream;
  stream.single();
  stream.task();
  stream.run(0, block, 0, 1, 0, 0);
  stream.task(0x5000, inner_stack);
  stream.run(0, block + 64, 0, 5, 8, 1);
  const auto workload = assembled(stream);
  EXPECT_FALSE(workload->complete);
  EXPECT_EQ(workload->executions.at(1).iterations, 2);
  EXPECT_EQ(workload->executions.at(1).writes, 6u);
}

TEST_F(AssemblerTasks, WhatCannotBeIsRefused) {
  const auto refusal = [&](const std::function<void(TaskStream&)>& change) -> std::string {
    TaskStream stream;
    change(stream);
    stream.finish();
    try {
      assembled(stream);
    } catch (const InputError& error) { return error.what(); }
    return "";
  };
  EXPECT_THAT(refusal([](TaskStream& s) { s.task_end(); }), HasSubstr("ends a task where none is open"));
  EXPECT_THAT(refusal([](TaskStream& s) { s.task(), s.barrier(); }), HasSubstr("a construct inside a task"));
  EXPECT_THAT(refusal([](TaskStream& s) { s.loop_begin(0x4000, 4), s.task(); }), HasSubstr("outside of any item"));
  EXPECT_THAT(refusal([](TaskStream& s) { s.parallel_end(0), s.task(); }), HasSubstr("outside of a parallel construct"));
}

}  // namespace
}  // namespace homenode
