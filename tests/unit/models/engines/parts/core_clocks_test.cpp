#include "models/engines/parts/core_clocks.hpp"

#include <gtest/gtest.h>

#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

// Two sockets of four cores, base clock 2 GHz.
Machine turbo() {
  Machine machine = two_sockets();
  machine.clock_by_cores = {{1, Frequency::hertz(4e9)}, {3, Frequency::hertz(2.5e9)}};
  return machine;
}

struct Program {
  std::shared_ptr<Workload> workload;
  ExecutionId serial, two, many, single;

  Program() {
    WorkloadBuilder builder;
    const auto add = [&](RegionId region) { return builder.repeat(region); };
    serial = add(builder.serial("serial"));
    two = add(builder.loop("two", 2));
    many = add(builder.loop("many", 100));
    single = add(builder.single("single"));
    workload = builder.build();
  }
};

std::vector<CoreId> cores(std::initializer_list<unsigned> numbers) {
  std::vector<CoreId> team;
  for (const unsigned number : numbers) team.emplace_back(number);
  return team;
}

TEST(ThreadsWithWork, areAsManyAsIterationsAndAtMostTheTeam) {
  const Program program;
  EXPECT_EQ(threads_with_work(*program.workload, program.serial, 6), 1U);
  EXPECT_EQ(threads_with_work(*program.workload, program.two, 6), 2U);
  EXPECT_EQ(threads_with_work(*program.workload, program.many, 6), 6U);
  EXPECT_EQ(threads_with_work(*program.workload, program.single, 6), 1U);
}

TEST(CoreClocks, countTheCoresOfEachSocketThatHaveWork) {
  // Cores 0 to 3 are on socket 0, 4 to 7 on socket 1. Four threads of a socket: beyond the table, the base clock.
  const Program program;
  const Machine machine = turbo();
  const CoreClocks clocks{*program.workload, machine, cores({0, 4, 1, 2, 3})};
  EXPECT_DOUBLE_EQ(clocks.cycle(program.many, CoreId{0U}), 1);          // 0, 1, 2, 3
  EXPECT_DOUBLE_EQ(clocks.cycle(program.many, CoreId{4U}), 2.0 / 4);    // alone on its socket
  EXPECT_DOUBLE_EQ(clocks.cycle(program.two, CoreId{0U}), 2.0 / 4);     // the first two threads: one on each socket
  EXPECT_DOUBLE_EQ(clocks.cycle(program.serial, CoreId{0U}), 2.0 / 4);  // one core
  const CoreClocks three{*program.workload, machine, cores({0, 1, 2})};
  EXPECT_DOUBLE_EQ(three.cycle(program.many, CoreId{0U}), 2.0 / 2.5);
  EXPECT_DOUBLE_EQ(three.cycle(program.many, CoreId{5U}), 2.0 / 2.5);  // came from elsewhere, and the others with it
}

TEST(CoreClocks, countACoreOfSeveralThreadsOnce) {
  const Program program;
  const Machine machine = turbo();
  EXPECT_DOUBLE_EQ((CoreClocks{*program.workload, machine, cores({2, 2, 2})}.cycle(program.many, CoreId{2U})), 2.0 / 4);
}

TEST(CoreClocks, areTheBaseClockWithoutATableAndWithoutATeam) {
  const Program program;
  const Machine plain = two_sockets(), machine = turbo();
  EXPECT_DOUBLE_EQ((CoreClocks{*program.workload, plain, cores({0})}.cycle(program.serial, CoreId{0U})), 1);
  EXPECT_DOUBLE_EQ((CoreClocks{*program.workload, machine, {}}.cycle(program.many, CoreId{0U})), 1);
}

// Regions in the order of Program: serial, two, many, single.
std::shared_ptr<const CodeCycles> code_of_widths(std::vector<RegionCycles> regions) {
  auto code = std::make_shared<CodeCycles>();
  for (RegionCycles& region : regions) region.cycles = 1;
  code->regions = std::move(regions);
  return code;
}

TEST(CoreClocks, areThoseOfTheWidthOfARegionsVectors) {
  const Program program;
  Machine machine = turbo();
  machine.clock_by_cores_256 = {{1, Frequency::hertz(3.2e9)}, {4, Frequency::hertz(1.9e9)}};
  machine.clock_by_cores_512 = {{4, Frequency::hertz(1.6e9)}};
  const auto code = code_of_widths({{.wide_512 = 0.3}, {.wide_256 = 0.06, .wide_512 = 0.05}, {.wide_256 = 0.2}, {.wide_512 = 0.09}});
  const CoreClocks clocks{*program.workload, machine, cores({0, 4, 1, 2, 3}), code};
  EXPECT_DOUBLE_EQ(clocks.cycle(program.serial, CoreId{0U}), 2 / 1.6);  // a longer cycle than at the base clock
  EXPECT_DOUBLE_EQ(clocks.cycle(program.two, CoreId{0U}), 2 / 3.2);     // one on each socket; both kinds of instructions together
  EXPECT_DOUBLE_EQ(clocks.cycle(program.many, CoreId{0U}), 2 / 1.9);
  EXPECT_DOUBLE_EQ(clocks.cycle(program.many, CoreId{4U}), 2 / 3.2);
  EXPECT_DOUBLE_EQ(clocks.cycle(program.single, CoreId{0U}), 2.0 / 4);  // too few
  // Nothing is known of the code: narrow.
  EXPECT_DOUBLE_EQ((CoreClocks{*program.workload, machine, cores({0})}.cycle(program.serial, CoreId{0U})), 2.0 / 4);
  const CoreClocks without{*program.workload, machine, cores({0}), std::make_shared<const CodeCycles>()};
  EXPECT_DOUBLE_EQ(without.cycle(program.serial, CoreId{0U}), 2.0 / 4);
}

TEST(CoreClocks, ofWideVectorsNeedNoTableOfNarrowCode) {
  const Program program;
  Machine machine = two_sockets();
  machine.clock_by_cores_512 = {{4, Frequency::hertz(1.6e9)}};
  const CoreClocks clocks{*program.workload, machine, cores({0}), code_of_widths({{.wide_512 = 0.3}, {}, {}, {}})};
  EXPECT_DOUBLE_EQ(clocks.cycle(program.serial, CoreId{0U}), 2 / 1.6);
  EXPECT_DOUBLE_EQ(clocks.cycle(program.many, CoreId{0U}), 1);
}

TEST(CoreClocks, changeCachesOfTheCoresClockAlone) {
  CacheDescription cache;
  cache.latency = Time::nanoseconds(5);
  cache.bandwidth_per_core = Bandwidth::bytes_per_second(64e9);
  EXPECT_EQ(at_cycle(cache, 0.5).latency, Time::nanoseconds(5));
  cache.clock = CacheClock::core;
  EXPECT_EQ(at_cycle(cache, 0.5).latency, Time::nanoseconds(2.5));
  EXPECT_DOUBLE_EQ(at_cycle(cache, 0.5).bandwidth_per_core.bytes_per_second(), 128e9);
}

}  // namespace
}  // namespace homenode::test
