// Which clock instructions ask for, by the rule of vector_clock.hpp.
#include "models/core/vector_clock.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "models/core/core_request.hpp"
#include "models/core/core_times.hpp"

namespace homenode::test {
namespace {

TEST(ClockThatIsAskedFor, goesByWidthAndByWhetherAnInstructionIsHeavy) {
  for (const char* text : {"\tvfmadd231pd\tzmm0, zmm2, zmm1", "\tvaddps\tzmm2, zmm1, zmmword ptr [rax]", "\tvpdpbusd\tzmm3, zmm2, zmm1",
                           "\tvpmulld\tzmm3, zmm2, zmm1", "\tvsqrtpd\tzmm3, zmm2"})
    EXPECT_EQ(clock_that_is_asked_for(text), VectorWidth::bits_512) << text;
  for (const char* text :
       {"\tvmovupd\tzmm1, zmmword ptr [rax]", "\tvpxord\tzmm1, zmm1, zmm1", "\tvpaddd\tzmm1, zmm1, zmm1", "\tvcvtpd2ps\tymm3, zmm1",
        "\tvmulps\tymm2, ymm1, ymmword ptr [rax]", "\tvpmaddwd\tymm2, ymm1, ymm3", "\tvfnmadd213ps\tymm2, ymm1, ymm3"})
    EXPECT_EQ(clock_that_is_asked_for(text), VectorWidth::bits_256) << text;
  for (const char* text : {"\tvpaddd\tymm3, ymm2, ymm1", "\tvmovups\tymmword ptr [rax], ymm1", "\tvaddpd\txmm3, xmm2, xmm1",
                           "\tmulsd\txmm3, xmm2", "\tvmulsd\txmm3, xmm2, qword ptr [rax]", "\timul\trax, rcx", "\tvzeroupper", "", "\t"})
    EXPECT_EQ(clock_that_is_asked_for(text), VectorWidth::narrow) << text;
}

TEST(BlockTimes, countInstructionsOnWideVectors) {
  // vfmadd231pd %zmm1, %zmm2, %zmm0; vmovupd (%rax), %zmm1; vmulps (%rax), %ymm1, %ymm2; vpaddd %ymm1, %ymm2, %ymm3;
  // vaddpd %xmm1, %xmm2, %xmm3; vmulpd (%rax), %zmm1, %zmm2; add $1, %rax
  const std::string block = "62f2ed48b8c162f1fd481008c5f45910c5edfed9c5e958d962f1f54859104883c001";
  // znver3 has no such registers, and decodes them all the same. Block 2 is in no sequence.
  for (const std::string cpu : {"skylake-avx512", "sapphirerapids", "znver3"}) {
    std::istringstream input{"cpu " + cpu + "\nblock 1 " + block + "\nblock 2 " + block + "\nsequence 1*40\nend\n"};
    const CoreRequest request = read_core_request(input);
    const BlockTimes times = core_times(request);
    for (const std::uint64_t id : {1U, 2U}) {
      EXPECT_EQ(times.blocks.at(id).instructions, 7U) << cpu;
      EXPECT_EQ(times.blocks.at(id).wide_512, 2U) << cpu;
      EXPECT_EQ(times.blocks.at(id).wide_256, 2U) << cpu;
    }
    EXPECT_NE(core_times_json(request, times).find("\"wide_256\":2,\"wide_512\":2"), std::string::npos);
  }
}

}  // namespace
}  // namespace homenode::test
