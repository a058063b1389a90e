#include "models/engines/parts/core_times.hpp"

#include <gtest/gtest.h>

#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

// 10 iterations of 8 instructions and 3 loads, then 10 of 4 and 1.
std::shared_ptr<Workload> of_two_blocks() {
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", 1 << 20, ObjectKind::mapped);
  const RegionId loop = builder.loop("loop", 20);
  builder.nest(loop, {1}, {read(array, 0, {8}, 4096)});
  builder.work(loop, {.instructions = 8, .load = 3});
  builder.next_block(loop, 10);
  builder.nest(loop, {2}, {read(array, 64, {8}, 4096)});
  builder.work(loop, {.instructions = 4, .load = 1});
  builder.repeat(loop);
  return builder.build();
}

FilteredSlice slice_of(std::int64_t first, std::int64_t last, double share = 1) {
  FilteredSlice slice;
  slice.items = {ExecutionId{0U}, first, last};
  slice.share = share;
  return slice;
}

TEST(CoreTimes, areSumsOverTheIterationsOfEachBlock) {
  const auto workload = of_two_blocks();
  Machine machine = one_node();
  machine.core.issue = 4;
  machine.core.load = 4;
  CoreTimes times{*workload, machine, nullptr};
  // 4 x 8 + 5 x 4 instructions at four a cycle of 0.5 ns
  const CoreTimes::Work found = times.of(slice_of(6, 15));
  EXPECT_DOUBLE_EQ(found.seconds, 13 * 0.5e-9);
  EXPECT_DOUBLE_EQ(found.loads, 4 * 3 + 5 * 1);
  EXPECT_DOUBLE_EQ(times.of(slice_of(6, 15, 0.25)).loads, 17.0 / 4);
  EXPECT_DOUBLE_EQ(times.of(slice_of(0, 20)).loads, 40);
}

TEST(CoreTimes, ofKnownCodeGoByItsBlocks) {
  const auto workload = of_two_blocks();
  const Machine machine = one_node();
  CodeCycles code;
  code.regions = {{.cycles = 0.5, .loads = 0.25}};
  CoreTimes times{*workload, machine, std::make_shared<const CodeCycles>(code)};
  EXPECT_DOUBLE_EQ(times.of(slice_of(0, 10)).seconds, 80 * 0.5 * 0.5e-9);
  EXPECT_DOUBLE_EQ(times.of(slice_of(0, 10)).loads, 80 * 0.25);
  // Of its loads nothing is known: the class counts.
  code.regions = {{.cycles = 0.5}};
  CoreTimes unknown{*workload, machine, std::make_shared<const CodeCycles>(code)};
  EXPECT_DOUBLE_EQ(unknown.of(slice_of(0, 10)).loads, 30);
}

}  // namespace
}  // namespace homenode::test
