// What a call takes, from samples that others may have disturbed.
#include <gtest/gtest.h>

#include <vector>

extern "C" {
#include "traces/capture/runtime/call_times.h"
}

namespace homenode {
namespace {

double time_of(std::vector<hn_call_time> samples) { return hn_time_of_a_call(samples.data(), samples.size()); }

TEST(CallTimes, AreMeansByTheCallsThatASampleStandsFor) {
  EXPECT_EQ(time_of({}), 0);
  EXPECT_EQ(time_of({{1, 100, false}, {3, 60, false}}), 70);
}

TEST(CallTimes, LeaveOutWhatLiesBesideOthers) { EXPECT_EQ(time_of({{1, 160, true}, {1, 100, false}, {2, 170, true}}), 100); }

TEST(CallTimes, TakeAllWhereTooFewWereAlone) { EXPECT_EQ(time_of({{1, 100, false}, {4, 200, true}}), 180); }

TEST(CallTimes, OfSamplesThatWereAllDisturbedAreTheirMean) { EXPECT_EQ(time_of({{1, 160, true}, {1, 180, true}}), 170); }

TEST(CallTimes, BoundASampleByWhatAQuarterOfTheCallsExceeds) {
  EXPECT_EQ(time_of({{3, 10, false}, {1, 100'000, false}}), (3 * 10 + 160) / 4.0);
}

}  // namespace
}  // namespace homenode
