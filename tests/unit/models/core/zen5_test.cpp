// Cycles of loops on a Zen 5, of which LLVM 19 has no model, against what an EPYC of family 26 takes (docs/decisions/0071).
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/block_cycles.hpp"

namespace homenode::test {
namespace {

double cycles(const std::string& bytes, const std::string& cpu = "znver5") { return block_cycles(bytes, cpu); }

// `count` copies of an instruction whose byte at `at` grows by `step`: a displacement, or a register.
std::string rising(std::string bytes, std::size_t at, unsigned step, unsigned count) {
  std::string all;
  for (unsigned i = 0; i < count; ++i) {
    const auto value = static_cast<unsigned>(std::stoul(bytes.substr(2 * at, 2), nullptr, 16));
    all += bytes;
    static constexpr char digits[] = "0123456789abcdef";
    bytes[2 * at] = digits[(value + step) / 16 % 16];
    bytes[2 * at + 1] = digits[(value + step) % 16];
  }
  return all;
}

TEST(Zen5, givesASumToAnAdditionACycleSooner) {
  EXPECT_NEAR(cycles("f20f58c1"), 2, 0.02);            // addsd %xmm1, %xmm0
  EXPECT_NEAR(cycles("f20f5807"), 2, 0.02);            // addsd (%rdi), %xmm0
  EXPECT_NEAR(cycles("c5fd5cc1c5fd58c1"), 4, 0.02);    // vsubpd %ymm1, %ymm0, %ymm0; vaddpd of the same
  EXPECT_NEAR(cycles("f20f58c1f20f59c1"), 6, 0.02);    // addsd; mulsd: three and three
  EXPECT_NEAR(cycles("f20f58c1", "znver4"), 3, 0.02);  // another core
}

TEST(Zen5, hasLatenciesOfItsOwn) {
  const std::vector<std::pair<std::string, double>> chains{
      {"660ffec1", 2},                   // paddd %xmm1, %xmm0
      {"660fefc1", 2},                   // pxor %xmm1, %xmm0
      {"660f14c1", 2},                   // unpcklpd %xmm1, %xmm0
      {"66480f6ec066480f7ec0", 9},       // movq %rax, %xmm0 and back
      {"f2480f2ac0f2480f2cc0", 13},      // cvtsi2sd %rax, %xmm0 and back
      {"488b00", 4},                     // mov (%rax), %rax
      {"48630486", 6},                   // movslq (%rsi,%rax,4), %rax
      {"f30f7e040666480f7ec0", 9},       // movq (%rsi,%rax), %xmm0; movq %xmm0, %rax
      {"488d0440", 1},                   // lea (%rax,%rax,2), %rax
      {"8d449005", 2},                   // the same in 32 bits
      {"660f1606", 2},                   // movhpd (%rsi), %xmm0
      {"488d449005", 2},                 // lea 5(%rax,%rdx,4), %rax
      {"4839c2480f44c2", 2},             // cmp %rax, %rdx; cmove %rdx, %rax
      {"4839c2480f4cc2", 3},             // cmp %rax, %rdx; cmovl %rdx, %rax
      {"f0480117", 20},                  // lock add %rdx, (%rdi)
      {"f20f1006f20f58c1f20f1106", 12},  // movsd (%rsi), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, (%rsi): forwarded in 9, and 3
  };
  for (const auto& [bytes, measured] : chains) EXPECT_NEAR(cycles(bytes), measured, 0.05) << bytes;
}

TEST(Zen5, hasUnitsOfItsOwn) {
  EXPECT_NEAR(cycles(rising("488b4600", 3, 8, 8)), 2, 0.05);    // mov i(%rsi), %rax: 4 loads a cycle
  EXPECT_NEAR(cycles(rising("f20f104600", 4, 8, 8)), 4, 0.05);  // movsd i(%rsi), %xmm0: 2
  EXPECT_NEAR(cycles(rising("48894600", 3, 8, 8)), 4, 0.05);    // mov %rax, i(%rsi): 2 stores
  EXPECT_NEAR(cycles(rising("f20f114600", 4, 8, 8)), 4, 0.05);  // movsd %xmm0, i(%rsi): 2
  EXPECT_NEAR(cycles(rising("c4c289b9c7", 4, 8, 8)), 4, 0.05);  // vfmadd231sd %xmm15, %xmm14, %xmm(i): 2
  EXPECT_NEAR(cycles(rising("c4c10914c7", 4, 8, 8)), 2, 0.05);  // vunpcklpd: 4
  EXPECT_NEAR(cycles(rising("c4c10b5ec7", 4, 8, 4)), 16, 0.1);  // vdivsd: one in 4 cycles
  EXPECT_NEAR(cycles(rising("49d1e0", 2, 1, 6)), 2, 0.05);      // shl %r8 to %r13: 3
  EXPECT_NEAR(cycles(rising("4983c001", 2, 1, 6)), 1, 0.05);    // add $1, %r8 to %r13: 6
}

TEST(Zen5, storesNoVectorThroughThePortsOfLoads) {
  // y = a x + y, four doubles: 8 loads, 4 stores. The loads' two ports bound it: 4 cycles. A Zen 4's stores take the same ports.
  const std::string daxpy =
      "f20f1006f2410f59c7f20f588680000000f20f118600010000f20f104e08f2410f59cff20f588e88000000f20f118e08010000"
      "f20f105610f2410f59d7f20f589690000000f20f119610010000f20f105e18f2410f59dff20f589e98000000f20f119e18010000";
  EXPECT_NEAR(cycles(daxpy), 4, 0.1);
  EXPECT_NEAR(cycles(daxpy, "znver4"), 6, 0.1);
}

TEST(Zen5, forwardsAVectorToAGeneralRegisterAsSlowly) {
  // movsd %xmm0, (%rsi); mov (%rsi), %rax; movq %rax, %xmm0: memory is renamed for general registers alone.
  EXPECT_NEAR(cycles("f20f1106488b0666480f6ec0"), 9 + 6, 0.05);
}

}  // namespace
}  // namespace homenode::test
