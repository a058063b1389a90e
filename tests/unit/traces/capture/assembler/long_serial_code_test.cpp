// Serial code that does not fold is cut into executions of one region, where the runtime says that it may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/assembler_fixture.hpp"
#include "tests/support/jacobi_stream.hpp"

namespace homenode {
namespace {

using namespace test::jacobi_stream;
using test::StreamWriter;

class AssemblerLongSerialCode : public test::AssemblerFixture {
protected:
  AssemblerLongSerialCode() { long_serial_code_ = 100; }
  // Addresses without regularity; now and then the runtime says that here may be cut.
  static void gather(StreamWriter& stream, std::uint64_t from, std::uint64_t until, std::uint64_t each) {
    std::mt19937_64 random{from + 1};
    for (std::uint64_t sequence = from; sequence < until; ++sequence) {
      if (sequence % each == 0) stream.may_cut();
      stream.run(0, a_address + 8 * (random() % 1000), sequence, 1, 0, 0);
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
        for (std::size_t i = 0; i < stream.offset.size(); ++i)
          offsets.push_back(block.slots[stream.slot[i]].base + stream.offset[i]);
  }
  return offsets;
}

TEST_F(AssemblerLongSerialCode, PartsAreExecutionsOfOneRegion) {
  StreamWriter whole, cut;
  begin(whole), gather(whole, 0, 1000, 5000), whole.end();
  begin(cut), gather(cut, 0, 1000, 50), cut.end();
  const auto one = assembled(whole), several = assembled(cut);
  EXPECT_EQ(one->executions.size(), 1U);
  // Cut at the first place where a hundred accesses are held.
  ASSERT_EQ(several->executions.size(), 10U);
  ASSERT_EQ(several->regions.size(), 1U);
  EXPECT_EQ(several->regions[0].label, one->regions[0].label);
  for (const Execution& execution : several->executions) {
    EXPECT_EQ(execution.region, RegionId{0});
    EXPECT_EQ(execution.accesses, 100U);
  }
  EXPECT_EQ(offsets_of(*several), offsets_of(*one));
}

TEST_F(AssemblerLongSerialCode, WhatFoldsIsLeftWhole) {
  StreamWriter stream;
  begin(stream);
  for (std::uint64_t sweep = 0; sweep < 1000; ++sweep) {
    stream.may_cut();
    stream.run(0, a_address, sweep * 100, 100, 8, 1);
  }
  stream.end();
  EXPECT_EQ(assembled(stream)->executions.size(), 1U);
}

TEST_F(AssemblerLongSerialCode, ALabelIsWaitedFor) {
  StreamWriter stream;
  begin(stream);
  stream.label("gather");
  gather(stream, 0, 1000, 50);
  stream.end();
  const auto trace = assembled(stream);
  ASSERT_EQ(trace->executions.size(), 2U);  // what came before the label, and what it names
  EXPECT_EQ(trace->regions[trace->executions[1].region.index()].label, "gather");
  EXPECT_EQ(trace->executions[1].accesses, 1000U);
}

TEST_F(AssemblerLongSerialCode, IterationsOfALoopAreLeftWhole) {
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
  EXPECT_EQ(loop->accesses, 1000U);
}

}  // namespace
}  // namespace homenode
