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

// Where one kind of work is alone, its own throughput alone says how long it takes: 7 of it, at `throughput` a cycle.
TEST(CoreTime, everyPipeCanBeTheBusiest) {
  struct Pipe {
    double WorkCounts::*work;
    double CoreThroughput::*throughput;
  };
  for (const Pipe& pipe : {Pipe{&WorkCounts::instructions, &CoreThroughput::issue}, Pipe{&WorkCounts::integer, &CoreThroughput::integer},
                           Pipe{&WorkCounts::fp_add, &CoreThroughput::fp_add}, Pipe{&WorkCounts::fp_multiply, &CoreThroughput::fp_multiply},
                           Pipe{&WorkCounts::fp_fma, &CoreThroughput::fp_fma}, Pipe{&WorkCounts::divide, &CoreThroughput::divide},
                           Pipe{&WorkCounts::load, &CoreThroughput::load}, Pipe{&WorkCounts::store, &CoreThroughput::store},
                           Pipe{&WorkCounts::branch, &CoreThroughput::branch}}) {
    WorkCounts work;
    CoreThroughput core;
    work.*pipe.work = 7;
    core.*pipe.throughput = 0.5;
    EXPECT_DOUBLE_EQ(core_seconds(work, core, clock_rate), 14 / 2e9);
  }
}

// Beside others a unit has two thirds of its time: code that needs it always takes 1.5 times as long, code that needs it for 0.8 of its
// time 1.2 times, and a chain as long as alone. The front end serves the two in turn.
TEST(CoreTime, besideOthersIsLongerWhereSomethingIsShared) {
  Machine machine;
  machine.clock = clock_rate;
  RegionCycles code;
  const auto add = [&](double cycles, double units, double fetching) {
    code.cycles += cycles;
    code.units.add(cycles, {.units = units, .fetching = fetching});
  };
  WorkCounts work;
  work.instructions = 10;
  add(1, 1, 0.5);
  add(2, 0.8, 0.5);
  add(4, 0.2, 0);
  add(2, 0.5, 1);
  code.cycles += 3;  // of libraries: measured, and as it is
  const auto seconds = [&] { return core_seconds(work, &code, machine); };
  EXPECT_DOUBLE_EQ(seconds(), 10 * 12 / 2e9);
  machine.core.smt_slowdown = 1.5;
  EXPECT_DOUBLE_EQ(seconds(), 10 * (12 + 0.5 + 0.4) / 2e9);
  machine.core.smt_fetch_slowdown = 2;
  EXPECT_DOUBLE_EQ(seconds(), 10 * (12 + 0.5 + 0.4 + 2) / 2e9);
  machine.core.block_time = 2;
  EXPECT_DOUBLE_EQ(seconds(), 2 * 10 * (12 + 0.5 + 0.4 + 2) / 2e9);
  code.units.scale(0.5);
  EXPECT_DOUBLE_EQ(code.units.lost({.units = 1.5, .fetching = 1}), 0.45);
  EXPECT_EQ(code.units.lost({}), 0);
}

TEST(CoreTime, ofNothingIsNothing) { EXPECT_EQ(core_seconds({}, CoreThroughput{}, clock_rate), 0); }

}  // namespace
}  // namespace homenode::test
