// What stores take a core and the loads of their data, against a Xeon of family 6, model 207 (docs/decisions/0084, 0085).
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "models/core/core_request.hpp"
#include "models/core/core_times.hpp"
#include "tests/support/block_cycles.hpp"

namespace homenode::test {
namespace {

const std::string golden_cove = "sapphirerapids";
const std::string loop = "ffc975f0";  // dec %ecx; jne

std::string store(int offset) {  // mov %rax, offset(%rsi)
  constexpr char digits[] = "0123456789abcdef";
  return std::string{"488946"} + digits[offset / 16] + digits[offset % 16];
}

TEST(StoreBuffer, GivesTwoOfALineACycleAndElseOne) {
  const std::string one_line = store(0) + store(8) + store(16) + store(24) + store(32) + store(40) + store(48) + store(56);
  const std::string in_turn = store(0) + store(64) + store(8) + store(72) + store(16) + store(80) + store(24) + store(88);
  const std::string by_twos = store(0) + store(8) + store(64) + store(72) + store(16) + store(24) + store(80) + store(88);
  EXPECT_NEAR(block_cycles(one_line + loop, golden_cove), 4, 0.1);
  EXPECT_NEAR(block_cycles(in_turn + loop, golden_cove), 8, 0.1);
  EXPECT_NEAR(block_cycles(by_twos + loop, golden_cove), 4, 0.1);
  EXPECT_NEAR(block_cycles(in_turn + loop, "icelake-server"), block_cycles(one_line + loop, "icelake-server"), 0.1);  // not measured
}

TEST(StoreBuffer, HoldsWhereCallsReturnTo) {
  // Calls and stores of another line in turn.
  const std::string calls = "e800000000" + store(0) + "e800000000" + store(0) + "e800000000" + store(0);
  EXPECT_NEAR(block_cycles(calls, golden_cove), 6, 0.3);
}

TEST(StoreBuffer, HoldsNoPrefetches) { EXPECT_LT(block_cycles(times(8, "0f180e"), golden_cove), 4.1); }

TEST(StoreBuffer, IsEmptyWhereABlockStandsAlone) {
  std::istringstream input{"cpu " + golden_cove + "\nblock 1 " + store(0) + store(8) + loop + "\nend\n"};
  EXPECT_LT(core_times(read_core_request(input)).blocks.at(1).cycles, 1.3);
}

// movsd 0x100(%rip), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, 0xf4(%rip): the same eight bytes; and by (%rsi).
TEST(Forwarding, TakesAsLongRelativeToTheInstructionPointer) {
  const double by_register = block_cycles("f20f1006f20f58c1f20f1106", golden_cove);
  EXPECT_NEAR(block_cycles("f20f100500010000f20f58c1f20f1105f4000000", golden_cove), by_register, 0.01);
}

TEST(Forwarding, TakesLongWhereNoStoreHasAllBytes) {
  constexpr double measured = 17;                                                     // 15 to 19
  EXPECT_NEAR(block_cycles("c5f9d606c5fa6f06", golden_cove), measured, 1);            // vmovq %xmm0, (%rsi); vmovdqu (%rsi), %xmm0
  EXPECT_NEAR(block_cycles("8906488b06", golden_cove), measured, 1);                  // mov %eax, (%rsi); mov (%rsi), %rax
  EXPECT_NEAR(block_cycles("488906488b4604", golden_cove), measured, 1);              // mov %rax, (%rsi); mov 4(%rsi), %rax
  EXPECT_NEAR(block_cycles("c5f9d606c5f9d64608c5fa6f06", golden_cove), measured, 1);  // two of 8 bytes, a load of 16
  EXPECT_NEAR(block_cycles("c5fa7f06c5fa7e4608c5f96cc0", golden_cove), 6, 1);         // one of 16, a load of its upper 8; vpunpcklqdq
  EXPECT_LT(block_cycles("c5f9d606c5fa6f0e", golden_cove), 2);                        // vmovdqu (%rsi), %xmm1: nothing is carried
  EXPECT_NEAR(block_cycles("8906488b06", "icelake-server"), block_cycles("488906488b06", "icelake-server"), 0.05);
}

TEST(ValueWalk, KnowsThatTheSameOperationsGiveTheSameAddress) {
  // lea 7(%rbp), %eax; sar $3, %eax; sub $1, %eax; cltq; mov (%rbx,%rax,8), %rdx; mov (%rdx), %rsi; mov %rsi, (%rbx,%rax,8): takes the
  // first of a list, as glpk's dmp_get_atom does; two loads of 5 cycles, measured 9.95.
  const std::string takes = "8d4507c1f80383e8014898488b14c3488b32488934c3";
  EXPECT_NEAR(block_cycles(takes, golden_cove), 10, 0.1);
  // Of another list in each turn: add $8, %ebp.
  EXPECT_LT(block_cycles("83c508" + takes, golden_cove), 3);
  // Where an operand is not known to be the same: mov (%rdi), %ebp; add $8, %rdi.
  EXPECT_LT(block_cycles("8b2f4883c708" + takes, golden_cove), 3.5);
}

TEST(ValueWalk, TellsOperationsApartThatReadMoreThanTheyName) {
  // Between a store and a load of (%rbx,%rax,8) something makes %rax anew: the load is another one, or the same.
  const auto beside = [](const std::string& makes) { return block_cycles(makes + "488b14c3" + makes + "488914c3", golden_cove); };
  EXPECT_NEAR(beside("0fb6c1"), 5, 0.1);                    // movzbl %cl, %eax
  EXPECT_LT(beside("8a064883c601"), 3);                     // mov (%rsi), %al; add $1, %rsi: the rest of %rax is as before
  EXPECT_NEAR(beside("4889c84805001000004801c8"), 5, 0.1);  // mov %rcx, %rax; add $4096, %rax; add %rcx, %rax
  EXPECT_LT(beside("6639064883c6020f94c0"), 3);             // cmp %ax, (%rsi); add $2, %rsi; sete %al
  EXPECT_LT(beside("3b0e8d7601ffc719c0"), 3.5);             // cmp (%rsi), %ecx; lea 1(%rsi), %esi; inc %edi; sbb %eax, %eax
  EXPECT_LT(beside("668d064883c602"), 3);                   // lea (%rsi), %ax; add $2, %rsi
}

TEST(ValueWalk, KnowsCountersInMemory) {
  // addl $1, (%rsi); mov (%rsi), %eax; cltq; mov %rdx, (%rbx,%rax,8); then mov (%rbx,%rax,8), %rdx: what this turn stored; or the place
  // before, which the last turn stored: two turns in 5 cycles.
  const std::string counts = "8306018b064898488914c3";
  EXPECT_NEAR(block_cycles(counts + "488b14c3", golden_cove), 5, 0.1);
  EXPECT_NEAR(block_cycles(counts + "488b54c3f8", golden_cove), 2.5, 0.1);
}

// Of a store to where %rax points, a call, and a load from there; the load's block begins so far behind the call.
double beside_a_call(int behind) {
  std::ostringstream request;
  request << "cpu znver3\nblock 1 488908e800000000 401000\nblock 2 488b08 " << std::hex << 0x401008 + behind << std::dec << "\nsequence";
  for (int i = 0; i < 200; ++i) request << " 1 2";
  request << "\nend\n";
  std::istringstream input{request.str()};
  const BlockTimes times = core_times(read_core_request(input));
  return times.blocks.at(1).cycles + times.blocks.at(2).cycles;
}

TEST(ValueWalk, TakesABlockALittleBehindACallForTheOneItReturnsTo) {
  EXPECT_GT(beside_a_call(4096), 5);  // the callee's
  EXPECT_LT(beside_a_call(102), 3);   // %rax is the result of what is not in the sequence
  EXPECT_LT(beside_a_call(159), 3);
  EXPECT_GT(beside_a_call(160), 5);
}

}  // namespace
}  // namespace homenode::test
