#include "models/placement/slow_scan.hpp"

#include <algorithm>
#include <utility>

#include "models/placement/scan_limits.hpp"

namespace homenode {
Time SlowScan::period(const PageActions& actions) const {
  std::uint64_t resident = 0;
  for (PageNumber page; page < PageNumber{actions.pages()}; ++page) resident += !actions.home(page).is_none();
  const std::int64_t bytes = static_cast<std::int64_t>(resident * actions.page_bytes()), size = settings_.size.count();
  const std::int64_t windows = std::max<std::int64_t>((bytes + size - 1) / size, 1);
  const std::int64_t scans_a_second = std::max<std::int64_t>(most_scanned_a_second / size, 1);
  return std::max(Time::from_seconds(1 / static_cast<double>(scans_a_second)),
                  Time::picoseconds(settings_.shortest_period.count() / windows));
}

void SlowScan::run(Time now, const MemoryTiers& tiers, PageActions& actions) {
  next_ = now + period(actions);
  unmapped_.resize(std::max<std::size_t>(unmapped_.size(), actions.pages()));
  std::uint64_t left = std::max<std::uint64_t>(static_cast<std::uint64_t>(settings_.size.count()) / actions.page_bytes(), 1);
  std::uint64_t look_at = looked_at_for_unmapped * left;
  if (offset_.value() >= actions.pages()) offset_ = {};
  for (; offset_.value() < actions.pages() && left > 0 && look_at > 0; ++offset_, --look_at) {
    const NodeId home = actions.home(offset_);
    if (home.is_none() || tiers.is_top(home) || !actions.unmap(offset_)) continue;
    unmapped_[offset_.value()] = now;
    --left;
  }
}

std::optional<Time> SlowScan::fault(PageNumber page) {
  return page.value() < unmapped_.size() ? std::exchange(unmapped_[page.value()], std::nullopt) : std::nullopt;
}

std::vector<ParameterSpec> scan_parameters() {
  const ScanSettings usual;
  return {time_parameter("scan_delay", "simulated time until the first scan", usual.delay),
          time_parameter("scan_period_min", "time between two scans that each see all pages", usual.shortest_period),
          bytes_parameter("scan_size", "memory that one scan unmaps", usual.size, Bytes{4096})};
}

ScanSettings scan_settings(const Parameters& parameters) {
  return {parameters.time("scan_delay"), parameters.time("scan_period_min"), parameters.bytes("scan_size")};
}

}  // namespace homenode
