#include "sim/program/core_time.hpp"

#include <gtest/gtest.h>

namespace homenode::test {
namespace {

const Frequency clock_rate = Frequency::hertz(2e9);

TEST(CoreTime, isThatOfTheBusiestPipe) {
  CoreThroughput core;  // issue 4, integer 3, loads and stores 1, divide 0.05 a cycle
  WorkCounts work;
  work.instructions = 12;
  work.load = 2;
  // issue 12/4 = 3 cycles against 2/1 loads
  EXPECT_DOUBLE_EQ(core_seconds(work, core, clock_rate), 3 / 2e9);
  work.load = 5;
  EXPECT_DOUBLE_EQ(core_seconds(work, core, clock_rate), 5 / 2e9);
  work.divide = 1;  // 1 / 0.05 = 20 cycles
  EXPECT_DOUBLE_EQ(core_seconds(work, core, clock_rate), 20 / 2e9);
}

TEST(CoreTime, ofMultiplicationsAndFusedOnesAddsUpInTheirPipe) {
  WorkCounts work;
  work.fp_multiply = 3;
  work.fp_fma = 4;
  EXPECT_DOUBLE_EQ(core_seconds(work, CoreThroughput{}, clock_rate), 7 / 2e9);
}

TEST(CoreTime, ofNothingIsNothing) { EXPECT_EQ(core_seconds({}, CoreThroughput{}, clock_rate), 0); }

}  // namespace
}  // namespace homenode::test
