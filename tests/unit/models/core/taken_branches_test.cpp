// Jumps that go round, few and many, against what a Xeon of family 6, model 207 takes (docs/decisions/0083).
#include "models/core/taken_branches.hpp"

#include <gtest/gtest.h>

#include <iomanip>
#include <sstream>
#include <string>

#include "models/core/core_request.hpp"
#include "models/core/core_times.hpp"
#include "tests/support/block_cycles.hpp"

namespace homenode::test {
namespace {

// Of all blocks of a request that ends with a sequence, their mean times in sum.
double cycles_of_blocks(const std::ostringstream& request) {
  std::istringstream input{request.str() + "\nend\n"};
  const BlockTimes times = core_times(read_core_request(input));
  double sum = 0;
  for (const auto& [id, time] : times.blocks) sum += time.cycles;
  return sum;
}

// Cycles of a block, the mean of `sites` that follow each other round and round; each begins `apart` bytes behind the one before. Without
// `addresses` none says where it is.
double cycles_a_block(int sites, int rounds, const std::string& bytes, const std::string& cpu = "sapphirerapids", bool addresses = true,
                      int apart = 64) {
  std::ostringstream request;
  request << "cpu " << cpu << '\n';
  for (int site = 0; site < sites; ++site) {
    request << "block " << site << ' ' << bytes;
    if (addresses) request << ' ' << std::hex << 0x401000 + apart * site << std::dec;
    request << '\n';
  }
  request << "sequence";
  for (int i = 0; i < sites * rounds; ++i) request << ' ' << i % sites;
  return cycles_of_blocks(request) / sites;
}

const std::string jump = "eb3e";

TEST(TakenBranches, FewThatGoRoundTakeACycle) {
  EXPECT_NEAR(cycles_a_block(100, 5, jump), 1, 0.05);
  EXPECT_NEAR(cycles_a_block(128, 5, jump), 1, 0.05);
}

TEST(TakenBranches, ManyTakeTwo) {
  EXPECT_NEAR(cycles_a_block(129, 5, jump), 2, 0.05);
  EXPECT_NEAR(cycles_a_block(300, 3, jump), 2, 0.05);
}

TEST(TakenBranches, ThatNeverComeAgainAreTakenForMany) { EXPECT_NEAR(cycles_a_block(100, 1, jump), 2, 0.05); }

TEST(TakenBranches, BoundABlockByTheFrontEnd) {
  std::istringstream input{"cpu sapphirerapids\nblock 1 " + jump + " 401000\nsequence 1*400\nend\n"};
  EXPECT_EQ(core_times(read_core_request(input)).blocks.at(1).bound, "front end");
}

TEST(TakenBranches, HideBehindTheCodeBetweenThem) {
  const std::string code = times(18, "4d89c1") + jump;  // mov %r8, %r9: six a cycle
  EXPECT_NEAR(cycles_a_block(200, 2, code), cycles_a_block(50, 8, code), 0.1);
}

TEST(TakenBranches, OfCodeWithoutAddressesAndOtherCoresAreNotLimited) {
  EXPECT_LT(cycles_a_block(200, 3, "753e", "sapphirerapids", false), 1.1);  // jne: whether it is taken is not known
  EXPECT_LT(cycles_a_block(200, 3, jump, "icelake-server"), 0.6);
}

TEST(TakenBranches, AreThoseBehindWhichTheCodeGoesOnElsewhere) {
  // The same conditional jump of 62 bytes in blocks that begin 64 bytes apart, and 40 bytes apart, before its target: as in captured code,
  // which has other code between blocks.
  const std::string conditional = "753e";
  EXPECT_NEAR(cycles_a_block(200, 3, conditional), 2, 0.05);
  EXPECT_LT(cycles_a_block(200, 3, conditional, "sapphirerapids", true, 40), 1.1);
  EXPECT_NEAR(cycles_a_block(200, 3, conditional, "sapphirerapids", true, 100), 2, 0.05);  // a little behind its target
  // No branch at all, whatever lies between.
  EXPECT_NEAR(cycles_a_block(200, 3, times(8, "0f1f840000000000"), "sapphirerapids", true, 100), 8.0 / 6, 0.1);
}

// Cycles of a call and the return from it, of so many functions in turn, each with lines of its own.
double cycles_a_call(int functions) {
  std::ostringstream request;
  request << "cpu sapphirerapids\n";
  for (int i = 0; i < functions; ++i)
    request << "block " << 2 * i << " e800000000 " << std::hex << 0x401000 + 64 * i << std::dec << "\nblock " << 2 * i + 1 << " c3 "
            << std::hex << 0x501000 + 64 * i << std::dec << '\n';
  request << "sequence";
  for (int i = 0; i < 400; ++i) request << ' ' << 2 * (i % functions) << ' ' << 2 * (i % functions) + 1;
  return cycles_of_blocks(request) / functions;
}

TEST(TakenBranches, OfCallsAndReturnsTakeMore) {
  EXPECT_NEAR(cycles_a_call(24), 2.65, 0.1);  // 2.5 to 3.0
  EXPECT_NEAR(cycles_a_call(100), 4.65, 0.1);
}

TEST(TakenBranches, CodeBeforeThemComesLineByLine) {
  const std::string nop = "666666660f1f840000000000";                               // 12 bytes
  EXPECT_NEAR(cycles_a_block(60, 5, times(4, nop) + "eb0e"), 1 + 49.0 / 64, 0.05);  // jumps of 64 bytes
  EXPECT_NEAR(cycles_a_block(60, 5, times(12, nop) + "eb2e", "sapphirerapids", true, 192), 1 + 145.0 / 64, 0.05);
}

// Of code of a library, seen in sixteen steps: each is an instruction and the bytes behind it.
double cycles_of_steps(const std::string& step) {
  std::istringstream input{"cpu sapphirerapids\nsteps 1" + times(16, " " + step) + "\nsequence 1*60\nend\n"};
  return core_times(read_core_request(input)).blocks.at(1).cycles;
}

TEST(TakenBranches, ShowInStepsOfLibraries) {
  EXPECT_NEAR(cycles_of_steps("eb3e" + times(13, "cc")), 16.25, 0.3);  // jumps
  EXPECT_NEAR(cycles_of_steps(times(15, "90")), 16.0 / 6, 0.3);        // nops, behind each the next one
}

TEST(TakenBranches, OfALoopInALibraryAreOne) {
  // dec %ecx; jne, two hundred turns: one branch of the program, and not two hundred.
  std::ostringstream request;
  request << "cpu sapphirerapids\nsteps 1";
  for (int i = 0; i < 200; ++i) request << " ffc975fc" << times(11, "90") << " 75fc" << times(13, "90");
  request << "\nsequence 1*4\nend\n";
  std::istringstream input{request.str()};
  EXPECT_NEAR(core_times(read_core_request(input)).blocks.at(1).cycles, 200 * (1 + 3.0 / 64), 6);
}

}  // namespace
}  // namespace homenode::test
