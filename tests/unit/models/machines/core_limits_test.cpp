// What times of streams side by side say of prefetchers, from made-up times that follow the model's own equation.
#include "models/machines/native/core_limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace homenode::native {
namespace {

// `followed` of n streams are followed at a time: 2 ns a line, others 9 ns.
std::vector<StreamsPoint> times_of(double followed) {
  std::vector<StreamsPoint> points;
  for (const double streams : {1., 2., 4., 8., 16., 24., 32., 40., 48., 64.}) {
    const double share = std::min(1.0, followed / streams);
    points.push_back({streams, 2 * share + 9 * (1 - share)});
  }
  return points;
}

TEST(FollowedStreams, AreFoundWhateverTheirNumber) {
  for (const double followed : {3., 8., 10., 16., 26., 32., 50.})
    EXPECT_NEAR(followed_streams(times_of(followed), 9).streams, followed, 1e-9);
}

TEST(FollowedStreams, AreNotKnownWhereNoneIsLost) {
  EXPECT_EQ(followed_streams(times_of(64), 9).streams, 0);
  EXPECT_EQ(followed_streams(times_of(1000), 9).streams, 0);
  EXPECT_EQ(followed_streams({}, 9).streams, 0);
  EXPECT_EQ(followed_streams(times_of(16), 2.2).streams, 0);  // what the core asks for comes as fast
}

TEST(FollowedStreams, ATimeThatStandsOutAmongFewStreamsSaysNothing) {
  auto points = times_of(16);
  points[1].nanoseconds = 5;  // as two streams that meet in the DRAM's banks
  EXPECT_NEAR(followed_streams(points, 9).streams, 16, 1e-9);
}

TEST(FollowedStreams, OfATableThatLosesAllAreAtLeastThoseThatItStillFollowed) {
  auto points = times_of(1000);
  for (auto& point : points)
    if (point.streams > 16) point.nanoseconds = 9;
  const FollowedStreams found = followed_streams(points, 9);
  EXPECT_EQ(found.streams, 16);
  EXPECT_LE(found.low, found.streams);
  EXPECT_GE(found.high, found.streams);
}

// Strides up to `limit` are prefetched, 2 ns a load; others the core asks for, 9 ns.
double limit_found(double limit) {
  std::vector<StridePoint> points;
  for (const double bytes : {128., 256., 512., 1024., 2048.}) points.push_back({bytes, bytes <= limit ? 2.0 : 9.0});
  return followed_stride(points, 2, 9, 64);
}

TEST(FollowedStride, IsTheLargestUpToWhichAllAreFollowed) {
  EXPECT_EQ(limit_found(64), 64);  // the next line alone
  EXPECT_EQ(limit_found(512), 512);
  EXPECT_EQ(limit_found(1 << 20), 2048);
  const std::vector<StridePoint> gap{{128, 2}, {256, 9}, {512, 2}};
  EXPECT_EQ(followed_stride(gap, 2, 9, 64), 128);
}

TEST(FollowedStride, LiesBetweenTheTwoTimes) {
  const std::vector<StridePoint> points{{128, 5.4}, {256, 5.6}};  // half way: 5.5 ns
  EXPECT_EQ(followed_stride(points, 2, 9, 64), 128);
}

TEST(LinesBeforePrefetch, AreTheRunsFirstOnes) {
  // 10 lines of 9 ns and 54 of 2 ns: (90 + 108) / 64 ns a line.
  EXPECT_NEAR(lines_before_prefetch(198.0 / 64, 64, 2, 9), 10, 1e-9);
  EXPECT_EQ(lines_before_prefetch(1.9, 64, 2, 9), 0);
  EXPECT_EQ(lines_before_prefetch(11, 64, 2, 9), 64);
}

}  // namespace
}  // namespace homenode::native
