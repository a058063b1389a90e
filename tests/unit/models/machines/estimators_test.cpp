// What figures say of parameters, from made-up figures that follow the model's own equations.
#include "models/machines/native/estimators.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

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
  EXPECT_EQ(beside.serial, 0);
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
