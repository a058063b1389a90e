// A run of which every moment is accounted for: what every scenario runs by.
#pragma once

#include <gtest/gtest.h>

#include "models/run/run.hpp"

namespace homenode::test {

// Exclusive times of regions + fork + barrier + runtime + page work + waiting = the run's time, to the picosecond. No region has more for
// itself than the run's time.
inline void expect_accounted(const RunReport& report) {
  const Overheads& other = report.overheads;
  Time sum = other.fork + other.barrier + other.runtime + other.page_work + other.waiting;
  for (const RegionReport& region : report.regions) {
    EXPECT_GE(region.exclusive, Time{}) << region.label;
    EXPECT_LE(region.exclusive, report.time) << region.label;
    sum += region.exclusive;
  }
  EXPECT_EQ(sum, report.time);
}

inline RunReport accounted_run(const Workload& workload, const Machine& machine, const RunSpec& spec, const RunExtras& extras = {}) {
  RunReport report = run(workload, machine, spec, extras);
  expect_accounted(report);
  return report;
}

}  // namespace homenode::test
