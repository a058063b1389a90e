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

// So many of 100 ns that nobody disturbed, and one of 160 ns beside others that stands for `calls`.
std::vector<hn_call_time> disturbed(std::size_t alone, std::uint64_t calls) {
  std::vector<hn_call_time> samples(alone, {1, 100, false});
  samples.insert(samples.begin() + 1, {calls, 160, true});
  return samples;
}

TEST(CallTimes, LeaveOutWhatLiesBesideOthers) { EXPECT_EQ(time_of(disturbed(HN_MANY_TIMED, 3 * HN_MANY_TIMED)), 100); }

TEST(CallTimes, TakeAllWhereTooFewCallsWereAlone) {
  EXPECT_DOUBLE_EQ(time_of(disturbed(HN_MANY_TIMED, 4 * HN_MANY_TIMED)), (100 + 4 * 160) / 5.0);
}

TEST(CallTimes, TakeAllWhereTooFewSamplesWereAlone) {
  EXPECT_EQ(time_of(disturbed(HN_MANY_TIMED - 1, HN_MANY_TIMED - 1)), 130);
  // a long first call counts, whoever was there at its end
  EXPECT_EQ(time_of({{1, 1000, true}, {1, 100, false}, {1, 100, false}, {1, 100, false}}), 325);
}

TEST(CallTimes, OfSamplesThatWereAllDisturbedAreTheirMean) { EXPECT_EQ(time_of({{1, 160, true}, {1, 180, true}}), 170); }

TEST(CallTimes, BoundASampleByWhatAQuarterOfTheCallsExceeds) {
  EXPECT_EQ(time_of({{3, 10, false}, {1, 100'000, false}}), (3 * 10 + 160) / 4.0);
}

}  // namespace
}  // namespace homenode
