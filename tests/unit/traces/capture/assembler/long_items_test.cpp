// Serial code that does not fold is cut into iterations, where the runtime says that it may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/assembler_fixture.hpp"
#include "tests/support/jacobi_stream.hpp"
#include "traces/format/trace_file.hpp"

namespace homenode {
namespace {

using namespace test::jacobi_stream;
using test::StreamWriter;

class AssemblerLongItems : public test::AssemblerFixture {
protected:
  AssemblerLongItems() { long_item_ = 100; }
  // Addresses without regularity; after so many accesses the runtime says that here may be cut.
  static void gather(StreamWriter& stream, std::uint64_t from, std::uint64_t until, std::uint64_t each) {
    for (std::uint64_t sequence = from; sequence < until; ++sequence) {
      if (sequence > from && sequence % each == 0) stream.may_cut();
      stream.run(0, a_address + 8 * (sequence * sequence * 7919 % 997), sequence, 1, 0, 0);
    }
  }
  static void begin(StreamWriter& stream) {
    stream.hello();
    stream.pc(0, HN_READ, 8);
    stream.allocate(a_address, 8000);
  }
};

std::vector<std::int64_t> offsets_of(const Workload& trace) {
  std::vector<std::int64_t> offsets;
  for (std::size_t e = 0; e < trace.executions.size(); ++e) {
    const auto body = trace.body(ExecutionId{e});
    for (const ItemBlock& block : body->blocks)
      for (const IrregularStream& stream : trace.patterns[block.pattern.index()].streams)
        for (std::size_t i = 0; i < stream.offset.size(); ++i) offsets.push_back(block.slots[stream.slot[i]].base + stream.offset[i]);
  }
  return offsets;
}

TEST_F(AssemblerLongItems, PartsAreIterations) {
  StreamWriter whole, cut;
  begin(whole), gather(whole, 0, 1000, 5000), whole.end();
  begin(cut), gather(cut, 0, 1000, 50), cut.end();
  const auto one = assembled(whole), several = assembled(cut);
  ASSERT_EQ(one->executions.size(), 1U);
  ASSERT_EQ(several->executions.size(), 1U);
  EXPECT_EQ(one->executions[0].iterations, 1);
  EXPECT_EQ(several->executions[0].iterations, 10);  // cut at the first place where a hundred accesses are held
  EXPECT_EQ(several->executions[0].accesses, 1000U);
  EXPECT_EQ(several->regions[0].label, one->regions[0].label);
  EXPECT_EQ(offsets_of(*several), offsets_of(*one));
}

TEST_F(AssemblerLongItems, WhatFoldsIsAsIfNobodyHadAsked) {
  std::vector<std::string> hashes;
  for (const bool asks : {false, true}) {
    StreamWriter stream;
    begin(stream);
    for (std::uint64_t sweep = 0; sweep < 1000; ++sweep) {
      if (asks) stream.may_cut();
      stream.run(0, a_address, sweep * 100, 100, 8, 1);
    }
    stream.end();
    const auto trace = assembled(stream);
    EXPECT_EQ(trace->executions[0].iterations, 1);
    EXPECT_EQ(trace->patterns[0].runs.size(), 1U);
    hashes.push_back(result_.content_hash);
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST_F(AssemblerLongItems, ALabelIsWaitedFor) {
  StreamWriter stream;
  begin(stream);
  gather(stream, 0, 300, 50);  // cut, and not named by the label
  stream.label("gather");
  gather(stream, 300, 1000, 50);
  stream.end();
  const auto trace = assembled(stream);
  ASSERT_EQ(trace->executions.size(), 2U);
  EXPECT_EQ(trace->executions[0].iterations, 3);
  EXPECT_NE(trace->regions[trace->executions[0].region.index()].label, "gather");
  EXPECT_EQ(trace->executions[1].iterations, 1);
  EXPECT_EQ(trace->executions[1].accesses, 700U);
  EXPECT_EQ(trace->regions[trace->executions[1].region.index()].label, "gather");
}

TEST_F(AssemblerLongItems, EventsAndMarksStandInTheirIteration) {
  StreamWriter stream;
  begin(stream);
  gather(stream, 0, 101, 100);  // cut after 100
  stream.allocate(a_address + 0x10000, 64);
  stream.streamable(a_address, 400);
  gather(stream, 101, 150, 100);
  stream.end();
  assembled(stream);
  const TraceFile trace{folder_ / "trace.hnt"};
  ASSERT_EQ(trace.executions.at(0).iterations, 2);
  const auto body = trace.body(ExecutionId{0});
  const std::vector<HeapEvent>& events = trace.patterns[body->blocks.at(1).pattern.index()].heap_events;
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].sequence, 1U);
  ASSERT_EQ(trace.marks.size(), 1U);
  EXPECT_EQ(trace.marks[0].item.iteration, 1);
  EXPECT_EQ(trace.marks[0].sequence, 1U);
}

TEST_F(AssemblerLongItems, IterationsOfALoopAreLeftWhole) {
  StreamWriter stream;
  begin(stream);
  stream.parallel_begin(0);
  stream.loop_begin(0x3000, 1);
  stream.item(0);
  gather(stream, 0, 1000, 50);
  stream.loop_end();
  stream.parallel_end(0);
  stream.end();
  const auto trace = assembled(stream);
  const auto loop = std::find_if(trace->executions.begin(), trace->executions.end(), [](const auto& e) { return e.parallel != 0; });
  ASSERT_NE(loop, trace->executions.end());
  EXPECT_EQ(loop->iterations, 1);
  EXPECT_EQ(loop->accesses, 1000U);
}

}  // namespace
}  // namespace homenode
