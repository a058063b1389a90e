// Which cache model suits a trace.
#include "models/caches/choose_caches.hpp"

#include <gtest/gtest.h>

#include "sim/base/errors.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/workloads.hpp"
#include "tests/unit/models/caches/programs.hpp"

namespace homenode::test {
namespace {

// One region for each program, executed once.
class Programs final : public Workload {
public:
  explicit Programs(std::vector<Program> programs) {
    for (Program& program : programs) {
      const std::size_t first_pattern = patterns.size();
      Execution execution;
      execution.region = RegionId{regions.size()};
      execution.iterations = program.iterations();
      for (ItemBlock& block : program.body.blocks) {
        const ItemPattern& pattern = program.patterns[block.pattern.index()];
        execution.accesses += pattern.accesses * static_cast<std::uint64_t>(block.last - block.first);
        block.pattern = PatternId{first_pattern + block.pattern.index()};
      }
      patterns.insert(patterns.end(), program.patterns.begin(), program.patterns.end());
      const std::string label = "region" + std::to_string(regions.size());
      regions.emplace_back().label = label;
      executions.push_back(execution);
      bodies_.push_back(std::make_shared<const ExecutionBody>(std::move(program.body)));
    }
  }
  std::shared_ptr<const ExecutionBody> body(ExecutionId id) const override { return bodies_.at(id.index()); }

private:
  std::vector<std::shared_ptr<const ExecutionBody>> bodies_;
};

const Machine machine = one_node();
const LineTouchOptions options = LineTouchOptions::of(machine, StoreTreatment::regular);

TEST(ChooseCaches, LongRowsGoByRuns) {
  // A row of 1024 doubles is 128 lines: operands touch 128 or 129 at a time.
  const Programs workload{{stencil(1026, 8, false, 0, 1)}};
  const auto lengths = run_lengths(workload, options);
  ASSERT_EQ(lengths.size(), 1U);
  EXPECT_NEAR(lengths[0].lines_per_touch(), 128, 2);
  EXPECT_EQ(choose_caches("auto", workload, machine, options).name, "runs");
}

TEST(ChooseCaches, SmallBlocksGoByLines) {
  // Rows of 16 floats that begin one float behind a line: one line for most operands, 2 or 3 with their neighbours.
  const Programs workload{{blocked_stencil(1026, 4, 16, 0, 1)}};
  const CacheChoice choice = choose_caches("auto", workload, machine, options);
  EXPECT_EQ(choice.name, "lines");
  EXPECT_EQ(choice.region, "region0");
  EXPECT_GT(choice.lines_per_touch, 1);
  EXPECT_LT(choice.lines_per_touch, 3);
}

TEST(ChooseCaches, TheRegionWithMostTouchesDecides) {
  const Programs workload{{stencil(1026, 8, false, 0, 1), blocked_stencil(2050, 4, 16, 0, 1)}};
  const auto lengths = run_lengths(workload, options);
  ASSERT_EQ(lengths.size(), 2U);
  EXPECT_EQ(lengths[0].accesses, 6U * 1024 * 1024);
  EXPECT_EQ(lengths[1].accesses, 7U * 2048 * 2048);
  EXPECT_GT(lengths[1].touches, lengths[0].touches);
  EXPECT_EQ(choose_caches("auto", workload, machine, options).region, "region1");
}

TEST(ChooseCaches, OfFewIterationsEachIsLookedAt) {
  // The first reads 2048 lines one by one, the second 8192 doubles in a row, 1024 lines in few touches: 3072 lines in little over 2048.
  WorkloadBuilder builder;
  const ObjectId data = builder.object("data", 2048 * 4096);
  const RegionId loop = builder.loop("loop", 2);
  std::vector<std::int64_t> scattered = scattered_order(2048);
  for (std::int64_t& offset : scattered) offset *= 4096;
  builder.stream(loop, AccessKind::read, data, scattered);
  builder.next_block(loop, 1);
  builder.nest(loop, {8192}, {read(data, 0, {8})});
  builder.next_block(loop, 2);
  builder.repeat(loop);
  EXPECT_NEAR(run_lengths(*builder.build(), options).at(0).lines_per_touch(), 3072.0 / 2048, 0.02);
}

// Serial code is one iteration: rows fill a matrix of 1024 x 1024 doubles, then it is read down its columns, four times as often.
TEST(ChooseCaches, AProgramThatFillsItsArraysByRowsMayReadThemByColumns) {
  constexpr std::int64_t rows = 1024, row = rows * 8;
  WorkloadBuilder builder;
  const ObjectId data = builder.object("data", rows * row);
  const RegionId code = builder.loop("code", 1);
  builder.nest(code, {rows * rows}, {read(data, 0, {8})});
  builder.nest(code, {rows, rows, 4}, {read(data, 0, {row, 8, 0})});
  builder.repeat(code);
  const auto workload = builder.build();
  EXPECT_LT(run_lengths(*workload, options).at(0).lines_per_touch(), 1.2);
  EXPECT_EQ(choose_caches("auto", *workload, machine, options).region, "code");
  EXPECT_NE(choose_caches("auto", *workload, machine, options).name, "runs");
}

// So many blocks of 16 x 16, each in lines of its own.
Programs blocks_of(std::int64_t count) {
  Program program = blocked_stencil(2050, 4, 16, 0, 1);
  for (ItemBlock& block : program.body.blocks) block.last = block.first;
  program.body.blocks.resize(1);
  program.body.blocks[0].last = count;
  return Programs{{std::move(program)}};
}

TEST(ChooseCaches, ManySingleLinesAreSampled) {
  EXPECT_EQ(choose_caches("auto", blocks_of(1000), machine, options).name, "lines");
  EXPECT_EQ(choose_caches("auto", blocks_of(1'000'000), machine, options).name, "lines:sample=8");
  Machine few_sets = machine;
  few_sets.caches[0].size = Bytes{16 * 64};
  EXPECT_EQ(choose_caches("auto", blocks_of(1'000'000), few_sets, options).name, "lines");
  EXPECT_TRUE(is_by_lines("lines") && is_by_lines("lines:sample=8") && !is_by_lines("runs"));
}

TEST(ChooseCaches, ANameIsTakenAndAnotherRefused) {
  const Programs workload{{stencil(66, 8, false, 0, 1)}};
  EXPECT_EQ(choose_caches("lines", workload, machine, options).name, "lines");
  EXPECT_EQ(choose_caches("runs", workload, machine, options).region, "");
  EXPECT_EQ(choose_caches("lines:sample=4", workload, machine, options).name, "lines:sample=4");
  EXPECT_EQ(choose_caches("lines:4", workload, machine, options).name, "lines:sample=4");
  EXPECT_EQ(choose_caches("lines:sample=1", workload, machine, options).name, "lines");
  for (const char* refused : {"exact", "lines:sample=3", "lines:samples=4", "lines:sample=64", "runs:sample=2"})
    EXPECT_THROW(choose_caches(refused, workload, machine, options), UsageError) << refused;
}

// With snoops the other socket's cache answers for memory; a directory knows of modified lines only.
TEST(MakeCaches, LinesComeFromCachesThatHoldThemCleanWhereTheMachineSnoops) {
  LineTouch touch;
  touch.lines = LineRange::of(100, 101);
  touch.reads = true;
  for (const SnoopMode snoop : {SnoopMode::source, SnoopMode::directory}) {
    Machine machine = two_sockets();
    machine.snoop = snoop;
    const auto caches = make_caches("lines", machine, 0);
    CacheOutcome outcome;
    outcome.hit_lines.resize(machine.caches.size());
    outcome.hit_weight.resize(machine.caches.size());
    for (const CoreId core : {CoreId{0u}, CoreId{machine.cores() - 1}}) caches->access(core, {&touch, 1}, outcome);
    EXPECT_EQ(outcome.transfers.size(), snoop == SnoopMode::source ? 1u : 0u);
    EXPECT_EQ(outcome.reads.size(), snoop == SnoopMode::source ? 1u : 2u);
  }
}

}  // namespace
}  // namespace homenode::test
