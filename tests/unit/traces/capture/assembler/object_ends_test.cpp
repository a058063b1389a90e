// Accesses that begin in an object and end behind it.
#include <gtest/gtest.h>

#include "tests/support/assembler_fixture.hpp"
#include "tests/support/jacobi_stream.hpp"

namespace homenode {
namespace {

using namespace test::jacobi_stream;
using test::StreamWriter;

class AssemblerObjectEnds : public test::AssemblerFixture {};

std::uint64_t bytes_of_the_block(const Workload& trace) {
  for (const TracedObject& object : trace.objects)
    if (object.kind == ObjectKind::heap) return object.bytes;
  return 0;
}

TEST_F(AssemblerObjectEnds, AnObjectReachesAsFarAsItsAccesses) {
  StreamWriter single, several, backwards;
  for (StreamWriter* stream : {&single, &several, &backwards}) {
    stream->hello();
    stream->pc(0, HN_READ, 8);
    stream->allocate(a_address, 20);
  }
  single.run(0, a_address + 16, 0, 1, 0, 0);
  several.run(0, a_address, 0, 3, 8, 1);
  backwards.run(0, a_address + 16, 0, 3, -8, 1);
  for (StreamWriter* stream : {&single, &several, &backwards}) {
    stream->end();
    EXPECT_EQ(bytes_of_the_block(*assembled(*stream)), 24U);
  }
}

TEST_F(AssemblerObjectEnds, OthersKeepTheirSize) {
  StreamWriter stream;
  stream.hello();
  stream.pc(0, HN_READ, 4);
  stream.allocate(a_address, 20);
  stream.run(0, a_address, 0, 5, 4, 1);
  stream.end();
  EXPECT_EQ(bytes_of_the_block(*assembled(stream)), 20U);
}

}  // namespace
}  // namespace homenode
