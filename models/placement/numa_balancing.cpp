#include "models/placement/numa_balancing.hpp"

#include <algorithm>

#include "models/placement/scan_limits.hpp"

namespace homenode {
namespace {

// mm/migrate.c up to 4.19: ratelimit_pages and migrate_interval_millisecs.
constexpr std::uint64_t rate_limit_bytes = std::uint64_t{128} << 20;
const Time rate_limit_window = Time::from_seconds(0.1);

// 3.10: a hinting fault without a migration puts off the thread's scans by 10 ticks (task_numa_fault: jiffies_to_msecs(10)), and every
// minute (sysctl_numa_balancing_scan_period_reset) a scan starts again from the shortest period.
constexpr std::int64_t ticks_without_migration = 10;
const Time reset_after = Time::from_seconds(60);

}  // namespace

NumaBalancing::NumaBalancing(const BalancingSettings& settings, std::size_t nodes)
    : settings_{settings}, threads_{settings, nodes}, next_scan_{settings.scan_delay}, migrated_(nodes), next_reset_{reset_after} {}

void NumaBalancing::forget(PageNumber page) {
  if (page.value() < last_.size()) last_[page.value()] = {};
}

bool NumaBalancing::may_scan(const Place& place) {
  if (settings_.kernel == BalancingKernel::linux_3_10) {  // nothing happens until a second node is in use: mm->first_nid
    if (first_node_.is_none()) first_node_ = place.node;
    several_nodes_ |= place.node != first_node_;
    if (!several_nodes_) return false;
  }
  if (place.now < next_scan_) return false;
  if (place.thread != last_scanner_) return true;
  last_scanner_ = ThreadId::none();
  return false;
}

Time NumaBalancing::period_to_scan(const Place& place) {
  if (settings_.kernel != BalancingKernel::linux_3_10) return threads_.period_to_scan(place.thread);
  if (periods_.size() <= place.thread.index()) periods_.resize(place.thread.index() + 1, settings_.scan_period_min);
  if (place.now > next_reset_) {
    periods_[place.thread.index()] = settings_.scan_period_min;
    next_reset_ = place.now + reset_after;
  }
  return periods_[place.thread.index()];
}

void NumaBalancing::scan(const Place& place, PageActions& actions) {
  if (!may_scan(place)) return;
  threads_.resident(resident(actions));  // the first period goes by it (task_nr_scan_windows)
  next_scan_ = place.now + period_to_scan(place);
  last_scanner_ = place.thread;
  unmap_pages(actions);
}

Bytes NumaBalancing::resident(const PageActions& actions) {
  std::uint64_t pages = 0;
  for (PageNumber page; page < PageNumber{actions.pages()}; ++page) pages += !actions.home(page).is_none();
  return Bytes{static_cast<std::int64_t>(pages * actions.page_bytes())};
}

void NumaBalancing::unmap_pages(PageActions& actions) {
  const PageNumber end{actions.pages()};
  std::uint64_t left = std::max<std::uint64_t>(static_cast<std::uint64_t>(settings_.scan_size.count()) / actions.page_bytes(), 1);
  std::uint64_t look_at = looked_at_for_unmapped * left;
  if (offset_ >= end) {
    ++passes_;
    offset_ = {};
  }
  for (; offset_ < end && left > 0 && look_at > 0; ++offset_, --look_at) left -= actions.unmap(offset_);
  if (offset_ == end) {
    ++passes_;
    offset_ = {};
  }
}

bool NumaBalancing::misplaced(const Place& place, NodeId home, const LastTouch& last) const {
  if (settings_.kernel != BalancingKernel::linux_3_10) return threads_.moves_page(place, home, last) && home != place.node;
  return !last.thread.is_none() && last.node == place.node && home != place.node;
}

bool NumaBalancing::over_rate_limit(NodeId to, Time now, std::uint64_t page_bytes) {
  if (settings_.kernel == BalancingKernel::linux_6_1) return false;
  Window& window = migrated_[to.index()];
  if (now > window.end) window = {now + rate_limit_window, 0};
  if (window.bytes > rate_limit_bytes) return true;
  window.bytes += page_bytes;
  return false;
}

void NumaBalancing::fault(const Place& place, std::span<const PageUse> uses, PageActions& actions) {
  if (last_.size() < actions.pages()) last_.resize(actions.pages());
  for (const PageUse& use : uses) {
    const LastTouch last = last_[use.page.value()];
    const bool migrates = misplaced(place, use.home, last);
    last_[use.page.value()] = {place.thread, place.node};
    const bool failed = migrates && over_rate_limit(place.node, place.now, actions.page_bytes());
    const bool migrated = migrates && !failed;
    if (migrated) actions.migrate(use.page, place.node);
    if (settings_.kernel == BalancingKernel::linux_3_10) {
      lengthen_period(place.thread, migrated);
      continue;
    }
    const NodeId home = migrated ? place.node : use.home;
    if (const auto next = threads_.fault({place, home, use.home == place.node, failed, last}, passes_, actions)) next_scan_ = *next;
  }
}

void NumaBalancing::lengthen_period(ThreadId thread, bool migrated) {
  if (periods_.size() <= thread.index()) periods_.resize(thread.index() + 1, settings_.scan_period_min);
  Time& period = periods_[thread.index()];
  if (!migrated) period = std::min(settings_.scan_period_max, period + settings_.tick * ticks_without_migration);
}

}  // namespace homenode
