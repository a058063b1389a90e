// Two reports of the same run, made in different ways: equal in every count, and in time to the picosecond.
#pragma once

#include <gtest/gtest.h>

#include "sim/report/report.hpp"

namespace homenode::test {

inline void expect_equal(const RunReport& report, const RunReport& expected) {
  EXPECT_EQ(report.time, expected.time);
  EXPECT_EQ(report.counts.traffic_bytes, expected.counts.traffic_bytes);
  EXPECT_EQ(report.counts.read_bytes, expected.counts.read_bytes);
  EXPECT_EQ(report.counts.write_bytes, expected.counts.write_bytes);
  EXPECT_EQ(report.counts.link_bytes, expected.counts.link_bytes);
  EXPECT_EQ(report.counts.hit_lines, expected.counts.hit_lines);
  EXPECT_EQ(report.counts.accesses, expected.counts.accesses);
  EXPECT_EQ(report.counts.memory_lines, expected.counts.memory_lines);
  EXPECT_EQ(report.counts.transfer_lines, expected.counts.transfer_lines);
  EXPECT_EQ(report.counts.upgrade_lines, expected.counts.upgrade_lines);
  EXPECT_EQ(report.counts.tlb_misses, expected.counts.tlb_misses);
  EXPECT_EQ(report.counts.local_bytes, expected.counts.local_bytes);
  EXPECT_EQ(report.counts.remote_bytes, expected.counts.remote_bytes);
  EXPECT_EQ(report.counts.zeroed_bytes, expected.counts.zeroed_bytes);
  EXPECT_EQ(report.counts.directory_bytes, expected.counts.directory_bytes);
  EXPECT_EQ(report.counts.side_cache_hits, expected.counts.side_cache_hits);
  EXPECT_EQ(report.counts.side_cache_misses, expected.counts.side_cache_misses);
  EXPECT_EQ(report.counts.latency_ns, expected.counts.latency_ns);
  EXPECT_EQ(report.pages_by_node, expected.pages_by_node);
  EXPECT_EQ(report.page_faults, expected.page_faults);
  ASSERT_EQ(report.threads.size(), expected.threads.size());
  for (std::size_t t = 0; t < expected.threads.size(); ++t) EXPECT_EQ(report.threads[t].busy, expected.threads[t].busy) << t;
  ASSERT_EQ(report.regions.size(), expected.regions.size());
  for (std::size_t r = 0; r < expected.regions.size(); ++r) EXPECT_EQ(report.regions[r].exclusive, expected.regions[r].exclusive) << r;
}

}  // namespace homenode::test
