// Which loads a core waits for, in loops of which that can be said by hand.
#include "models/core/load_waits.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "models/core/core_request.hpp"
#include "models/core/core_times.hpp"

namespace homenode::test {
namespace {

BlockTime first_block(const std::string& lines) {
  std::istringstream input{"cpu znver3\n" + lines + "end\n"};
  return core_times(read_core_request(input)).blocks.at(1);
}

// Of a block that is executed four hundred times in a row.
BlockTime repeated(const std::string& bytes) { return first_block("block 1 " + bytes + "\nsequence 1*400\n"); }

// Of one execution, of all instructions.
LoadWaits of(const BlockTime& block) {
  LoadWaits sum;
  for (const LoadWaits& each : block.waits) sum.loads += each.loads, sum.waited += each.waited;
  return sum;
}

const std::string next = "4883c101";  // add $1, %rcx

TEST(LoadWaits, areAllOfAListThatIsFollowed) {
  const BlockTime list = repeated("488b3f");  // mov (%rdi), %rdi
  EXPECT_DOUBLE_EQ(of(list).loads, 1);
  EXPECT_NEAR(of(list).waited, 1, 0.01);
}

TEST(LoadWaits, areOneOfTwoLoadsOfWhichOneLeadsOn) {
  const BlockTime list = repeated("488b4708488b3f");  // mov 8(%rdi), %rax; mov (%rdi), %rdi
  EXPECT_DOUBLE_EQ(of(list).loads, 2);
  ASSERT_EQ(list.waits.size(), 2u);
  EXPECT_NEAR(list.waits[0].waited, 0, 0.02);
  EXPECT_NEAR(list.waits[1].waited, 1, 0.02);
}

TEST(LoadWaits, areFewWhereAddressesAreComputed) {
  // mov (%rdi,%rcx,8), %rax: the reorder buffer of 256 holds 128 of them.
  const BlockTime array = repeated("488b04cf" + next);
  EXPECT_DOUBLE_EQ(of(array).loads, 1);
  EXPECT_LT(of(array).waited, 0.03);
}

TEST(LoadWaits, areFewOfASumThatIsCarried) {
  // add (%rdi,%rcx,8), %rax and addsd (%rdi,%rcx,8), %xmm0: a sum waits for the sum before it, not with its load.
  for (const std::string sum : {"480304cf", "f20f5804cf"}) {
    const BlockTime array = repeated(sum + next);
    EXPECT_DOUBLE_EQ(of(array).loads, 1) << sum;
    EXPECT_LT(of(array).waited, 0.03) << sum;
  }
}

TEST(LoadWaits, areThoseThatWrongBranchesCompare) {
  // mov (%rdi,%rcx,8), %rax; test %rax, %rax; je: of so many executions one is wrong.
  for (const int each : {2, 4, 8}) {
    std::string sequence = "sequence";
    for (int turn = 0; turn < 400; ++turn) sequence += " 1 2";
    const BlockTime branch =
        first_block("block 1 488b04cf4885c07407\nblock 2 " + next + "ebf0\nwrong 1 " + std::to_string(each) + "\n" + sequence + "\n");
    EXPECT_DOUBLE_EQ(of(branch).loads, 1) << each;
    EXPECT_NEAR(of(branch).waited, 1.0 / each, 0.02) << each;
  }
}

TEST(LoadWaits, countNoLoadsThatNoOuterCacheServes) {
  EXPECT_DOUBLE_EQ(of(repeated("488b442408")).loads, 0);      // mov 8(%rsp), %rax: of the stack
  EXPECT_DOUBLE_EQ(of(repeated("488b0500100000")).loads, 0);  // mov 4096(%rip), %rax: beside the code
  EXPECT_DOUBLE_EQ(of(repeated("488907488b07")).loads, 0);    // mov %rax, (%rdi); mov (%rdi), %rax: what was just stored
}

TEST(LoadWaits, areNotKnownOfABlockInNoSequence) {
  const BlockTime alone = first_block("block 1 488b3f\n");
  EXPECT_TRUE(alone.alone);
  EXPECT_DOUBLE_EQ(of(alone).loads + of(alone).waited, 0);
}

}  // namespace
}  // namespace homenode::test
