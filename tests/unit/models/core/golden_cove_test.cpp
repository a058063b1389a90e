// Cycles of loops on a Golden Cove, where LLVM 19's `sapphirerapids` has others, against what a Xeon of family 6, model 207 takes
// (docs/decisions/0076).
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/block_cycles.hpp"

namespace homenode::test {
namespace {

double cycles(const std::string& bytes, const std::string& cpu = "sapphirerapids") { return block_cycles(bytes, cpu); }
void expect_cycles(const std::vector<std::pair<std::string, double>>& loops) { test::expect_cycles(loops, "sapphirerapids"); }

TEST(GoldenCove, givesASumToAnAdditionACycleSooner) {
  expect_cycles({{"f20f58c1", 2},                              // addsd %xmm1, %xmm0
                 {"c5fd5cc1c5fd58c1", 4},                      // vsubpd %ymm1, %ymm0, %ymm0; vaddpd of the same
                 {"f20f58c1f20f59c1", 7},                      // addsd; mulsd: three and four
                 {"660f7cc0", 5}});                            // haddpd %xmm0, %xmm0
  EXPECT_NEAR(cycles("f20f58c1", "icelake-server"), 4, 0.05);  // another core
}

TEST(GoldenCove, isWhateverLlvmDescribesByItsTables) {
  EXPECT_NEAR(cycles("f20f58c1", "emeraldrapids"), 2, 0.02);
  EXPECT_NEAR(cycles("f20f58c1", "graniterapids"), 2, 0.02);
}

TEST(GoldenCove, hasLatenciesOfItsOwn) {
  expect_cycles({{"66480f6ec066480f7ec0", 4},           // movq %rax, %xmm0 and back
                 {"f2480f2ac0f2480f2cc0", 12},          // cvtsi2sd %rax, %xmm0 and back
                 {"660fd7c0660f6ec0", 4},               // pmovmskb %xmm0, %eax; movd %eax, %xmm0
                 {"66480f3a22c00166480f7ec0", 5},       // pinsrq $1, %rax, %xmm0; movq %xmm0, %rax
                 {"4821d0", 1},                         // and %rdx, %rax
                 {"4883f001", 1},                       // xor $1, %rax
                 {"c4e2f1f7c0", 1},                     // shlx %rcx, %rax, %rax
                 {"488d0490", 2},                       // lea (%rax,%rdx,4), %rax
                 {"488d0410", 1},                       // lea (%rax,%rdx), %rax
                 {"488b04064883e000", 6},               // mov (%rsi,%rax), %rax; and $0, %rax
                 {"486304864883e000", 7},               // movslq (%rsi,%rax,4), %rax; and
                 {"f30f7e040666480f7ec04883e000", 9},   // movq (%rsi,%rax), %xmm0; movq %xmm0, %rax; and
                 {"c5fd100406c4e1f97ec04883e000", 10},  // vmovupd (%rsi,%rax), %ymm0; vmovq; and
                 {"4883e00048030406", 7},               // and $0, %rax; add (%rsi,%rax), %rax
                 {"4883c80731d248f7f1", 15},            // or $7, %rax; xor %edx, %edx; div %rcx
                 {"83c80731d2f7f1", 12},                // the same in 32 bits
                 {"99f7f983c807", 14},                  // cltd; idiv %ecx; or $7, %eax
                 {"4839c2480f47c2", 3},                 // cmp %rax, %rdx; cmova %rdx, %rax
                 {"4839d00f97c00fb6c0", 4}});           // cmp %rdx, %rax; seta %al; movzbl %al, %eax
}

TEST(GoldenCove, addsSmallConstantsWhereItRenames) {
  expect_cycles({{"4883c0014801d0", 1},          // add $1, %rax; add %rdx, %rax
                 {"4889c24801d0", 1},            // mov %rax, %rdx; add %rdx, %rax
                 {"83c001", 1},                  // add $1, %eax: 32 bits are executed
                 {"480500040000", 1},            // add $1024, %rax: so are larger constants
                 {"0fb6c0", 1}});                // movzbl %al, %eax: so is a move to the same register
  EXPECT_LT(cycles(times(6, "4883c001")), 1.1);  // six times add $1, %rax
  EXPECT_LT(cycles(times(6, "488d4008")), 1.1);  // lea 8(%rax), %rax
  EXPECT_LT(cycles("4805ff030000"), 0.2);        // add $1023, %rax
}

// Natively a renamed one takes nothing or a cycle, with what is done to it.
TEST(GoldenCove, renamesMemoryWhoseAddressHasNoIndex) {
  expect_cycles({{"5058", 1},                        // push %rax; pop %rax
                 {"48830601", 1},                    // addq $1, (%rsi)
                 {"480116", 6},                      // addq %rdx, (%rsi): 7 natively
                 {"4889441608488b4416084801d0", 6},  // mov %rax, 8(%rsi,%rdx); mov back; add %rdx, %rax: 7 natively
                 {"f20f1006f20f59c1f20f1106", 9},    // movsd (%rsi), %xmm0; mulsd %xmm1, %xmm0; movsd %xmm0, (%rsi)
                 {"f20f1006f20f58c1f20f1106", 8}});  // the same with addsd
}

TEST(GoldenCove, hasUnitsOfItsOwn) {
  expect_cycles({{times(5, "4c8d0432"), 1},        // lea (%rdx,%rsi), %r8: 5 a cycle
                 {times(6, "4c8d04b2"), 2},        // lea (%rdx,%rsi,4), %r8: 3
                 {times(6, "4c8d4208"), 1},        // lea 8(%rdx), %r8: what the front end hands over, 6
                 {times(6, "4989d0"), 1},          // mov %rdx, %r8
                 {times(6, "90"), 1},              // nop
                 {times(6, "c5f857c0"), 1},        // vxorps %xmm0, %xmm0, %xmm0
                 {times(4, "410f94c0"), 2},        // sete %r8b: 2
                 {times(2, "c4c10b5ec7"), 8},      // vdivsd %xmm15, %xmm14, %xmm0: one in 4 cycles
                 {times(2, "c4c10b51c6"), 12},     // vsqrtsd: 6
                 {times(2, "c4c10d5ec7"), 16},     // vdivpd of 256 bits: 8
                 {times(4, "62d18d4859c7"), 2}});  // vmulpd of 512 bits: 2 a cycle
}

// Four moves and two more places in the front end are a cycle; three are 7/6.
TEST(GoldenCove, handsOverPairsAsOne) {
  const std::string moves = "4989d04989c94989d24989cb", nothing = "90";
  expect_cycles({{times(6, "4839d07c00" + nothing + moves), 6},  // cmp %rdx, %rax; jl
                 {times(6, "483b067400" + nothing + moves), 6},  // cmp (%rsi), %rax; je
                 {times(6, "4809d37500" + nothing + moves), 7},  // or %rdx, %rbx; jne are two
                 {times(6, "833e017400" + nothing + moves), 7},  // cmpl $1, (%rsi); je, too
                 {times(6, "488906" + nothing + moves), 6},      // mov %rax, (%rsi): a store is one
                 {times(6, "4c0304d6" + nothing + moves), 6}});  // add (%rsi,%rdx,8), %r8: and a load with its operation
}

// Loops over arrays of doubles, by base and index: cycles of an iteration within a tenth of native ones.
TEST(GoldenCove, countsThePartsOfVectorCode) {
  const std::string next = "4883c0084839d075fe";  // add $8, %rax; cmp %rdx, %rax; jne
  const std::string load = "f20f100c06", product = "f20f59ca", of_memory = "f2410f590c00", sum = "f20f580c07", store = "f20f110c07";
  EXPECT_NEAR(cycles(load + product + sum + store + next), 1.25, 0.13);              // y = a x + y
  EXPECT_NEAR(cycles(load + product + of_memory + sum + store + next), 1.62, 0.16);  // y = a x z + y
}

}  // namespace
}  // namespace homenode::test
