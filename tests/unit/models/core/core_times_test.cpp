// Cycles of small loops against what their instructions' latencies and ports give by hand. Znver3's in LLVM: mulsd and addsd 3 cycles,
// divsd 13, a load of a double 8, a store 1; four integer additions a cycle; six micro-operations dispatched.
#include "models/core/core_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "models/core/core_request.hpp"
#include "models/core/core_target.hpp"
#include "sim/base/errors.hpp"

namespace homenode::test {
namespace {

BlockTimes times_of(const std::string& lines, const std::string& cpu = "znver3") {
  std::istringstream input{"cpu " + cpu + "\n" + lines + "end\n"};
  return core_times(read_core_request(input));
}

// Of a block that is executed a hundred times in a row.
BlockTime repeated(const std::string& bytes, const std::string& cpu = "znver3") {
  return times_of("block 1 " + bytes + "\nsequence 1*100\n", cpu).blocks.at(1);
}

// hotspot's inner loop: 26 instructions on 16 floats, four to an instruction; and a chain of 22 cycles with a division.
const std::string hotspot =
    "450f10640500450f103c04410f100403450f102c02450f28f4450f58f4410f58c7450f103c01410f5cc6410f59c2410f58c7440f103c02450f58ef450f5cee450f59e9"
    "41"
    "0f58c5450f28eb450f5cec440f59ea410f58c50f59c1410f58c4410f1104004883c0104883f8407593";
const std::string chain = "660f28c84883c001f20f59c8f20f59c6660f28d1f20f58ccf20f59d5f20f5cc2660f28d3f20f5ed1f20f58c24839c775cf";

TEST(BlockTimes, areLlvmsOfTwoKnownLoops) {
  const BlockTime body = repeated(hotspot);  // llvm-mca -mcpu=znver3 -iterations=10000: 5.0 cycles an iteration
  EXPECT_NEAR(body.cycles, 5.0, 0.05);
  EXPECT_EQ(body.instructions, 26);
  EXPECT_THAT(body.bound, testing::StartsWith("port Zn3FP"));
  const BlockTime carried = repeated(chain);
  EXPECT_NEAR(carried.cycles, 22.0, 0.01);
  EXPECT_EQ(carried.bound, "latency");
  EXPECT_FALSE(carried.alone);
  EXPECT_EQ(carried.executions, 75);  // of 100, less the first quarter: 1300 instructions are more than four reorder buffers of 256
  EXPECT_NEAR(repeated(chain, "ivybridge").cycles, 34.0, 0.01);
}

TEST(BlockTimes, ofAChainAreItsLatency) {
  EXPECT_NEAR(repeated("f20f59c1").cycles, 3, 0.01);   // mulsd %xmm1, %xmm0
  EXPECT_NEAR(repeated("f20f5ec2").cycles, 13, 0.01);  // divsd %xmm2, %xmm0
}

// What others on the core's second thread can make longer.
TEST(BlockTimes, sayHowBusySharedUnitsAre) {
  const std::string adds = "4883c0014883c3014883c1014883c2014883c6014883c7014983c0014983c101";
  EXPECT_NEAR(repeated("f20f59c1").use.units, 1.0 / 6, 0.02);  // a chain: one of two pipes that multiply, a third of the time
  EXPECT_NEAR(repeated(adds).use.units, 1, 0.05);              // four units of four
  EXPECT_EQ(repeated(adds).use.fetching, 0);                   // no branch
  EXPECT_NEAR(repeated("31c031db31c931d231f631ff4531c0").use.units, 1, 0.05);  // dispatch
  // A jump to the block's own begin: a line a cycle, whatever is in it.
  const BlockTime loop = times_of("block 1 90ebfd 401000\nsequence 1*200\n").blocks.at(1);
  EXPECT_NEAR(loop.cycles, 1, 0.05);
  EXPECT_NEAR(loop.use.fetching, 1, 0.05);
  // Executions that retire with the ones before have the shares of their window, too.
  std::string pairs;
  for (int i = 0; i < 100; ++i) pairs += " 1 2";
  const BlockTimes two = times_of("block 1 f20f59c1\nblock 2 90\nsequence" + pairs + "\n");
  EXPECT_NEAR(two.blocks.at(2).use.units, two.blocks.at(1).use.units, 1e-6);
}

TEST(BlockTimes, ofIndependentInstructionsAreTheirThroughput) {
  // Eight additions to eight registers on four units.
  const BlockTime adds = repeated("4883c0014883c3014883c1014883c2014883c6014883c7014983c0014983c101");
  EXPECT_NEAR(adds.cycles, 2.0, 0.05);
  EXPECT_THAT(adds.bound, testing::StartsWith("port Zn3ALU"));
  const BlockTime divisions = repeated("c5f35ec2");  // vdivsd %xmm2, %xmm1, %xmm0: one result need not wait for another
  EXPECT_LT(divisions.cycles, 13 * 0.5);
  // xor %eax, %eax to seven registers, which no unit executes: 7 of 6 a cycle.
  const BlockTime zeros = repeated("31c031c931d231db31f631ff31ed");
  EXPECT_NEAR(zeros.cycles, 7.0 / 6, 0.01);
  EXPECT_EQ(zeros.bound, "front end");
}

TEST(BlockTimes, doNotWaitForARegisterThatIsCleared) {
  // xorps %xmm0, %xmm0 and four times addss %xmm1, %xmm0: four additions of at most 4 cycles, begun anew in every turn, so that turns
  // overlap: the adders' two a cycle bound them, four to an adder and a move. Carried from turn to turn it would be 16 and more.
  // xor %eax, %eax; add %rcx, %rax four times: 4 cycles if carried. sub, pxor and the forms of AVX likewise.
  const std::string add = "f30f58c1", count = "4801c8", vadd = "c5fa58c1";
  for (const std::string cpu : {"sapphirerapids", "alderlake", "icelake-server", "skylake-avx512", "haswell", "znver2", "znver4"}) {
    for (const std::string clear : {"0f57c0", "660f57c0", "660fefc0", "660ffac0"})
      EXPECT_LT(repeated(clear + add + add + add + add, cpu).cycles, 5) << cpu << ' ' << clear;
    for (const std::string clear : {"c5f857c0", "c5f9efc0"})
      EXPECT_LT(repeated(clear + vadd + vadd + vadd + vadd, cpu).cycles, 5) << cpu << ' ' << clear;
    for (const std::string clear : {"31c0", "29c0", "4831c0"})
      EXPECT_LT(repeated(clear + count + count + count + count, cpu).cycles, 3) << cpu << ' ' << clear;
    // xorps %xmm2, %xmm0 is none.
    EXPECT_GT(repeated("0f57c2" + add + add + add + add, cpu).cycles, 8) << cpu;
  }
}

TEST(BlockTimes, countDependencesThroughMovesBetweenRegisters) {
  // movaps %xmm0, %xmm7; movss (%rcx), %xmm0; mulss %xmm1, %xmm7; addss %xmm7, %xmm0: a multiplication and an addition a turn, of 3 cycles
  // each on Zen 3 and 4, of 4 on Ice Lake, whose model executes the move in one. The second write of xmm0 is none of xmm7.
  // mov %rax, %rcx; mov (%rbx), %rax; imul %rcx, %rax: a multiplication of 3.
  for (const auto& [cpu, vectors] : {std::pair{"znver3", 6.0}, {"znver4", 6.0}, {"icelake-server", 9.0}})
    EXPECT_NEAR(repeated("0f28f8f30f1001f30f59f9f30f58c7", cpu).cycles, vectors, 0.01) << cpu;
  for (const std::string cpu : {"znver3", "znver4"}) EXPECT_NEAR(repeated("4889c1488b03480fafc1", cpu).cycles, 3, 0.01) << cpu;
  // movaps %xmm0, %xmm7 and seven additions to other registers: the move needs neither adder.
  EXPECT_NEAR(repeated("0f28f8f30f58d1f30f58d9f30f58e1f30f58e9f30f58f1f3440f58c1f3440f58c9", "znver4").cycles, 3.5, 0.01);
}

// There and back between general and vector registers, in a chain: movq, and conversions of a double.
TEST(BlockTimes, ofAWayBetweenKindsOfRegistersAreWhatWasMeasured) {
  const std::string moves = "66480f7ec066480f6ec0", conversions = "f2480f2cc0f2480f2ac0";
  EXPECT_NEAR(repeated(moves, "znver4").cycles, 7, 0.01);
  EXPECT_NEAR(repeated(conversions, "znver4").cycles, 12, 1.01);
  EXPECT_NEAR(repeated(moves, "znver3").cycles, 6, 0.01);
  EXPECT_NEAR(repeated(conversions, "znver3").cycles, 13, 0.01);
  // vmovapd and addpd cross nothing, nor does add: 3 and 1 cycles as LLVM has them.
  EXPECT_NEAR(repeated("660f58c1", "znver4").cycles, 3, 0.01);
  EXPECT_NEAR(repeated("4801c8", "znver4").cycles, 1, 0.01);
}

TEST(BlockTimes, countDependencesThroughAStackSlot) {
  // movsd 8(%rsp), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, 8(%rsp): 8 + 3 + 1.
  EXPECT_NEAR(repeated("f20f10442408f20f58c1f20f11442408").cycles, 12, 0.01);
  EXPECT_EQ(repeated("f20f10442408f20f58c1f20f11442408").bound, "latency");
  // The store goes to 16(%rsp): nothing is carried, one store a cycle.
  EXPECT_NEAR(repeated("f20f10442408f20f58c1f20f11442410").cycles, 1, 0.05);
  // The same with the two halves in two blocks: dependences cross blocks.
  const BlockTimes halves = times_of("block 1 f20f10442408f20f58c1\nblock 2 f20f11442408\nsequence" + [] {
    std::string words;
    for (int turn = 0; turn < 100; ++turn) words += " 1 2";
    return words;
  }() + "\n");
  EXPECT_NEAR(halves.blocks.at(1).cycles + halves.blocks.at(2).cycles, 12, 0.01);
}

TEST(BlockTimes, countDependencesThroughMovingPointers) {
  // movsd %xmm0, 8(%rax); add $8, %rax; movsd (%rax), %xmm0; addsd %xmm1, %xmm0
  EXPECT_NEAR(repeated("f20f1140084883c008f20f1000f20f58c1").cycles, 12, 0.01);
  // movsd (%rdi,%rcx,8), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, 8(%rdi,%rcx,8); add $1, %rcx
  EXPECT_NEAR(repeated("f20f1004cff20f58c1f20f1144cf084883c101").cycles, 12, 0.01);
  // lea 1(%rcx), %rcx; movsd -8(%rdi,%rcx,8), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, (%rdi,%rcx,8)
  EXPECT_NEAR(repeated("488d4901f20f1044cff8f20f58c1f20f1104cf").cycles, 12, 0.01);
  // mov 8(%rsp), %rax; movsd (%rax), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, (%rax): a pointer that is loaded again each time
  EXPECT_NEAR(repeated("488b442408f20f1000f20f58c1f20f1100").cycles, 12, 0.01);
  // call; movsd (%rax), %xmm0; ...: each call's result is another one
  EXPECT_LT(repeated("e8fbfffffff20f1000f20f58c1f20f1100").cycles, 4);
}

TEST(BlockTimes, compareAddressesOfCodeWithinABlockAndByAddress) {
  // movsd 0x100(%rip), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, 0xf4(%rip): the same eight bytes
  EXPECT_NEAR(repeated("f20f100500010000f20f58c1f20f1105f4000000").cycles, 12, 0.01);
  // A load in a block and a store in another, at 0x1000 and at 0x2000, both of 0x1108.
  const std::string load = "f20f100500010000f20f58c1", store = "f20f1105f8f0ffff";
  std::string turns = "sequence";
  for (int turn = 0; turn < 100; ++turn) turns += " 1 2";
  const auto sum = [](const BlockTimes& times) { return times.blocks.at(1).cycles + times.blocks.at(2).cycles; };
  EXPECT_NEAR(sum(times_of("block 1 " + load + " 1000\nblock 2 " + store + " 2008\n" + turns + "\n")), 12, 0.01);
  EXPECT_LT(sum(times_of("block 1 " + load + "\nblock 2 " + store + "\n" + turns + "\n")), 4);
}

TEST(BlockTimes, ofASpillAcrossACallThatIsNotInTheSequence) {
  // movsd %xmm0, 8(%rsp); call; addsd 8(%rsp), %xmm0 in the block after it: 9 and 3 cycles.
  std::string turns = "sequence";
  for (int turn = 0; turn < 100; ++turn) turns += " 1 2";
  const BlockTimes times = times_of("block 1 f20f11442408e8fbffffff\nblock 2 f20f58442408\n" + turns + "\n");
  EXPECT_NEAR(times.blocks.at(1).cycles + times.blocks.at(2).cycles, 12, 0.01);
}

TEST(BlockTimes, ofACalleeInTheSequenceKeepWhatItLeavesInRegisters) {
  // 3: addsd %xmm1, %xmm0; movsd %xmm0, (%rdx); 1, at 0x1000: call; 2, at 0x2000: movsd (%rdx), %xmm0; ret. rdx stays what it was.
  std::string turns = "sequence";
  for (int turn = 0; turn < 100; ++turn) turns += " 3 1 2";
  const auto cycles = [&](const std::string& callee) {
    const BlockTimes times =
        times_of("block 1 e8fb0f0000 1000\nblock 2 f20f1002c3 " + callee + "\nblock 3 f20f58c1f20f1102 3000\n" + turns + "\n");
    return times.blocks.at(1).cycles + times.blocks.at(2).cycles + times.blocks.at(3).cycles;
  };
  EXPECT_NEAR(cycles("2000"), 12, 0.01);  // 8 + 3 + 1
  EXPECT_LT(cycles("1005"), 6);           // what was called is not in the sequence, and may have changed rdx
}

TEST(BlockTimes, takeAMeasuredForwardingLatency) {
  // Measured on an EPYC of family 26: 12 cycles for the stack slot of a double, 1 for addq $1, 8(%rdi).
  EXPECT_NEAR(repeated("f20f10442408f20f58c1f20f11442408", "znver5").cycles, 12, 0.01);
  EXPECT_NEAR(repeated("4883470801", "znver5").cycles, 1, 0.01);
  EXPECT_NEAR(repeated("4883470801", "znver3").cycles, 6, 0.01);  // no memory of the stack
}

TEST(BlockTimes, ofAtomicInstructionsDoNotOverlap) {
  // lock add %rdx, (%rdi); lock xadd %rax, 64(%rsi); xchg %rax, (%rdi); lock cmpxchg %rcx, 64(%rsi).
  for (const std::string code : {"f0480117", "f0480fc14640", "488707", "f0480fb14e40"}) {
    EXPECT_NEAR(repeated(code, "znver4").cycles, 8, 0.1) << code;
    EXPECT_NEAR(repeated(code, "ivybridge").cycles, 18, 0.1) << code;
    EXPECT_EQ(repeated(code).instructions, 1) << code;
  }
  EXPECT_NEAR(repeated("f0480117f0480fc14640").cycles, 16, 0.2);          // one after the other, at different addresses
  EXPECT_LT(repeated("480117").cycles, 8);                                // without the prefix: data go from the store to the load
  EXPECT_EQ(times_of("block 1 f0\nsequence 1*100\n").unknown.size(), 1);  // a prefix alone
}

// What calibration runs (measure_branches.cpp): a number from the one before in six cycles, a branch on it, and the loop's end.
const std::string numbers = "4889c148c1e10d4831c84889c148c1e9074831c14889c848c1e0114831c84885f07401", skipped = "90",
                  loop = "4883c7014839fa75d3";

// `turns` of the loop, every other one with the skipped instruction: every other branch is wrong.
std::string branches_on_numbers(int turns) {
  std::string lines = "block 1 " + numbers + "\nblock 2 " + skipped + "\nblock 3 " + loop + "\nwrong 1 2\nsequence";
  for (int turn = 0; turn < turns; ++turn) lines += turn % 2 == 0 ? " 1 2 3" : " 1 3";
  return lines + "\n";
}

TEST(WrongBranches, ofTheCalibrationsLoopTakeWhatCalibrationMeasured) {
  // Three shifts and three exclusive or, one after the other; LLVM's models of Intel's cores execute the three moves among them, too.
  const std::map<std::string, double> chains{{"znver3", 6}, {"znver4", 6}, {"icelake-server", 9}, {"skylake-avx512", 9}};
  for (const auto& [cpu, chain] : chains) {
    const BlockTimes times = times_of(branches_on_numbers(120), cpu);
    EXPECT_NEAR(times.blocks.at(1).resolution, 0, 0.51) << cpu;
    EXPECT_GT(times.blocks.at(1).wrong, 30) << cpu;
    const double turn = times.blocks.at(1).cycles + times.blocks.at(2).cycles / 2 + times.blocks.at(3).cycles;
    EXPECT_NEAR(turn, chain, 0.5) << cpu;  // the time of right branches stays as it is
  }
}

// mov (%rdi,%rcx,8), %rax; test %rax, %rax; je; add $1, %rcx; jmp: a branch on what was loaded, every second one wrong.
TEST(WrongBranches, waitForWhatTheyCompare) {
  const auto resolution = [](const std::string& before) {
    return times_of("block 1 " + before + "4885c07407\nblock 2 4883c101ebf0\nwrong 1 2\nsequence" +
                    [] {
                      std::string words;
                      for (int turn = 0; turn < 200; ++turn) words += " 1 2";
                      return words;
                    }() +
                    "\n")
        .blocks.at(1)
        .resolution;
  };
  const double loaded = resolution("488b04cf"), computed = resolution("4889c8");
  EXPECT_NEAR(loaded - computed, 5, 0.6);  // a load with a scaled index
  // Two loads, the second through the first.
  EXPECT_NEAR(resolution("488b04cf488b00") - loaded, 4, 0.6);
}

TEST(WrongBranches, areSpreadAsOftenAsIsSaid) {
  const BlockTimes times = times_of("block 1 4885c07400\nwrong 1 8\nsequence 1*400\n");
  // The warm-up is the reorder buffer's 256 instructions, two a block. What the last wrong branch delays is cut off.
  EXPECT_NEAR(static_cast<double>(times.blocks.at(1).wrong), (400 - 256.0 / 2) / 8 - 1, 1);
}

TEST(WrongBranches, elsewhereCostTheMeanOfAll) {
  const BlockTimes times = times_of(branches_on_numbers(60) + "block 9 4885c07400\nwrong 9 2\n");
  EXPECT_EQ(times.blocks.at(9).wrong, 0);
  EXPECT_DOUBLE_EQ(times.blocks.at(9).resolution, times.blocks.at(1).resolution);
}

TEST(BlockTimes, ofAWindowsBlocksSumUpToItsTime) {
  const BlockTimes times =
      times_of("block 1 " + hotspot + "\nblock 2 " + chain + "\nblock 3 f20f5ec2\nsequence 1*7 2*5 3 1*9 2 3*4 1*20 2*8 3 1*5\n");
  double sum = 0;
  for (const auto& [id, time] : times.blocks) sum += time.cycles * static_cast<double>(time.executions);
  EXPECT_NEAR(sum, times.measured_cycles, 1e-6);
  // Some 41 bodies of 5 cycles, 14 chains of 22 and 6 divisions of 13, three quarters of it measured.
  EXPECT_GT(times.measured_cycles, 250);
  EXPECT_LT(times.measured_cycles, 600);
}

TEST(BlockTimes, ofTheSameSequencesAreTheSame) {
  const std::string lines = "block 1 " + hotspot + "\nblock 2 " + chain + "\nblock 3 c3\nsequence 1*7 2*5 1*30 2\nsequence 2*40\n";
  std::istringstream one{"cpu znver3\n" + lines + "end\n"}, other{"cpu znver3\n" + lines + "end\n"};
  const CoreRequest request = read_core_request(one), again = read_core_request(other);
  EXPECT_EQ(core_times_json(request, core_times(request)), core_times_json(again, core_times(again)));
}

TEST(BlockTimes, ofABlockInNoSequenceAreWithoutCarriedRegisters) {
  const BlockTimes times = times_of("block 1 " + chain + "\nblock 2 f20f59c1\n");
  EXPECT_TRUE(times.blocks.at(1).alone);
  EXPECT_LT(times.blocks.at(1).cycles, 11);  // no 22: the divider, not the chain
  EXPECT_GT(times.blocks.at(1).cycles, 1);
  EXPECT_NEAR(times.blocks.at(2).cycles, 0.5, 0.1);  // two multipliers
}

TEST(BlockTimes, haveAFixedCostForWhatLlvmDoesNotSchedule) {
  const BlockTimes times =
      times_of("block 1 0f050f31\nblock 2 9006c3\nblock 3 f3aa\nblock 4 62f1ed4858c1\nsequence 3*50\n");  // syscall, rdtsc; nop, 06
  EXPECT_EQ(times.blocks.at(1).instructions, 2);
  EXPECT_EQ(times.blocks.at(2).instructions, 1);
  EXPECT_NEAR(times.blocks.at(3).cycles, 16, 0.01);  // rep stosb
  EXPECT_THAT(times.unknown, testing::UnorderedElementsAre(testing::Pair("syscall", 1), testing::Pair("rdtsc", 1),
                                                           testing::Pair("bytes 06", 1), testing::Pair("vaddpd", 1)));  // of AVX-512
}

TEST(BlockTimes, ofAStackEngineDoNotChainPushes) {
  // push %rbx; push %rcx; push %rdx; push %rsi: stores, one or two a cycle, without a chain of their stack pointers through loads
  EXPECT_LE(repeated("53515256").cycles, 4);
  EXPECT_LE(repeated("5b595a5e").cycles, 2);  // four pops: LLVM's latency of a load, 5 cycles each, would be 20
}

TEST(BlockTimes, refuseACpuThatLlvmDoesNotKnow) {
  for (const std::string cpu : {"barcelona", "knc", "znver33"}) {
    try {
      times_of("", cpu);
      FAIL() << cpu;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("'" + cpu + "'"), testing::HasSubstr("llowed: one of ")));
    }
  }
}

TEST(BlockTimes, knowTheHost) {
  const std::string host = host_cpu();
  EXPECT_TRUE(host.empty() || testing::Value(cpu_names(), testing::Contains(host))) << host;
}

}  // namespace
}  // namespace homenode::test
