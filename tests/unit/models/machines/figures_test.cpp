// Figures out of passes, from made-up samples and made-up use of processors: no clock, no measurement.
#include "models/machines/native/figures.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace homenode::native {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const SettlingLimits limits{.least_passes = 5, .most_passes = 12, .within = 0.03};

Figures times(const std::vector<double>& values, Kind kind = Kind::time) {
  Figures figures;
  for (const double value : values) figures.add("figure", value, kind);
  return figures;
}

// P(Binomial(n, 1/2) < k) <= 5 %: k = 1 for n = 5 (3.1 %), 2 for 8 (3.5 %), 3 for 11 (3.3 %); none for 4 (6.3 %).
// P(Binomial(n, 3/4) < m) <= 5 %: m = 2 for n = 5 (1.6 %), 4 for 8 (2.7 %), 6 for 11 (3.4 %). P(Binomial(n, 1/4) < k): none below 11 (4.2
// %).
TEST(QuantileInterval, TakesTheOrderStatisticsThatHoldNinetyPercent) {
  const auto bounds = [](std::size_t n, double share = 0.5) {
    std::vector<double> samples;
    for (std::size_t i = n; i > 0; --i) samples.push_back(static_cast<double>(i));  // n ... 1
    const Interval interval = quantile_interval(samples, share);
    return std::pair{interval.low, interval.high};
  };
  EXPECT_EQ(bounds(5, 0.25), (std::pair{1.0, 4.0}));
  EXPECT_EQ(bounds(8, 0.25), (std::pair{1.0, 5.0}));
  EXPECT_EQ(bounds(11, 0.25), (std::pair{1.0, 6.0}));
  EXPECT_EQ(bounds(8, 0.75), (std::pair{4.0, 8.0}));
  EXPECT_EQ(bounds(4), (std::pair{1.0, 4.0}));
  EXPECT_EQ(bounds(5), (std::pair{1.0, 5.0}));
  EXPECT_EQ(bounds(8), (std::pair{2.0, 7.0}));
  EXPECT_EQ(bounds(11), (std::pair{3.0, 9.0}));
  EXPECT_EQ(quantile_interval({}, 0.5).high, 0);
}

TEST(Figures, AFigureIsAQuantileAndItsPassesBoundIt) {
  const Spread spread = times({100, 101, 96, 100, 102}, Kind::other).of("figure", limits);
  EXPECT_EQ(spread.value, 100);
  EXPECT_EQ(spread.low, 96);
  EXPECT_EQ(spread.high, 103);  // it counts as settled within 3 %: that much is open
  EXPECT_EQ(spread.passes, 5u);
  EXPECT_EQ(spread.unsettled, "it is known to 4 % after 5 passes");
  EXPECT_EQ(times({100, 104, 140, 108, 100}).of("figure", limits).value, 100);            // a quarter is below
  EXPECT_EQ(times({60, 100, 104, 40, 108}, Kind::rate).of("figure", limits).value, 104);  // three quarters
  EXPECT_EQ(times({60, 100, 104, 40, 108}, Kind::other).of("figure", limits).value, 100);
  EXPECT_TRUE(times({100, 101, 99, 100, 102}).settled("figure", limits));
  EXPECT_EQ(times({1}).of("another", limits).passes, 0u);
}

TEST(Figures, WhatDidNotSettleIsSaid) {
  EXPECT_EQ(times({100, 101, 99, 100}).of("figure", limits).unsettled, "only 4 of 5 passes were undisturbed");
  EXPECT_EQ(times({100, 101}).of("figure", limits).unsettled, "only 2 of 5 passes");  // fewer than three: the best counts
  EXPECT_EQ(times({100, 101, 99, 100, 110}, Kind::other).of("figure", limits).unsettled, "it is known to 10 % after 5 passes");
  EXPECT_EQ(times({100, 101, 99, 100, 110}).of("figure", limits).unsettled, "");  // the last of five lies outside of the interval
  EXPECT_EQ(times({100, 101, 99, 100, 90}).of("figure", limits).unsettled, "it is known to 9 % after 5 passes");
  // one stray pass of eight lies outside of the interval, 2nd to 7th
  EXPECT_EQ(times({100, 101, 99, 100, 101, 99, 100, 150}, Kind::other).of("figure", limits).unsettled, "");
}

TEST(Figures, DisturbedPassesCountOnlyWhereTooFewWereNot) {
  Figures figures = times({100, 101, 99, 100, 100});
  figures.add("figure", 900, Kind::time, "others were busy");
  EXPECT_EQ(figures.of("figure", limits).high, 103);
  EXPECT_EQ(figures.of("figure", limits).disturbance, "");
  Figures disturbed = times({100, 104});
  for (const double value : {150.0, 90.0, 300.0}) disturbed.add("figure", value, Kind::time, "others were busy");
  EXPECT_EQ(disturbed.of("figure", limits).value, 90);             // the best: others only make it longer
  EXPECT_EQ(disturbed.of("figure", limits).low, 90 - (100 - 90));  // the next better one may be as far as the next worse one
  EXPECT_EQ(disturbed.of("figure", limits).disturbance, "others were busy");
  EXPECT_FALSE(disturbed.settled("figure", limits));
}

TEST(Figures, TheBestOfDisturbedRatesIsTheLargest) {
  Figures figures;
  for (const double value : {10.0, 14.0, 12.0, 11.0, 9.0}) figures.add("rate", value, Kind::rate, "others were busy");
  for (const double value : {10.0, 14.0, 12.0, 11.0, 9.0}) figures.add("count", value, Kind::other, "others were busy");
  EXPECT_EQ(figures.of("rate", limits).value, 14);
  EXPECT_EQ(figures.of("count", limits).value, 11);
}

struct Script {
  std::vector<double> values;
  unsigned calls = 0;
  MeasuringStep step(const std::string& name) {
    return {name, [this, name](const MeasuringStep::Found& found) { found(name, values[calls++ % values.size()], Kind::time); }};
  }
};

TEST(Passes, StepsGoOnUntilTheyHaveSettled) {
  Script steady{{100, 100.5}}, wild{{100, 200, 150}};
  std::vector<std::string> asked;
  MeasuringEnvironment quiet{[&](const std::string& step) { asked.push_back(step); }, [] { return Usage{}; }};
  const Figures figures = measure_in_passes({steady.step("steady"), wild.step("wild")}, limits, quiet);
  EXPECT_EQ(steady.calls, limits.least_passes);
  EXPECT_EQ(wild.calls, limits.most_passes);
  EXPECT_THAT(figures.names(), ElementsAre("steady", "wild"));
  EXPECT_TRUE(figures.settled("steady", limits));
  EXPECT_THAT(figures.of("wild", limits).unsettled, HasSubstr("after 12 passes"));
  // pass by pass, not step by step: the samples of one figure lie apart
  EXPECT_THAT(std::vector(asked.begin(), asked.begin() + 4), ElementsAre("pass 1 of at most 12: steady", "pass 1 of at most 12: wild",
                                                                         "pass 2 of at most 12: steady", "pass 2 of at most 12: wild"));
  EXPECT_EQ(asked.back(), "pass 12 of at most 12: wild");
}

TEST(Passes, AStepThatWasDisturbedIsMeasuredAgain) {
  // Others use a processor for 1 s of each of the first four steps of 2 s.
  unsigned looked = 0;
  Usage now;
  const auto usage = [&] {
    const Usage seen = now;
    now.wall_seconds += 2;
    now.busy_seconds += looked++ < 8 ? 1 : 0;
    return seen;
  };
  Script steady{{100}};
  const Figures figures = measure_in_passes({steady.step("steady")}, limits, {{}, usage});
  EXPECT_EQ(steady.calls, 4 + limits.least_passes);
  EXPECT_TRUE(figures.settled("steady", limits));
}

TEST(Passes, AStepWaitsUntilOthersHaveLeftItsCores) {
  // Others have work when asked first, and go while the step waits; during the second pass of three they are there again.
  std::vector<double> shares{1, 1, 0.02, 0.02, 0.02, 0.9, 0, 0, 0, 0, 0, 0};
  unsigned asked = 0, pauses = 0;
  MeasuringEnvironment environment{{}, [] { return Usage{}; }};
  environment.others = [&](const MeasuringStep&) { return asked < shares.size() ? shares[asked++] : 0; };
  environment.pause = [&] { ++pauses; };
  Script script{{100, 150, 100}};
  const Figures figures = measure_in_passes({script.step("work")}, {.least_passes = 2, .most_passes = 3}, environment);
  EXPECT_EQ(pauses, 2U);
  EXPECT_EQ(script.calls, 3U);
  // The pass beside others does not count.
  EXPECT_EQ(figures.of("work", {.least_passes = 2}).passes, 2U);
  EXPECT_DOUBLE_EQ(figures.of("work", {.least_passes = 2}).high, 103);
}

TEST(Passes, AStepThatWaitsInVainSaysThatOthersWereThere) {
  unsigned pauses = 0;
  MeasuringEnvironment environment{{}, [] { return Usage{}; }};
  environment.others = [](const MeasuringStep&) { return 0.4; };
  environment.pause = [&] { ++pauses; };
  Script script{{100}};
  const Figures figures = measure_in_passes({script.step("work")}, {.least_passes = 1, .most_passes = 1}, environment);
  EXPECT_EQ(pauses, 10U);
  EXPECT_THAT(figures.of("work", limits).disturbance, HasSubstr("others had work on its cores in 40 % of the probes"));
}

TEST(Passes, AStepThatMeasuresOthersIsNotDisturbedByThem) {
  unsigned asked = 0;
  MeasuringEnvironment environment;
  environment.usage = [] { return Usage{}; };
  environment.others = [&](const MeasuringStep&) {
    ++asked;
    return 1.0;
  };
  MeasuringStep step{"what others leave", [](const MeasuringStep::Found& found) { found("left", 1.5, Kind::other); }};
  step.of_others = true;
  const Figures figures = measure_in_passes({step}, {}, environment);
  EXPECT_EQ(asked, 0u);
  EXPECT_TRUE(figures.settled("left", {}));
}

TEST(Passes, StepsThatSwitchThreadsThemselvesAreNotHeldAgainstOthers) {
  Usage now;
  const auto usage = [&] {
    const Usage seen = now;
    now.involuntary_switches += 1000;
    now.cpu_seconds += 1;
    return seen;
  };
  Script script{{100}};
  MeasuringStep step = script.step("switches");
  step.switches_threads = true;
  EXPECT_TRUE(measure_in_passes({step}, limits, {{}, usage}).settled("switches", limits));
  EXPECT_FALSE(measure_in_passes({script.step("work")}, limits, {{}, usage}).settled("work", limits));
}

}  // namespace
}  // namespace homenode::native
