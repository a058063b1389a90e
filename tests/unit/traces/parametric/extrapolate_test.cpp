#include "traces/parametric/extrapolate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "sim/base/errors.hpp"
#include "tests/support/workloads.hpp"
#include "traces/format/content_hash.hpp"
#include "traces/format/invariants.hpp"
#include "traces/format/trace_file.hpp"
#include "traces/format/trace_writer.hpp"

namespace homenode {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ExtrapolateTest : public ::testing::Test {
protected:
  ExtrapolateTest() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::temp_directory_path() / ("homenode-" + name + "-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~ExtrapolateTest() override { std::filesystem::remove_all(folder_); }

  using Made = std::function<std::shared_ptr<Workload>(std::int64_t)>;
  std::filesystem::path capture(const std::string& parameter, std::int64_t value, const Made& made,
                                const std::string& program = "program") {
    const std::shared_ptr<Workload> workload = made(value);
    workload->program = program;
    workload->arguments = "check=1 " + parameter + "=" + std::to_string(value);
    const std::filesystem::path path = folder_ / (program + parameter + std::to_string(value) + ".hnt");
    write_trace(path, *workload);
    return path;
  }
  ExtrapolationRequest request(const std::string& parameter, const std::vector<std::int64_t>& at, std::int64_t check, std::int64_t asked,
                               const Made& made) {
    ExtrapolationRequest result;
    for (const std::int64_t value : at) result.captures.push_back(capture(parameter, value, made));
    result.check = capture(parameter, check, made);
    result.set = {{parameter, asked}};
    result.output = folder_ / "extrapolated.hnt";
    return result;
  }
  // The trace that is extrapolated to `asked` is the trace that the program makes there.
  Extrapolation expect_exact(const ExtrapolationRequest& request, std::int64_t asked, const Made& made) {
    const Extrapolation found = extrapolate(request);
    const std::shared_ptr<Workload> truth = made(asked);
    EXPECT_EQ(found.content_hash, content_hash(*truth));
    const std::shared_ptr<Workload> written = open_trace(request.output);
    EXPECT_EQ(written->content_hash, found.content_hash);
    EXPECT_EQ(broken_invariants(*written), std::vector<std::string>{});
    std::uint64_t accesses = 0;
    for (const Execution& execution : truth->executions) accesses += execution.accesses;
    EXPECT_EQ(found.accesses, accesses);
    return found;
  }
  static std::string refusal(const ExtrapolationRequest& request) {
    try {
      extrapolate(request);
    } catch (const UsageError& error) { return error.what(); }
    return "no refusal";
  }
  std::filesystem::path folder_;
};

TEST_F(ExtrapolateTest, AStencilOfAnotherSizeIsTheOneThatIsBuilt) {
  const auto made = [](std::int64_t n) { return test::jacobi2d(n, 2); };
  const Extrapolation found = expect_exact(request("n", {10, 12, 14}, 20, 100, made), 100, made);
  // Accesses: 2 n^2 + 2 * 6 (n - 2)^2 = 2 * 10000 + 12 * 9604.
  EXPECT_EQ(found.accesses, 20000u + 12u * 9604u);
  EXPECT_EQ(found.captured_at, "n=10, n=12, n=14");
  EXPECT_EQ(found.checked_at, "n=20");
  EXPECT_EQ(found.arguments, "check=1 n=100");
}

TEST_F(ExtrapolateTest, ObjectsMayBeLargerThanAnyMemory) {
  const auto made = [](std::int64_t n) { return test::jacobi2d(n, 2); };
  const Extrapolation found = expect_exact(request("n", {10, 12, 14}, 20, 4000000, made), 4000000, made);
  // Two grids of n^2 doubles: 2 * 16e12 * 8 bytes.
  EXPECT_EQ(found.footprint_bytes, 256000000000000u);
}

TEST_F(ExtrapolateTest, StepsRepeatExecutionsWithSwappedObjects) {
  // Executions alternate between two grids: two steps are the period, so odd numbers of steps are no whole number of periods.
  const auto made = [](std::int64_t steps) { return test::jacobi2d(12, static_cast<unsigned>(steps)); };
  const ExtrapolationRequest even = request("steps", {6, 8, 10}, 14, 1000, made);
  EXPECT_EQ(expect_exact(even, 1000, made).executions, 1001u);
  ExtrapolationRequest odd = even;
  odd.set = {{"steps", 15}};
  EXPECT_THAT(refusal(odd), AllOf(HasSubstr("region 'sweep'"), HasSubstr("7.5"), HasSubstr("steps=15")));
}

TEST_F(ExtrapolateTest, BlocksOfAGrowingGridAreMatchedByTheirLaw) {
  // A grid of n x 24 x 24 in blocks of 4 x 4 x 4: blocks along the first direction, each row of blocks with its edges.
  const auto made = [](std::int64_t n) { return test::jacobi3d(n, 24, 24, 4, 4, 4, 1); };
  expect_exact(request("ni", {24, 28, 32}, 44, 200, made), 200, made);
}

TEST_F(ExtrapolateTest, ACubeNeedsAFourthCapture) {
  const auto made = [](std::int64_t n) { return test::jacobi3d(n, n, n, 4, 4, n, 1); };
  // Objects have 8 n^3 bytes, which a parabola through three captures misses at the fourth.
  EXPECT_THAT(refusal(request("n", {24, 28, 32}, 40, 80, made)),
              AllOf(HasSubstr("is not predicted"), HasSubstr("object 'a': bytes"), HasSubstr("is 512000")));
  expect_exact(request("n", {24, 28, 32, 36}, 44, 80, made), 80, made);
}

// Rank r of a team of T sums its own block of `cells` and then reads its neighbour's first cell; ranks beyond the last have none.
std::shared_ptr<Workload> bound_code(std::int64_t team, std::int64_t cells) {
  WorkloadBuilder builder;
  std::vector<ObjectId> blocks;
  for (std::int64_t r = 0; r < team; ++r) blocks.push_back(builder.object("block", static_cast<std::uint64_t>(cells * 8)));
  const RegionId region = builder.bound("sum", static_cast<std::uint32_t>(team));
  for (std::int64_t r = 0; r < team; ++r) {
    builder.nest(region, {static_cast<std::uint32_t>(cells)}, {read(blocks[static_cast<std::size_t>(r)], 0, {8})});
    if (r + 1 < team) builder.nest(region, {1}, {read(blocks[static_cast<std::size_t>(r + 1)], 0, {0})});
    builder.next_block(region, r + 1);
  }
  builder.repeat(region, 2);
  return builder.build();
}

TEST_F(ExtrapolateTest, ATeamGrowsByRanksWithBlocksOfTheirOwn) {
  const auto made = [](std::int64_t team) { return bound_code(team, 100); };
  // Two executions, each of T (cells + 1) - 1 accesses.
  const Extrapolation found = expect_exact(request("team", {4, 5, 6}, 8, 256, made), 256, made);
  EXPECT_EQ(found.accesses, 2u * (256u * 101u - 1u));
}

TEST_F(ExtrapolateTest, ParametersThatMoveTogetherAreOne) {
  const auto made = [](std::int64_t n) { return bound_code(n, 10 * n); };
  ExtrapolationRequest all;
  for (const std::int64_t n : {4, 5, 6, 8}) {
    const std::shared_ptr<Workload> workload = made(n);
    workload->program = "program";
    workload->arguments = "team=" + std::to_string(n) + " cells=" + std::to_string(10 * n);
    all.captures.push_back(folder_ / (std::to_string(n) + ".hnt"));
    write_trace(all.captures.back(), *workload);
  }
  all.check = all.captures.back();
  all.captures.pop_back();
  all.output = folder_ / "extrapolated.hnt";
  all.set = {{"team", 32}};
  EXPECT_EQ(expect_exact(all, 32, made).arguments, "team=32 cells=320");
  all.set = {{"cells", 400}};
  EXPECT_EQ(expect_exact(all, 40, made).arguments, "team=40 cells=400");
  all.set = {{"team", 32}, {"cells", 330}};
  EXPECT_THAT(refusal(all), AllOf(HasSubstr("vary together"), HasSubstr("cells=320")));
  all.set = {{"cells", 333}};
  EXPECT_THAT(refusal(all), HasSubstr("'team' would be no whole number at cells=333"));
}

TEST_F(ExtrapolateTest, TwoParametersAtOnce) {
  // f(team, cells) needs team * cells nowhere but in no number of the trace: blocks of `cells`, `team` of them.
  ExtrapolationRequest all;
  const auto add = [&](std::int64_t team, std::int64_t cells) {
    const std::shared_ptr<Workload> workload = bound_code(team, cells);
    workload->program = "program";
    workload->arguments = "team=" + std::to_string(team) + " cells=" + std::to_string(cells);
    all.captures.push_back(folder_ / (std::to_string(team) + "-" + std::to_string(cells) + ".hnt"));
    write_trace(all.captures.back(), *workload);
  };
  add(4, 100);
  add(6, 100);
  add(4, 130);
  add(8, 177);
  all.check = all.captures.back();
  all.captures.pop_back();
  all.output = folder_ / "extrapolated.hnt";
  all.set = {{"team", 64}, {"cells", 1000}};
  EXPECT_EQ(extrapolate(all).content_hash, content_hash(*bound_code(64, 1000)));
}

TEST_F(ExtrapolateTest, InstructionsAreInterpolatedByRegion) {
  // An iteration of n accesses costs 20 + 3 n instructions, which two rates a region say exactly.
  const auto made = [](std::int64_t n) {
    WorkloadBuilder builder;
    const ObjectId a = builder.object("a", static_cast<std::uint64_t>(n * n * 8));
    const RegionId region = builder.loop("sweep", n);
    builder.nest(region, {static_cast<std::uint32_t>(n)}, {read(a, 0, {8}, n * 8)});
    WorkCounts work;
    work.instructions = 20.0 + 3.0 * static_cast<double>(n);
    work.fp_add = static_cast<double>(n);
    builder.work(region, work);
    builder.repeat(region);
    return builder.build();
  };
  const ExtrapolationRequest all = request("n", {10, 12, 14}, 20, 1000, made);
  EXPECT_NEAR(expect_exact(all, 1000, made).work_error, 0.0, 1e-12);
  const std::shared_ptr<Workload> written = open_trace(all.output);
  const ItemPattern& pattern = written->patterns.at(written->body(ExecutionId{0})->blocks.at(0).pattern.index());
  EXPECT_NEAR(pattern.work.instructions, 3020.0, 1e-6);
  EXPECT_NEAR(pattern.work.fp_add, 1000.0, 1e-6);
}

TEST_F(ExtrapolateTest, TheTraceSaysThatItIsExtrapolated) {
  const auto made = [](std::int64_t n) { return test::jacobi2d(n, 2); };
  ExtrapolationRequest all = request("n", {10, 12, 14}, 20, 100, made);
  extrapolate(all);
  const TraceFile written{all.output};
  ASSERT_EQ(written.losses.size(), 1u);
  EXPECT_THAT(written.losses[0].reason, AllOf(HasSubstr("n=10, n=12, n=14"), HasSubstr("n=20"), HasSubstr("interpolated")));
  ASSERT_FALSE(written.meta.features.empty());
  EXPECT_THAT(written.meta.features.back(), HasSubstr("extrapolated"));
  EXPECT_EQ(written.meta.tool, "homenode extrapolate");
  all.captures[1] = all.output;
  EXPECT_THAT(refusal(all), HasSubstr("is itself extrapolated"));
}

TEST_F(ExtrapolateTest, IrregularAccessesAreRefusedByRegion) {
  const auto made = [](std::int64_t n) { return test::chase(n, 4 * n, 2); };
  EXPECT_THAT(refusal(request("nodes", {50, 60, 70}, 80, 100, made)), AllOf(HasSubstr("region 'chase'"), HasSubstr("irregular read")));
}

TEST_F(ExtrapolateTest, WhatIsNoPolynomialIsRefusedByRegionAndField) {
  // Blocks of 2^k cells: a polynomial of degree 3 meets four captures and misses the fifth; with five captures, none is found.
  const auto made = [](std::int64_t k) {
    WorkloadBuilder builder;
    const std::int64_t cells = std::int64_t{1} << k;
    const ObjectId a = builder.object("a", 8 * 1024 * 1024);
    const RegionId region = builder.loop("halve", 1);
    builder.nest(region, {static_cast<std::uint32_t>(cells)}, {read(a, 0, {8})});
    builder.repeat(region);
    return builder.build();
  };
  EXPECT_THAT(refusal(request("k", {3, 4, 5}, 8, 10, made)),
              AllOf(HasSubstr("is not predicted"), HasSubstr("region 'halve'"), HasSubstr("count of dimension 0"), HasSubstr("is 256")));
  EXPECT_THAT(refusal(request("k", {3, 4, 5, 6, 7, 8}, 9, 10, made)),
              AllOf(HasSubstr("is not affine"), HasSubstr("region 'halve'"), HasSubstr("count of dimension 0"), HasSubstr("8 at k=3")));
}

TEST_F(ExtrapolateTest, WhatDoesNotFitTogetherIsRefused) {
  const auto made = [](std::int64_t n) { return test::jacobi2d(n, 2); };
  const ExtrapolationRequest good = request("n", {10, 12, 14}, 20, 100, made);
  const auto with = [&](const auto& change) {
    ExtrapolationRequest bad = good;
    change(bad);
    return refusal(bad);
  };
  EXPECT_THAT(with([](auto& bad) { bad.captures.pop_back(); }), HasSubstr("2 captures; allowed: at least three"));
  EXPECT_THAT(with([](auto& bad) { bad.check.clear(); }), HasSubstr("--check FILE"));
  EXPECT_THAT(with([](auto& bad) { bad.check = bad.captures[1]; }), HasSubstr("the parameters of one of the captures (n=12)"));
  EXPECT_THAT(with([](auto& bad) { bad.captures[1] = bad.captures[0]; }), HasSubstr("have the same parameters (n=10)"));
  EXPECT_THAT(with([](auto& bad) {
                bad.captures = {bad.captures[0], bad.captures[0], bad.captures[0]};
              }),
              HasSubstr("all captures have the same parameters"));
  EXPECT_THAT(with([](auto& bad) { bad.set = {{"m", 5}}; }), AllOf(HasSubstr("'m'"), HasSubstr("allowed: n")));
  EXPECT_THAT(with([](auto& bad) { bad.set = {{"n", 1}}; }), HasSubstr("would be -1"));
  const std::filesystem::path other = capture("n", 16, made, "other"), words = capture("m", 16, made);
  EXPECT_THAT(with([&](auto& bad) { bad.captures[2] = other; }), HasSubstr("captures of different programs"));
  EXPECT_THAT(with([&](auto& bad) { bad.check = other; }), HasSubstr("is a trace of other"));
  EXPECT_THAT(with([&](auto& bad) { bad.captures[2] = words; }), HasSubstr("whole numbers only"));
  EXPECT_THAT(with([&](auto& bad) { bad.check = words; }), HasSubstr("with other whole numbers for what varies"));
  EXPECT_FALSE(std::filesystem::exists(good.output));
}

TEST_F(ExtrapolateTest, AHeldOutCaptureOfAnotherStructureIsRefusedByRegion) {
  // From n = 18 on, rows are swept in two halves.
  const auto made = [](std::int64_t n) {
    WorkloadBuilder builder;
    const ObjectId a = builder.object("a", static_cast<std::uint64_t>(n * n * 8));
    const RegionId region = builder.loop("sweep", n);
    const auto half = static_cast<std::uint32_t>(n / 2);
    if (n < 18) {
      builder.nest(region, {2 * half}, {read(a, 0, {8}, n * 8)});
    } else {
      builder.nest(region, {half}, {read(a, 0, {8}, n * 8)});
      builder.nest(region, {half}, {write(a, half * 8, {8}, n * 8)});
    }
    builder.repeat(region);
    return builder.build();
  };
  EXPECT_THAT(refusal(request("n", {10, 12, 14}, 20, 100, made)), AllOf(HasSubstr("region 'sweep'"), HasSubstr("structure")));
}

}  // namespace
}  // namespace homenode
