// Scans of slow memory: Linux's task_numa_work with numa_balancing=2, which unmaps pages that are not on top nodes and notes when. Slow
// memory's faults do not count for the periods of threads (task_numa_fault), so these stay as short as task_scan_min has them: the
// shortest period over the scans that see all resident pages, and no more than 2560 MiB a second.
//
// Assumed: any thread of the program scans when a scan is due; since 6.4 Linux leaves mappings out that the thread has not touched lately.
#pragma once

#include <optional>
#include <vector>

#include "models/placement/memory_tiers.hpp"
#include "sim/base/parameters.hpp"
#include "sim/policy/page_placement.hpp"

namespace homenode {

struct ScanSettings {
  Time delay = Time::from_seconds(1), shortest_period = Time::from_seconds(1);
  Bytes size{std::int64_t{256} << 20};  // of the pages that one scan unmaps
};

class SlowScan {
public:
  explicit SlowScan(const ScanSettings& settings) : settings_{settings}, next_{settings.delay} {}

  Time next() const { return next_; }
  void run(Time now, const MemoryTiers&, PageActions&);
  // When the page was unmapped, if it was: that touch is the hinting fault.
  std::optional<Time> fault(PageNumber);
  void forget(PageNumber page) { fault(page); }  // a new page has this number

private:
  Time period(const PageActions&) const;

  ScanSettings settings_;
  Time next_;
  PageNumber offset_;
  std::vector<std::optional<Time>> unmapped_;  // by page
};

// Parameters of placements that scan, and what they were set to.
std::vector<ParameterSpec> scan_parameters();
ScanSettings scan_settings(const Parameters&);

}  // namespace homenode
