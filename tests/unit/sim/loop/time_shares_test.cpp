// Moments told by hand: whose they are, and that they sum to the run.
#include "sim/loop/time_shares.hpp"

#include <gtest/gtest.h>

namespace homenode::test {
namespace {

Time ns(std::int64_t count) { return Time::nanoseconds(count); }
const ThreadId first{0u}, second{1u}, third{2u};
const RegionId one{0u}, two{1u};

Time sum(const TimeShares& shares) {
  const Overheads& other = shares.overheads();
  return shares.region(0) + shares.region(1) + other.fork + other.barrier + other.runtime + other.page_work + other.waiting;
}

TEST(TimeShares, threadsThatWorkShareTheMoment) {
  // 0-4 ns the first thread in region one; 4-8 both, in one and two; 8-10 the second: one 4 + 2, two 2 + 2.
  TimeShares shares{2, 2};
  shares.start(first, {one, Time{}, Time{}}, ns(0));
  shares.start(second, {two, Time{}, Time{}}, ns(4));
  shares.stop(first, ns(8));
  shares.stop(second, ns(10));
  shares.end(ns(10));
  EXPECT_EQ(shares.region(0), ns(6));
  EXPECT_EQ(shares.region(1), ns(4));
  EXPECT_EQ(sum(shares), ns(10));
}

TEST(TimeShares, aSliceIsTheRuntimesThenPageWorkThenTheRegions) {
  TimeShares shares{2, 1};
  shares.start(first, {one, ns(3), ns(4)}, ns(0));
  shares.stop(first, ns(12));
  shares.start(first, {two, Time{}, ns(2)}, ns(12));
  shares.stop(first, ns(15));
  shares.hand_out(first, ns(15), ns(18));
  shares.end(ns(20));
  EXPECT_EQ(shares.overheads().runtime, ns(6));
  EXPECT_EQ(shares.overheads().page_work, ns(6));
  EXPECT_EQ(shares.region(0), ns(5));
  EXPECT_EQ(shares.region(1), ns(1));
  EXPECT_EQ(shares.overheads().waiting, ns(2));
  EXPECT_EQ(sum(shares), ns(20));
}

TEST(TimeShares, forksAndBarriersAreWhatNobodyWorksIn) {
  // A fork until 5 ns, work until 9; a barrier from 9 to 12, while a thread works until 10; then nothing until 13.
  TimeShares shares{2, 2};
  shares.fork(RegionId{0u}, ns(0), ns(5));
  shares.start(first, {one, Time{}, Time{}}, ns(5));
  shares.start(second, {one, Time{}, Time{}}, ns(5));
  shares.stop(first, ns(9));
  shares.barrier(RegionId{1u}, ns(9), ns(12));
  shares.stop(second, ns(10));
  shares.end(ns(13));
  EXPECT_EQ(shares.overheads().fork, ns(5));
  EXPECT_EQ(shares.region(0), ns(5));
  EXPECT_EQ(shares.overheads().barrier, ns(2));
  EXPECT_EQ(shares.team_of_region(0), ns(5));
  EXPECT_EQ(shares.team_of_region(1), ns(2));
  EXPECT_EQ(shares.overheads().waiting, ns(1));
  EXPECT_EQ(sum(shares), ns(13));
}

TEST(TimeShares, nothingIsLostToRounding) {
  // Three threads in two regions share 10 ps, of which a third is no whole number.
  TimeShares shares{2, 3};
  const Time ten = Time::picoseconds(10);
  shares.start(first, {one, Time{}, Time{}}, Time{});
  shares.start(second, {two, Time{}, Time{}}, Time{});
  shares.start(third, {two, Time{}, Time{}}, Time{});
  shares.end(ten);
  EXPECT_EQ(sum(shares), ten);
  EXPECT_EQ(shares.region(1), Time::picoseconds(6));
}

}  // namespace
}  // namespace homenode::test
