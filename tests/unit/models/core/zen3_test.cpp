// Cycles of loops on a Zen 3, where LLVM 19's `znver3` has others, against what an EPYC of family 25, model 1 takes (docs/decisions/0078,
// 0091).
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "models/core/core_request.hpp"
#include "models/core/core_times.hpp"
#include "tests/support/block_cycles.hpp"

namespace homenode::test {
namespace {

void expect_cycles(const std::vector<std::pair<std::string, double>>& loops) { test::expect_cycles(loops, "znver3"); }

TEST(Zen3, takesLongerBetweenGeneralAndVectorRegisters) {
  expect_cycles({{"66480f6ec066480f7ec0", 6},      // movq %rax, %xmm0 and back
                 {"f2480f2ac0f2480f2cc0", 13},     // cvtsi2sd %rax, %xmm0; cvttsd2si %xmm0, %rax
                 {"f2480f2ac066480f7ec0", 10},     // cvtsi2sd %rax, %xmm0; movq %xmm0, %rax
                 {"660fd7c0660f6ec0", 6},          // pmovmskb %xmm0, %eax; movd %eax, %xmm0
                 {"66480f3a16c00166480f6ec0", 7},  // pextrq $1, %xmm0, %rax; movq %rax, %xmm0
                 {"66480f3a22c00166480f7ec0", 7},  // pinsrq $1, %rax, %xmm0; movq %xmm0, %rax
                 {"660f2ec10f97c0660f6ec0", 9}});  // ucomisd %xmm1, %xmm0; seta %al; movd %eax, %xmm0
}

TEST(Zen3, hasUnitsOfItsOwn) {
  expect_cycles({{times(8, "4c8d0432"), 2},                                                  // lea (%rdx,%rsi), %r8: four a cycle
                 {times(8, "4c8d04b2"), 2},                                                  // lea (%rdx,%rsi,4), %r8
                 {times(8, "4c8d44b205"), 4},                                                // lea 5(%rdx,%rsi,4), %r8: two
                 {"410f94c0410f94c1410f94c2410f94c3410f94c4410f94c5410f94c6410f94c7", 4}});  // sete %r8b: two
}

TEST(Zen3, dividesShortQuotientsInNineCycles) {
  expect_cycles({{"4883c80731d248f7f1", 10},  // or $7, %rax; xor %edx, %edx; div %rcx
                 {"83c80731d2f7f1", 10}});    // or $7, %eax; xor %edx, %edx; div %ecx
}

TEST(Zen3, renamesMemoryOfTheStackAlone) {
  expect_cycles({{"4889442440488b442440", 1},        // mov %rax, 64(%rsp); mov 64(%rsp), %rax
                 {"488945c0488b45c0", 1},            // of rbp
                 {"4801542440", 1},                  // add %rdx, 64(%rsp)
                 {"5058", 1},                        // push %rax; pop %rax
                 {"4889442440034424404883e000", 8},  // mov %rax, 64(%rsp); add 64(%rsp), %rax; and $0, %rax
                 {"488906488b06", 6},                // of rsi
                 {"480116", 6},                      // add %rdx, (%rsi)
                 {"884424400fb6442440", 6},          // movb %al, 64(%rsp); movzbl 64(%rsp), %eax
                 {"f20f1106488b0666480f6ec0", 10},   // movsd %xmm0, (%rsi); mov (%rsi), %rax; movq %rax, %xmm0
                 {"f20f1106f20f1006", 9}});          // movsd %xmm0, (%rsi); movsd (%rsi), %xmm0
}

TEST(Zen3, loadsAndStoresThreeACycle) {
  expect_cycles({{times(8, "488916"), 4},                              // mov %rdx, (%rsi)
                 {times(8, "f20f1106"), 8},                            // movsd %xmm0, (%rsi)
                 {times(4, "4c8b064901d04c894640"), 8.0 / 3},          // mov (%rsi), %r8; add %rdx, %r8; mov %r8, 64(%rsi)
                 {times(4, "f20f1006f20f584608f20f118600010000"), 4},  // movsd, addsd 8(%rsi), movsd to 256(%rsi)
                 {"488b04064883e000", 5},                              // mov (%rsi,%rax), %rax; and $0, %rax
                 {"488b04c64883e000", 6}});                            // scaled by 8
}

TEST(Zen3, keepsWhatFencesTake) { EXPECT_GT(block_cycles("0faef0", "znver3"), 20); }  // mfence

TEST(Zen3, storesTwoToALineACycle) {
  expect_cycles({{"488906488946404889460848894648", 4},    // of two lines in turn
                 {"488906488946084889464048894648", 2}});  // by twos
}

TEST(Zen3, takesAComparisonAndItsBranchForOne) {
  EXPECT_NEAR(block_cycles(times(5, "90") + "4839d07400", "znver3"), 1, 0.05);        // cmp %rdx, %rax; je
  EXPECT_NEAR(block_cycles(times(5, "90") + "48d1e07000", "znver3"), 7.0 / 6, 0.05);  // shl %rax; jo
}

// A loop of no-operations, of 1 or 8 bytes, and a jump back, with its address: where it begins in its line is not known.
double cycles_of_loop(int nops, int bytes = 1) {
  constexpr int jump = 2;
  std::ostringstream request;
  request << "cpu znver3\nblock 1 " << times(nops, bytes == 1 ? "90" : "0f1f840000000000") << "eb" << std::hex << 256 - nops * bytes - jump
          << " 401000\nsequence 1*400\nend\n";
  std::istringstream input{request.str()};
  return core_times(read_core_request(input)).blocks.at(1).cycles;
}

// Measured with loops that begin 0, 8, ... 56 bytes behind a line's begin.
TEST(Zen3, fetchesEightOperationsOfALineACycle) {
  EXPECT_NEAR(cycles_of_loop(5), 1, 0.05);
  EXPECT_NEAR(cycles_of_loop(7), 8.0 / 6, 0.05);
  EXPECT_NEAR(cycles_of_loop(9), 2, 0.05);
  EXPECT_NEAR(cycles_of_loop(13), 14.0 / 6, 0.05);
  EXPECT_NEAR(cycles_of_loop(21), 22.0 / 6, 0.05);
  // Five no-operations of 8 bytes: two lines where the loop begins at 32 or 48 bytes.
  EXPECT_NEAR(cycles_of_loop(5, 8), 1.5, 0.05);
}

// Blocks of a window that the front end limits are counted once, whatever the number of places that were simulated.
TEST(Zen3, countsExecutionsOncePerSequence) {
  const std::string nops = times(5, "0f1f840000000000");
  std::istringstream input{"cpu znver3\nblock 1 " + nops + "ebd6 401000\nblock 2 " + nops + "ebd6\nsequence 1*400\nsequence 2*400\nend\n"};
  const BlockTimes times = core_times(read_core_request(input));
  EXPECT_EQ(times.blocks.at(1).executions, times.blocks.at(2).executions);
  const auto of = [&](std::uint64_t id) { return times.blocks.at(id).cycles * static_cast<double>(times.blocks.at(id).executions); };
  EXPECT_NEAR(times.measured_cycles, of(1) + of(2), 1e-6);
  EXPECT_EQ(times.blocks.at(1).bound, "front end");
}

TEST(Zen3, takesTwoCyclesForACallAndForAReturn) {
  std::istringstream input{"cpu znver3\nblock 1 e800000000 401000\nblock 2 c3 402000\nsequence" + times(200, " 1 2") + "\nend\n"};
  const BlockTimes times = core_times(read_core_request(input));
  EXPECT_NEAR(times.blocks.at(1).cycles + times.blocks.at(2).cycles, 4.2, 0.2);
}

}  // namespace
}  // namespace homenode::test
