// Threads that the program creates, from the stream to the trace.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/base/errors.hpp"
#include "sim/program/thread_graph.hpp"
#include "tests/support/assembler_fixture.hpp"
#include "tests/support/stream_writer.hpp"
#include "traces/capture/assembler/assembler.hpp"
#include "traces/format/invariants.hpp"
#include "traces/format/trace_file.hpp"

namespace homenode {
namespace {

using test::StreamWriter;

constexpr std::uint64_t block = 0x10000, stack_low = 0x6000'0000'0000, stack_high = stack_low + 0x10000;

class ThreadStream : public StreamWriter {
public:
  ThreadStream() {
    hello();
    pc(0, HN_WRITE, 8);
    pc(1, HN_READ, 8);
    StreamWriter::allocate(block, 4096);
  }
  void create(std::uint64_t thread, std::uint64_t site = 0x5000) {
    opcode(HN_THREAD_CREATE);
    u(thread), u(stack_low + thread * 0x100000), u(stack_high + thread * 0x100000), u(0), u(site);
  }
  void thread(std::uint64_t number) { opcode(HN_THREAD), u(number); }
  void thread_end(std::uint64_t number) { opcode(HN_THREAD_END), u(number); }
  void sync(SyncOperation operation, std::uint64_t object, std::uint64_t match) {
    opcode(HN_SYNC);
    u(static_cast<std::uint64_t>(operation)), u(object), u(match);
  }
  void frame(std::uint64_t thread, std::uint64_t low, std::uint64_t high) {
    opcode(HN_FRAME);
    u(HN_FIRST_CREATED + thread), u(low), u(high), u(0), u(0x7000);
  }
};

class AssemblerThreads : public test::AssemblerFixture {
protected:
  static const ItemPattern& pattern_of(const Workload& workload, std::size_t execution) {
    return workload.patterns[workload.body(ExecutionId{execution})->blocks.at(0).pattern.index()];
  }
};

// Main writes 4 words, creates two threads, which run in turns and write 1 and 2 words, and joins them.
ThreadStream two_threads() {
  ThreadStream stream;
  stream.run(0, block, 0, 4, 8, 1);
  stream.create(1);
  stream.create(2, 0x5100);
  stream.thread(1);
  stream.run(0, block + 64, 0, 1, 0, 0);
  stream.sync(SyncOperation::lock, 2, 0);
  stream.thread(2);
  stream.run(0, block + 128, 0, 2, 8, 1);
  stream.thread_end(2);
  stream.thread(1);
  stream.run(1, block, 1, 1, 0, 0);
  stream.sync(SyncOperation::unlock, 2, 0);
  stream.thread_end(1);
  stream.thread(0);
  stream.sync(SyncOperation::join, 1, 0);
  stream.sync(SyncOperation::join, 2, 0);
  stream.run(1, block + 64, 4, 1, 0, 0);
  stream.end();
  return stream;
}

TEST_F(AssemblerThreads, EachThreadIsOneExecutionWithOneIteration) {
  const auto workload = assembled(two_threads());
  // Executions: threads 1 and 2 in the order of their creation, then the first thread's code.
  ASSERT_EQ(workload->executions.size(), 3u);
  for (const std::size_t e : {0u, 1u}) {
    EXPECT_EQ(workload->regions[workload->executions[e].region.index()].kind, RegionKind::thread);
    EXPECT_EQ(workload->executions[e].parallel, 0u);
    EXPECT_EQ(workload->executions[e].iterations, 1);
  }
  EXPECT_EQ(workload->executions[0].writes, 1u);
  EXPECT_EQ(workload->executions[0].reads, 1u);
  EXPECT_EQ(workload->executions[1].writes, 2u);
  EXPECT_EQ(workload->regions[workload->executions[2].region.index()].kind, RegionKind::serial);
  EXPECT_EQ(workload->executions[2].accesses, 5u);
  ASSERT_EQ(workload->threads.size(), 3u);
  EXPECT_TRUE(workload->threads[0].parent.is_none());
  EXPECT_EQ(workload->threads[2].parent, ThreadId{0u});
}

TEST_F(AssemblerThreads, EventsStandWhereTheyHappened) {
  const auto workload = assembled(two_threads());
  const auto& main = pattern_of(*workload, 2).sync_events;
  ASSERT_EQ(main.size(), 4u);
  // create names the thread and its execution: thread t is execution t - 1. All after the 4th write, before the 5th access.
  for (std::size_t t : {1u, 2u}) {
    EXPECT_EQ(main[t - 1].operation, SyncOperation::create);
    EXPECT_EQ(main[t - 1].object, t);
    EXPECT_EQ(main[t - 1].match, t - 1);
    EXPECT_EQ(main[t - 1].sequence, 4u);
    EXPECT_EQ(main[t + 1].operation, SyncOperation::join);
    EXPECT_EQ(main[t + 1].object, t);
  }
  const auto& first = pattern_of(*workload, 0).sync_events;
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].sequence, 1u);  // the lock, after the write
  EXPECT_EQ(first[1].sequence, 2u);  // the unlock, after the read
}

TEST_F(AssemblerThreads, TheGraphKnowsCreatorsThoughRoutinesComeFirst) {
  const ThreadGraph graph = thread_graph(*assembled(two_threads()), 1);
  ASSERT_EQ(graph.threads.size(), 3u);
  EXPECT_EQ(graph.threads[1].parent, ThreadId{0u});
  EXPECT_EQ(graph.threads[1].joined_by, ThreadId{0u});
  EXPECT_EQ(graph.threads[2].written_bytes, 16u);
  EXPECT_EQ(graph.shared_bytes(ThreadId{0u}, ThreadId{1u}), 8u);
  EXPECT_EQ(graph.shared_bytes(ThreadId{1u}, ThreadId{0u}), 8u);
  EXPECT_EQ(graph.shared_bytes(ThreadId{2u}, ThreadId{0u}), 0u);
}

TEST_F(AssemblerThreads, AFrameIsPrivateUntilAnotherThreadTouchesIt) {
  ThreadStream stream;
  const std::uint64_t own = stack_low + 0x100000 + 0x100, lent = own + 0x100;
  stream.create(1);
  stream.create(2);
  stream.thread(1);
  stream.frame(1, own, own + 64);
  stream.frame(1, lent, lent + 128);
  stream.run(0, own, 0, 1, 0, 0);
  stream.run(0, lent, 1, 1, 0, 0);
  stream.thread(2);
  stream.run(1, lent, 0, 1, 0, 0);
  stream.thread_end(2);
  stream.thread(1);
  stream.thread_end(1);
  stream.thread(0);
  stream.end();
  const auto workload = assembled(stream);
  int seen = 0;
  for (const TracedObject& object : workload->objects) {
    if (object.bytes != 64 && object.bytes != 128) continue;
    ++seen;
    EXPECT_EQ(object.thread_private, object.bytes == 64);
  }
  EXPECT_EQ(seen, 2);
}

TEST_F(AssemblerThreads, WorkOfAThreadThatSpunIsNotTheTwins) {
  work_ = folder_ / "work";
  const std::string rest =
      R"("integer": 0, "fp_add": 0, "fp_multiply": 0, "fp_fma": 0, "divide": 0, "load": 0, "store": 0, "branch": 0, "flops": 0})";
  std::ofstream{work_} << R"({"kind": "serial", "ordinal": 0, "instructions": 50, )" << rest << "\n"
                       << R"({"kind": "thread", "ordinal": 1, "instructions": 20, )" << rest << "\n"
                       << R"({"kind": "thread", "ordinal": 2, "instructions": 9000, )" << rest << "\n"
                       << R"({"kind": "end"})"
                       << "\n";
  ThreadStream stream;
  stream.create(1);
  stream.create(2);
  for (const std::uint64_t t : {1u, 2u}) {
    stream.thread(t);
    stream.run(0, block + 8 * t, 0, 1, 0, 0);
    if (t == 2) stream.sync(SyncOperation::atomic_wait, 3, 1);
    stream.thread_end(t);
  }
  stream.thread(0);
  stream.run(0, block, 0, 5, 8, 1);
  stream.end();
  const auto workload = assembled(stream);
  // Both threads run one routine: 20 instructions for 1 access of thread 1 are its rate, for thread 2 as well.
  EXPECT_DOUBLE_EQ(pattern_of(*workload, 0).work.instructions, 20);
  EXPECT_DOUBLE_EQ(pattern_of(*workload, 1).work.instructions, 20);
  EXPECT_DOUBLE_EQ(pattern_of(*workload, 2).work.instructions, 50);
  ASSERT_EQ(workload->losses.size(), 1u);
  EXPECT_EQ(workload->losses[0].reason, "threads that spin have no work counts");
}

TEST_F(AssemblerThreads, AThreadOfAKilledProgramIsKept) {
  ThreadStream stream;
  stream.create(1);
  stream.thread(1);
  stream.run(0, block, 0, 7, 8, 1);
  const auto workload = assembled(stream);
  EXPECT_FALSE(result_.complete);
  EXPECT_EQ(workload->executions.at(0).writes, 7u);
}

TEST_F(AssemblerThreads, ThreadsThatDoNotRunAreRefused) {
  for (const int opcode : {HN_THREAD, HN_THREAD_END}) {
    ThreadStream stream;
    stream.opcode(opcode);
    stream.u(1);
    EXPECT_THROW(assembled(stream), InputError);
  }
  ThreadStream stream;
  stream.create(2);
  EXPECT_THROW(assembled(stream), InputError);
}

// What a thread does is one iteration, unless the runtime says that it may be cut and little of it folded.
TEST_F(AssemblerThreads, LongCodeOfAThreadIsCutIntoIterations) {
  long_item_ = 20;
  ThreadStream stream;
  stream.create(1);
  stream.thread(1);
  for (std::uint64_t sequence = 0; sequence < 80; ++sequence) {
    if (sequence % 20 == 0) stream.may_cut();
    stream.run(0, block + 8 * (sequence * sequence * sequence * 7919 % 509), sequence, 1, 0, 0);
    if (sequence == 45) stream.sync(SyncOperation::lock, 2, 0);
  }
  stream.sync(SyncOperation::unlock, 2, 0);
  stream.thread_end(1);
  stream.thread(0);
  stream.run(1, block, 0, 1, 0, 0);
  stream.end();
  const auto workload = assembled(stream);
  const Execution& execution = workload->executions.at(0);
  EXPECT_EQ(execution.iterations, 4);
  EXPECT_EQ(execution.accesses, 80U);
  const auto body = workload->body(ExecutionId{0});
  ASSERT_EQ(body->blocks.size(), 4U);
  // Events stand where they were, counted from the beginning of their iteration: the lock after the 46th access.
  const ItemPattern& third = workload->patterns[body->blocks[2].pattern.index()];
  ASSERT_EQ(third.sync_events.size(), 1U);
  EXPECT_EQ(third.sync_events[0].sequence, 6U);
}

}  // namespace
}  // namespace homenode
