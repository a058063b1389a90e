// Cycles of loops on a Zen 3, where LLVM 19's `znver3` has others, against what an EPYC of family 25, model 1 takes (docs/decisions/0078).
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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

// Loops renamed memory and stored two a cycle; whole programs spoke against it (docs/decisions/0078).
TEST(Zen3, hasMemoryAsLlvmHasIt) {
  expect_cycles({{"488906488b06", 6},        // mov %rax, (%rsi); mov (%rsi), %rax
                 {"f20f1106f20f1006", 9},    // movsd %xmm0, (%rsi); movsd (%rsi), %xmm0
                 {times(8, "488916"), 8}});  // mov %rdx, (%rsi)
}

}  // namespace
}  // namespace homenode::test
