// Accesses that begin in an object and end behind it lie at its end.
#include <gtest/gtest.h>

#include "tests/support/assembler_fixture.hpp"
#include "tests/support/jacobi_stream.hpp"

namespace homenode {
namespace {

using namespace test::jacobi_stream;
using test::StreamWriter;

class AssemblerObjectEnds : public test::AssemblerFixture {
protected:
  // Of a block of 20 bytes, with the trace's own checks held.
  static void begin(StreamWriter& stream, unsigned width, bool bulk = false) {
    stream.hello();
    stream.opcode(HN_PC);
    stream.u(0), stream.u(HN_READ), stream.u(width), stream.u(bulk ? HN_FLAG_BULK : 0), stream.u(0), stream.u(0x1000);
    stream.allocate(a_address, 20);
  }
  struct Found {
    std::uint64_t accesses = 0;
    std::int64_t end = 0;  // of the access that reaches farthest
  };
  Found found(const StreamWriter& stream) {
    const auto trace = assembled(stream);
    Found found;
    const auto body = trace->body(ExecutionId{0});
    for (const ItemBlock& block : body->blocks)
      for (const AccessRun& run : trace->patterns[block.pattern.index()].runs) {
        found.accesses += run.accesses();
        std::int64_t last = block.slots[run.slot].base + run.offset;
        for (unsigned d = 0; d < run.dimensions; ++d)
          last += std::max<std::int64_t>(0, (static_cast<std::int64_t>(run.dimension[d].count) - 1) * run.dimension[d].stride);
        found.end = std::max(found.end, last + run.width);
      }
    return found;
  }
};

TEST_F(AssemblerObjectEnds, TheLastOneIsMovedBack) {
  StreamWriter single, forwards, backwards;
  for (StreamWriter* stream : {&single, &forwards, &backwards}) begin(*stream, 8);
  single.run(0, a_address + 16, 0, 1, 0, 0);
  forwards.run(0, a_address, 0, 3, 8, 1);
  backwards.run(0, a_address + 16, 0, 3, -8, 1);
  for (auto [stream, accesses] : {std::pair{&single, 1U}, std::pair{&forwards, 3U}, std::pair{&backwards, 3U}}) {
    stream->end();
    const Found one = found(*stream);
    EXPECT_EQ(one.accesses, accesses);
    EXPECT_EQ(one.end, 20);
  }
}

TEST_F(AssemblerObjectEnds, OfABulkOperationThePartInTheObjectIsTaken) {
  StreamWriter stream;
  begin(stream, 64, true);
  stream.run(0, a_address + 4, 0, 1, 0, 0);
  stream.end();
  const Found one = found(stream);
  EXPECT_EQ(one.accesses, 1U);
  EXPECT_EQ(one.end, 20);
}

TEST_F(AssemblerObjectEnds, PiecesBeforeItStayAsTheyAre) {
  StreamWriter stream;
  begin(stream, 16, true);
  stream.run(0, a_address, 0, 2, 16, 1);
  stream.end();
  const auto trace = assembled(stream);
  std::vector<unsigned> widths;
  for (const AccessRun& run : trace->patterns.at(0).runs) widths.push_back(run.width);
  EXPECT_EQ(widths, (std::vector<unsigned>{16, 4}));
}

TEST_F(AssemblerObjectEnds, OthersStayWhereTheyAre) {
  StreamWriter stream;
  begin(stream, 4);
  stream.run(0, a_address, 0, 4, 4, 1);
  stream.end();
  EXPECT_EQ(found(stream).end, 16);
}

}  // namespace
}  // namespace homenode
