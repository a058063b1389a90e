// The laws of a core's time, from made-up parts.
#include "models/engines/parts/slice_cost.hpp"

#include <gtest/gtest.h>

#include "models/engines/parts/page_work.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr double line = 64;

// A copy reads a line, reads one for ownership and writes that back: 64 / B_r + 2 x 64 / B_w.
TEST(ExchangeSeconds, AWrittenBackLineTakesOneOfTheReadsWithIt) {
  Machine machine = one_node();
  machine.read_bandwidth = Bandwidth::bytes_per_second(32e9);
  machine.write_bandwidth = Bandwidth::bytes_per_second(40e9);
  machine.nontemporal_bandwidth = Bandwidth::bytes_per_second(16e9);
  const auto seconds = [&](double reads, double writebacks, double non_temporal) {
    return exchange_seconds<double>(machine, line, {reads, writebacks, non_temporal}, std::min(reads, writebacks));
  };
  EXPECT_DOUBLE_EQ(seconds(2, 1, 0), line / 32e9 + 2 * line / 40e9);
  EXPECT_DOUBLE_EQ(seconds(1, 0, 1), line / 16e9);      // beside the read, which takes half as long
  EXPECT_DOUBLE_EQ(seconds(0, 3, 0), 3 * line / 40e9);  // read before this slice
}

TEST(ExchangeSeconds, WhatADescriptionDoesNotSayBoundsNothing) {
  Machine machine = one_node();
  EXPECT_FALSE(limits_exchange(machine));
  EXPECT_EQ(exchange_seconds<double>(machine, line, {5, 3, 2}, 3), 0);
  machine.write_bandwidth = Bandwidth::bytes_per_second(40e9);
  EXPECT_TRUE(limits_exchange(machine));
  EXPECT_DOUBLE_EQ(exchange_seconds<double>(machine, line, {5, 3, 2}, 3), 6 * line / 40e9);
}

TEST(CoreSecondsOfASlice, LoadsThatAreWaitedForAddToComputing) {
  const CoreSeconds<double> spent{.core = 5, .hits = 1, .transfers = 1, .reads = 2, .waited = 3};
  EXPECT_EQ(spent.busy(Overlap::full), 5 + 3);
  EXPECT_EQ(spent.busy(Overlap::none), 5 + 1 + 1 + 2);  // the core waits for all of them
}

TEST(CoreSecondsOfASlice, AreBoundByLatencyWhereTheCoreWaitsLongerThanItComputes) {
  const auto cause = [](double core, double hits, double reads, double waited) {
    return private_cause({.core = core, .hits = hits, .transfers = 0, .reads = reads, .waited = waited}, Overlap::full, 0);
  };
  EXPECT_EQ(cause(5, 0, 4, 4), PrivateCause::core);
  EXPECT_EQ(cause(3, 0, 4, 4), PrivateCause::latency);
  EXPECT_EQ(cause(3, 4, 0, 4), PrivateCause::cache);
  EXPECT_EQ(cause(5, 0, 7, 1), PrivateCause::latency);  // by throughput
}

TEST(FaultSeconds, AHugePagesFaultHasATimeOfItsOwn) {
  FaultCost cost;
  cost.parallel = Time::nanoseconds(500);
  EXPECT_DOUBLE_EQ(fault_seconds(cost, 10, 2, 0), 10 * 500e-9);  // nobody said: as any other
  cost.huge = Time::nanoseconds(70'000);
  EXPECT_DOUBLE_EQ(fault_seconds(cost, 10, 2, 0), 8 * 500e-9 + 2 * 70e-6);
}

TEST(FaultSeconds, AFrameThatNoCacheHoldsTakesLonger) {
  FaultCost cost;
  cost.parallel = Time::nanoseconds(500);
  EXPECT_DOUBLE_EQ(fault_seconds(cost, 10, 2, 3), 10 * 500e-9);  // nobody said
  cost.cold = Time::nanoseconds(900);
  cost.huge = Time::nanoseconds(70'000);
  EXPECT_DOUBLE_EQ(fault_seconds(cost, 10, 2, 3), 5 * 500e-9 + 2 * 70e-6 + 3 * 900e-9);
}

}  // namespace
}  // namespace homenode::test
