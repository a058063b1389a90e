// What the program says of itself, and how marks cut its serial code into executions.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/base/errors.hpp"
#include "tests/support/assembler_fixture.hpp"
#include "tests/support/jacobi_stream.hpp"
#include "traces/format/trace_file.hpp"

namespace homenode {
namespace {

using namespace test::jacobi_stream;
using test::StreamWriter;

class AssemblerMarks : public test::AssemblerFixture {};

void mark(StreamWriter& stream, int kind, std::int64_t value, std::uint64_t address = 0, std::uint64_t bytes = 0,
          const std::string& text = "") {
  stream.opcode(HN_MARK);
  stream.u(static_cast<std::uint64_t>(kind)), stream.u(static_cast<std::uint64_t>(value)), stream.u(address), stream.u(bytes);
  stream.text(text);
}

TEST_F(AssemblerMarks, MarksStandWhereTheProgramMadeThem) {
  StreamWriter stream;
  stream.hello(2);
  stream.pc(0, HN_WRITE, 8);
  stream.allocate(a_address, 800);
  stream.run(0, a_address, 0, 5, 8, 1);
  mark(stream, HN_MARK_OWNER, 1, a_address);            // after 5 accesses of serial code
  mark(stream, HN_MARK_STREAMABLE, 0, a_address, 400);  // the same place
  for (std::int64_t step = 0; step < 2; ++step) {
    mark(stream, HN_MARK_STEP, step);
    stream.label("sweep");
    stream.parallel_begin(static_cast<std::uint64_t>(step));
    stream.loop_begin(0x3000, 2);
    stream.item(0), stream.run(0, a_address, 0, 3, 8, 1);
    stream.item(1), stream.run(0, a_address, 0, 3, 8, 1);
    mark(stream, HN_MARK_THREAD_TYPE, 0, 0, 0, "worker");  // in iteration 1, after its 3 accesses
    stream.loop_end();
    stream.parallel_end(static_cast<std::uint64_t>(step));
  }
  mark(stream, HN_MARK_STEP, -1);
  stream.run(0, a_address, 0, 1, 8, 1);
  stream.end();
  assembled(stream);
  const TraceFile trace{folder_ / "trace.hnt"};
  // serial, sweep of step 0, sweep of step 1, serial
  std::vector<std::int64_t> steps;
  for (const Execution& execution : trace.executions) steps.push_back(execution.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{-1, 0, 1, -1}));
  struct Place {
    MarkOperation operation;
    std::size_t execution;
    std::int64_t iteration;
    std::uint64_t sequence;
    std::int64_t value;
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> places;
  for (const Mark& each : trace.marks) {
    places.push_back({each.operation, each.item.execution.index(), each.item.iteration, each.sequence, each.value});
    if (each.operation == MarkOperation::owner) { EXPECT_EQ(trace.objects[each.object.index()].bytes, 800u); }
    if (each.operation == MarkOperation::thread_type) { EXPECT_EQ(each.text, "worker"); }
  }
  EXPECT_EQ(places, (std::vector<Place>{{MarkOperation::owner, 0, 0, 5, 1},
                                        {MarkOperation::streamable, 0, 0, 5, 400},
                                        {MarkOperation::step, 1, 0, 0, 0},
                                        {MarkOperation::label, 1, 0, 0, 0},
                                        {MarkOperation::thread_type, 1, 1, 3, 0},
                                        {MarkOperation::step, 2, 0, 0, 1},
                                        {MarkOperation::label, 2, 0, 0, 0},
                                        {MarkOperation::thread_type, 2, 1, 3, 0},
                                        {MarkOperation::step, 3, 0, 0, -1}}));
}

TEST_F(AssemblerMarks, AStepEndsTheSerialCodeThatALabelNames) {
  StreamWriter stream;
  stream.hello();
  stream.pc(0, HN_WRITE, 8);
  stream.allocate(a_address, 800);
  stream.label("init");
  stream.run(0, a_address, 0, 100, 8, 1);
  mark(stream, HN_MARK_STEP, 0);
  stream.label("sweep");
  mark(stream, HN_MARK_STEP, 1);  // no code in between: the label is still for what comes
  stream.parallel_begin(0);
  stream.loop_begin(0x3000, 1);
  stream.item(0), stream.run(0, a_address, 0, 3, 8, 1);
  stream.loop_end();
  stream.parallel_end(0);
  stream.end();
  const auto workload = assembled(stream);
  std::map<std::string, std::uint64_t> writes;
  for (const Execution& execution : workload->executions) writes[workload->regions[execution.region.index()].label] += execution.writes;
  EXPECT_EQ(writes["init"], 100u);
  EXPECT_EQ(writes["sweep"], 3u);
}

TEST_F(AssemblerMarks, SerialCodeThatAMarkCutsCountsItsOwnAccesses) {
  StreamWriter stream;
  stream.hello();
  stream.pc(0, HN_WRITE, 8);
  stream.pc(1, HN_READ, 8);
  stream.allocate(a_address, 800);
  stream.run(0, a_address, 0, 100, 8, 1);
  stream.label("sum");
  stream.run(1, a_address, 100, 100, 8, 1);  // the stream's item goes on: its 101st access
  stream.release(a_address);
  stream.end();
  const auto workload = assembled(stream);
  ASSERT_EQ(workload->executions.size(), 2u);
  EXPECT_EQ(workload->regions[workload->executions[1].region.index()].label, "sum");
  const auto body = workload->body(ExecutionId{1});
  const ItemPattern& pattern = workload->patterns[body->blocks.at(0).pattern.index()];
  // 100 accesses from number 0 on; the block goes after the last of them
  ASSERT_EQ(pattern.runs.size(), 1u);
  EXPECT_EQ(pattern.runs[0].sequence, 0u);
  ASSERT_EQ(pattern.heap_events.size(), 1u);
  EXPECT_EQ(pattern.heap_events[0].sequence, 100u);
}

TEST_F(AssemblerMarks, SerialCodeIsOneRegionForEachPlaceItBeginsAt) {
  StreamWriter stream;
  stream.hello();
  stream.pc(0, HN_WRITE, 8);
  stream.pc(1, HN_READ, 8);
  stream.allocate(a_address, 800);
  for (std::uint64_t round = 0; round < 3; ++round) {
    stream.run(0, a_address, 0, 1, 8, 1);  // begins at site 0 each time
    stream.parallel_begin(2 * round);
    stream.parallel_end(2 * round);
    stream.run(1, a_address, 0, 1, 8, 1);  // and at site 1
    stream.parallel_begin(2 * round + 1);
    stream.parallel_end(2 * round + 1);
  }
  stream.end();
  const auto workload = assembled(stream);
  std::vector<std::string> labels;
  for (const Region& region : workload->regions) labels.push_back(region.label);
  // no symbols here: the function is taken to be main
  EXPECT_EQ(labels, (std::vector<std::string>{"main:serial#0", "main:serial#1"}));
  EXPECT_EQ(workload->executions.size(), 6u);
}

}  // namespace
}  // namespace homenode
