// Operations with an operand in memory, whose load is issued before the operation: chains against the latencies of LLVM's tables, by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "models/core/core_request.hpp"
#include "models/core/core_times.hpp"

namespace homenode::test {
namespace {

// Of a block that is executed four hundred times in a row.
double cycles(const std::string& cpu, const std::string& bytes) {
  std::istringstream input{"cpu " + cpu + "\nblock 1 " + bytes + "\nsequence 1*400\nend\n"};
  return core_times(read_core_request(input)).blocks.at(1).cycles;
}

const std::vector<std::string> cores{"nehalem",        "ivybridge", "haswell", "broadwell", "skylake", "icelake-server",
                                     "sapphirerapids", "znver1",    "znver2",  "znver3",    "znver4",  "znver5"};

TEST(EarlyLoads, leaveTheOperationsToAChain) {
  const std::string chain = "f20f59c1f20f5806";  // mulsd %xmm1, %xmm0; addsd (%rsi), %xmm0
  EXPECT_NEAR(cycles("znver3", chain), 6, 0.01);
  EXPECT_NEAR(cycles("znver5", chain), 6, 0.01);
  EXPECT_NEAR(cycles("skylake", chain), 8, 0.01);
  EXPECT_NEAR(cycles("ivybridge", chain), 8, 0.01);
}

TEST(EarlyLoads, makeAnOperationAsLongAsWithRegisters) {
  struct Form {
    std::string memory, registers;
    std::vector<std::string> lacking{};  // cores
  };
  const std::vector<std::string> old{"nehalem", "ivybridge"};
  const std::vector<Form> forms{
      {"f20f5806", "f20f58c1"},                      // addsd (%rsi), %xmm0 and %xmm1, %xmm0
      {"f20f5906", "f20f59c1"},                      // mulsd
      {"660fd406", "660fd4c1"},                      // paddq
      {"480306", "4801c8"},                          // add (%rsi), %rax and %rcx, %rax
      {"480faf06", "480fafc1"},                      // imul
      {"4801d0480306", "4801d04801c8"},              // add %rdx, %rax; add (%rsi), %rax
      {"480fafc1480f4406", "480fafc1480f44c1"},      // imul %rcx, %rax; cmove (%rsi), %rax
      {"f20f59c1660fc20600", "f20f59c1660fc2c100"},  // mulsd %xmm1, %xmm0; cmpeqpd (%rsi), %xmm0
      {"c5fb5806", "c5fb58c1", {"nehalem"}},         // vaddsd (%rsi), %xmm0, %xmm0
      {"c4e2f1b806", "c4e2f1b8c2", old},             // vfmadd231pd (%rsi), %xmm1, %xmm0 and %xmm2
  };
  for (const std::string& core : cores)
    for (const Form& form : forms) {
      if (std::find(form.lacking.begin(), form.lacking.end(), core) != form.lacking.end()) continue;
      EXPECT_NEAR(cycles(core, form.memory), cycles(core, form.registers), 0.02) << core << ": " << form.memory;
    }
}

TEST(EarlyLoads, waitForTheirAddress) {
  EXPECT_NEAR(cycles("skylake", "480300"), 6, 0.01);  // add (%rax), %rax: 5 and 1
  EXPECT_NEAR(cycles("znver3", "480300"), 5, 0.01);
  // mov (%rax), %rax; imul (%rax), %rbx: the address comes after 5 cycles each time, the product is made beside that
  EXPECT_NEAR(cycles("skylake", "488b00480faf18"), 5, 0.05);
  // imul (%rsi,%rax), %rbx; and $0, %rbx; mov %rbx, %rax: 5 and 3, and one each for the mask and the move
  EXPECT_NEAR(cycles("skylake", "480faf1c064883e3004889d8"), 10, 0.05);
}

TEST(EarlyLoads, waitForAnAddressInAVectorRegister) {
  // vpcmpeqd %xmm2, %xmm2, %xmm2; vpgatherdd %xmm2, (%rsi,%xmm0,4), %xmm1; vpaddd %xmm1, %xmm0, %xmm0: the next index
  const double chain = cycles("skylake", "c5e976d2c4e269900c86c5f9fec1");
  EXPECT_GT(chain, 15);
}

TEST(EarlyLoads, areNotThoseThatTheChainWaitsFor) {
  // movsd (%rsi), %xmm0; addsd 64(%rsi), %xmm0; movsd %xmm0, (%rsi): a double forwarded in 9 cycles, and 3 for the sum
  EXPECT_NEAR(cycles("znver5", "f20f1006f20f584640f20f1106"), 12, 0.01);
  EXPECT_NEAR(cycles("znver5", "660f1606"), 2, 0.05);  // movhpd (%rsi), %xmm0: merges
  EXPECT_GE(cycles("skylake", "660f1606"), 0.95);
}

}  // namespace
}  // namespace homenode::test
