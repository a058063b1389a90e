// The stretches of a parallel construct: one place in the source is one region, and code is bound to ranks only where they differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/assembler_fixture.hpp"

namespace homenode {
namespace {

using test::StreamWriter;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::uint64_t block = 0x5000'0000'0000;

class AssemblerStretches : public test::AssemblerFixture {
protected:
  // A stream that has a block, and a site of writes.
  static StreamWriter begin(unsigned team) {
    StreamWriter stream;
    stream.hello(team);
    stream.pc(0, HN_WRITE, 8);
    stream.allocate(block, 8000);
    return stream;
  }
  static void loop(StreamWriter& stream, std::uint64_t site) {
    stream.loop_begin(site, 1);
    stream.item(0), stream.run(0, block, 0, 1, 0, 0);
    stream.loop_end();
    stream.barrier(site);
  }
  static void code(StreamWriter& stream, std::uint64_t address = block) { stream.run(0, address, 0, 1, 0, 0); }
  std::map<std::string, int> executions(const Workload& workload) const {
    std::map<std::string, int> count;
    for (const Execution& execution : workload.executions) {
      const std::string& label = workload.regions[execution.region.index()].label;
      if (execution.parallel != 0) ++count[label.substr(label.find('#'))];
    }
    return count;
  }
  const Execution& parallel_code(const Workload& workload) const {
    for (const Execution& execution : workload.executions)
      if (execution.parallel != 0 && workload.regions[execution.region.index()].kind == RegionKind::thread) return execution;
    throw std::out_of_range("no code");
  }
};

TEST_F(AssemblerStretches, aConstructInALoopIsOneRegionWithManyExecutions) {
  StreamWriter stream = begin(1);
  stream.parallel_begin(0);
  code(stream);
  for (int k = 0; k < 3; ++k) {
    loop(stream, 0x3000);
    code(stream);
    loop(stream, 0x3100);
    code(stream);
    stream.barrier(0x3200);
    code(stream);
  }
  stream.parallel_end(0);
  stream.end();
  const auto workload = assembled(stream);
  // As many as before: the code is numbered by its place in the first round.
  EXPECT_THAT(executions(*workload), ElementsAre(Pair("#0", 3), Pair("#0.1", 3), Pair("#0:code", 1), Pair("#0:code2", 3),
                                                 Pair("#0:code4", 3), Pair("#0:code5", 3)));
}

TEST_F(AssemblerStretches, placesKeepTheirNamesWhereSomeAreLeftOut) {
  StreamWriter stream = begin(1);
  for (const bool both : {true, false}) {
    stream.parallel_begin(both ? 0 : 1);
    if (both) loop(stream, 0x3000);
    loop(stream, 0x3100);
    code(stream);
    stream.parallel_end(both ? 0 : 1);
  }
  stream.end();
  EXPECT_THAT(executions(*assembled(stream)), ElementsAre(Pair("#0", 1), Pair("#0.1", 2), Pair("#0:code4", 2)));
}

TEST_F(AssemblerStretches, codeThatAsksForItsRankIsBoundOnlyIfRanksDiffer) {
  for (const bool differ : {false, true}) {
    StreamWriter stream = begin(2);
    stream.parallel_begin(0, 2);
    for (unsigned rank = 0; rank < 2; ++rank) {
      if (rank != 0) stream.rank(rank);
      stream.user_rank();
      code(stream, differ ? block + 8 * rank : block);
    }
    stream.rank(0);
    stream.parallel_end(0);
    stream.end();
    const auto workload = assembled(stream);
    EXPECT_EQ(parallel_code(*workload).binding, differ ? Binding::rank : Binding::replicated);
    EXPECT_EQ(parallel_code(*workload).iterations, differ ? 2 : 1);
  }
}

TEST_F(AssemblerStretches, codeBeforeTheQuestionIsNotBound) {
  StreamWriter stream = begin(2);
  stream.parallel_begin(0, 2);
  for (unsigned rank = 0; rank < 2; ++rank) {
    if (rank != 0) stream.rank(rank);
    code(stream, block + 8 * rank);
    stream.barrier(0x3000);
    stream.user_rank();
    code(stream, block + 8 * rank);
  }
  stream.rank(0);
  stream.parallel_end(0);
  stream.end();
  const auto workload = assembled(stream);
  ASSERT_EQ(workload->executions.size(), 3u);  // serial code, two stretches
  EXPECT_EQ(workload->executions[1].binding, Binding::replicated);
  EXPECT_EQ(workload->executions[2].binding, Binding::rank);
}

TEST_F(AssemblerStretches, whatKnowsItsRankKeepsItBehindABarrier) {
  StreamWriter stream = begin(2);
  stream.parallel_begin(0, 2);
  for (unsigned rank = 0; rank < 2; ++rank) {
    if (rank != 0) stream.rank(rank);
    stream.user_rank();
    code(stream);
    stream.barrier(0x3000);
    code(stream, block + 8 * rank);
  }
  stream.rank(0);
  stream.parallel_end(0);
  stream.end();
  const auto workload = assembled(stream);
  ASSERT_EQ(workload->executions.size(), 3u);
  EXPECT_EQ(workload->executions[1].binding, Binding::replicated);  // both do the same
  EXPECT_EQ(workload->executions[2].binding, Binding::rank);
}

}  // namespace
}  // namespace homenode
