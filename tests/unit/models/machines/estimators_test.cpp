// What figures say of parameters, from made-up figures that follow the model's own equations.
#include "models/machines/native/estimators.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/machine/random_sweep.hpp"

namespace homenode::native {
namespace {

using testing::DoubleNear;

// A cache of S bytes serves S / W of a larger set: t = hit S / W + memory (1 - S / W).
std::vector<LatencyPoint> curve_of(double served, double hit, double memory) {
  std::vector<LatencyPoint> curve;
  for (double bytes = 1 << 20; bytes <= (1 << 29); bytes *= 2) {
    const double share = std::min(1.0, served / bytes);
    curve.push_back({bytes, hit * share + memory * (1 - share)});
  }
  return curve;
}

TEST(ServedBytes, FindsTheCacheThatIsThere) {
  EXPECT_NEAR(served_bytes(curve_of(12e6, 14, 120), 14, 120), 12e6, 1);
  EXPECT_NEAR(served_bytes(curve_of(32 << 20, 14, 120), 14, 120), 32 << 20, 1);
  EXPECT_EQ(served_bytes(curve_of(12e6, 14, 120), 14, 14), 0);  // no miss is seen
  // a latency 1 % off far beyond the cache says nothing
  std::vector<LatencyPoint> curve = curve_of(12e6, 14, 120);
  curve.back().nanoseconds *= 0.95;
  EXPECT_NEAR(served_bytes(curve, 14, 120), 12e6, 1);
}

// Shares of hits by what is swept over what is held.
std::vector<LatencyPoint> curve_of(double bytes, const std::function<double(double)>& hits, double besides = 0) {
  std::vector<LatencyPoint> curve;
  for (double set = 4 << 20; set <= (128 << 20); set *= 2)
    for (const double more : {1.0, 1.25, 1.5, 1.75}) {
      const double share = hits((set * more - besides) / bytes);
      curve.push_back({set * more, 14 * share + 120 * (1 - share)});
    }
  return curve;
}
double lru(double ratio) { return ratio <= 1 ? 1 : 0; }
double best(double ratio) { return ratio <= 1 ? 1 : 1 / ratio; }

constexpr SweptLevel level{.bytes = 32 << 20, .ways = 16};

TEST(VictimLaws, EachLawIsKnownByItsOwnCurve) {
  const VictimLaws random = victim_laws(curve_of(22 << 20, random_sweep_hits), 14, 120, level);
  EXPECT_TRUE(random.is_random());
  EXPECT_FALSE(random.is_oldest());
  EXPECT_NEAR(random.random.bytes, 22 << 20, 0.03 * (22 << 20));
  EXPECT_LT(random.random.error, 0.02);
  const VictimLaws oldest = victim_laws(curve_of(22 << 20, lru), 14, 120, level);
  EXPECT_TRUE(oldest.is_oldest());
  EXPECT_FALSE(oldest.is_random());
  EXPECT_LT(oldest.oldest.error, 0.001);
  // 20 MiB are served, 24 MiB are not: anything between
  EXPECT_GE(oldest.oldest.bytes, 0.98 * (20 << 20));  // in steps of 2 %
  EXPECT_LE(oldest.oldest.bytes, 24 << 20);
  // What an adaptive choice could reach is neither.
  const VictimLaws other = victim_laws(curve_of(22 << 20, best), 14, 120, level);
  EXPECT_FALSE(other.is_random());
  EXPECT_FALSE(other.is_oldest());
  EXPECT_LT(other.best.error, 0.02);
}

// Frames scattered over sets of 16 ways: an LRU cache's knee is smooth, too, and is not taken for chance. P(Poisson(16 r) < 16) at
// r = 1 is 0.467, at 1.25 it is 0.157.
TEST(VictimLaws, ACrowdedSetIsNoChance) {
  const auto scattered = [](double ratio) {
    double below = 0;
    for (unsigned n = 0; n < 16; ++n) below += std::exp(n * std::log(16 * ratio) - 16 * ratio - std::lgamma(n + 1.0));
    return below;
  };
  EXPECT_NEAR(scattered(1), 0.467, 1e-3);
  const VictimLaws laws = victim_laws(curve_of(16 << 20, scattered), 14, 120, level);
  EXPECT_TRUE(laws.is_oldest());
  EXPECT_NEAR(laws.oldest.bytes, 16 << 20, 0.05 * (16 << 20));
}

TEST(VictimLaws, ALevelFilledByEvictionsNeedNotHoldWhatTheInnerOneDoes) {
  const VictimLaws laws = victim_laws(curve_of(8 << 20, random_sweep_hits, 2 << 20), 14, 120, {32 << 20, 16, 2 << 20});
  EXPECT_TRUE(laws.is_random());
  EXPECT_NEAR(laws.random.bytes, 8 << 20, 0.03 * (8 << 20));
}

TEST(VictimLaws, WhereNothingMissesOrAllDoesNoLawIsKnown) {
  const auto all = [](double) { return 1.0; };
  const auto none = [](double) { return 0.0; };
  for (const VictimLaws& laws :
       {victim_laws(curve_of(22 << 20, all), 14, 120, level), victim_laws(curve_of(22 << 20, none), 14, 120, level),
        victim_laws(curve_of(22 << 20, lru), 14, 14, level), victim_laws({}, 14, 120, level)}) {
    EXPECT_FALSE(laws.shown);
    EXPECT_FALSE(laws.is_random());
    EXPECT_FALSE(laws.is_oldest());
  }
}

// Latencies 5 % off, up and down: the law is found where the size of the level is known; where it could be a share of a larger one, none
// is.
TEST(VictimLaws, NoiseDoesNotMakeALawOfAnother) {
  std::vector<LatencyPoint> curve = curve_of(22 << 20, random_sweep_hits);
  for (std::size_t i = 0; i < curve.size(); ++i) curve[i].nanoseconds *= i % 2 == 0 ? 1.05 : 0.95;
  const VictimLaws whole = victim_laws(curve, 14, 120, {22 << 20, 16, 0});
  EXPECT_TRUE(whole.is_random());
  EXPECT_NEAR(whole.random.bytes, 22 << 20, 0.08 * (22 << 20));
  const VictimLaws share = victim_laws(curve, 14, 120, {64 << 20, 16, 0});
  EXPECT_FALSE(share.is_random());
  EXPECT_FALSE(share.is_oldest());
}

std::vector<ComposedPoint> composed(double theta) {
  std::vector<ComposedPoint> points;
  for (const double computing : {1.0, 2.0, 4.0, 8.0, 16.0})
    points.push_back({computing, 4, std::max(computing, 4.0) + theta * std::min(computing, 4.0)});
  return points;
}

TEST(Composition, FindsHowMuchOfTheShorterComesOnTop) {
  for (const double theta : {0.0, 0.3, 1.0}) {
    EXPECT_NEAR(composition(composed(theta)), theta, 1e-12);
    EXPECT_NEAR(composition_error(composed(theta), theta), 0, 1e-12);
  }
  // a sum read as a maximum: 1/5, 2/6, 4/8, 4/12, 4/20 of it are missing
  EXPECT_NEAR(composition_error(composed(1), 0), (1. / 5 + 2. / 6 + 4. / 8 + 4. / 12 + 4. / 20) / 5, 1e-12);
  EXPECT_EQ(composition({}), 0);
}

TEST(Reread, IsWhatComesOnTopOfTheLoopInACache) {
  const RereadLaw on_top = reread({{1, 4.5}, {4, 7.4}, {10, 13.6}}, 2);  // 3.5, 3.4, 3.6
  EXPECT_NEAR(on_top.slowdown, 3.5 / 2 - 1, 1e-12);
  EXPECT_NEAR(on_top.serial, (1 * 1 + 3.5 * 3.4 + 3.5 * 3.6) / (1 * 1 + 2 * 3.5 * 3.5), 1e-12);
  const RereadLaw beside = reread({{1, 2}, {4, 4.1}, {10, 10.1}}, 2);  // the larger of the two
  EXPECT_EQ(beside.slowdown, 0);
  EXPECT_NEAR(beside.serial, (2 * 0.1 + 2 * 0.1) / (1 * 1 + 2 * 2 * 2), 1e-12);
  const RereadLaw added = reread({{1, 2.8}, {4, 5.8}, {10, 11.8}}, 2);  // 1.8 of the 2 that a line takes alone
  EXPECT_EQ(added.slowdown, 0);
  EXPECT_NEAR(added.serial, (1 * 0.8 + 2 * 1.8 + 2 * 1.8) / (1 * 1 + 2 * 2 * 2), 1e-12);
  EXPECT_EQ(reread({}, 2).slowdown, 0);
}

TEST(SplitFault, ThreadsThatQueueShowTheLock) {
  // lock 1130 ns, 90 beside it: two threads at once take 2 x 1130 each
  const FaultSplit queued = split_fault(1220, 2260, 2);
  EXPECT_EQ(queued.serial, 1130);
  EXPECT_EQ(queued.parallel, 90);
  const FaultSplit whole = split_fault(1200, 2600, 2);  // longer than twice: all of it is serial
  EXPECT_EQ(whole.serial, 1200);
  EXPECT_EQ(whole.parallel, 0);
  const FaultSplit free = split_fault(500, 520, 4);
  EXPECT_EQ(free.serial, 0);
  EXPECT_EQ(free.parallel, 500);
  EXPECT_EQ(free.most_serial, 130);
}

TEST(Wakeups, AreTheEndsOfTheCurveAndItsMiddle) {
  const Wakeups found = wakeups({{5, 12e3}, {100, 14e3}, {300, 18e3}, {1000, 28e3}, {3000, 28e3}});
  EXPECT_EQ(found.shallow, 12e3);
  EXPECT_EQ(found.deep, 28e3);
  EXPECT_NEAR(*found.residency, 300 + (20e3 - 18e3) / (28e3 - 18e3) * 700, 1e-9);
  EXPECT_FALSE(wakeups({{5, 2e3}, {1000, 2.2e3}}).residency.has_value());
  EXPECT_EQ(wakeups({}).shallow, 0);
}

TEST(Sharing, IsDecidedByThroughput) {
  EXPECT_EQ(sharing(1.0), Sharing::own_cores);
  EXPECT_EQ(sharing(1.35), Sharing::unclear);
  EXPECT_EQ(sharing(1.9), Sharing::one_core);
}

}  // namespace
}  // namespace homenode::native
