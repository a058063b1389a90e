#include "sim/loop/time_accounts.hpp"

#include <algorithm>
#include <utility>

#include "sim/loop/threads.hpp"

namespace homenode {
namespace {

constexpr Time blocktime = Time::picoseconds(200'000'000'000);  // KMP_BLOCKTIME, 200 ms; of a mapping that says nothing

}  // namespace

TimeAccounts::TimeAccounts(const Workload& workload, Size size, Time spin, Timeline* timeline)
    : workload_{workload},
      timeline_{timeline},
      longest_spin_{spin > Time{} ? spin : blocktime},
      threads_(size.threads),
      cores_(size.cores),
      region_busy_(workload.regions.size(), std::vector<Time>(size.threads)),
      region_heap_calls_(workload.regions.size()),
      region_runtime_(workload.regions.size()),
      shares_{workload.regions.size(), size.threads} {}

void TimeAccounts::busy(ThreadActivity doing, ThreadId thread, CoreId core, const ItemRange& items, Time from, Time to) {
  const Time time = to - from;
  of(thread).busy += time;
  cores_[core.index()].busy += time;
  const std::size_t region = workload_.executions[items.execution.index()].region.index();
  region_busy_[region][thread.index()] += time;
  if (doing == ThreadActivity::heap_call) region_heap_calls_[region] += time;
  if (doing == ThreadActivity::runtime) region_runtime_[region] += time;
  record(doing, thread, items, from, to);
}

void TimeAccounts::stop_spinning(ThreadId thread, CoreId core, Time now) {
  if (!of(thread).spins_since) return;
  cores_[core.index()].spinning += std::min(now - *std::exchange(of(thread).spins_since, std::nullopt), longest_spin_);
}

void TimeAccounts::start_waiting(ThreadId thread, ThreadActivity what, Time now) {
  ThreadAccount& account = of(thread);
  if (timeline_ == nullptr || account.waits_for != ThreadActivity::count) return;
  account.waits_for = what;
  account.waits_since = now;
}

void TimeAccounts::stop_waiting(ThreadId thread, ExecutionId execution, Time end) {
  ThreadAccount& account = of(thread);
  if (account.waits_for == ThreadActivity::count) return;
  record(std::exchange(account.waits_for, ThreadActivity::count), thread, {execution, 0, 0}, account.waits_since, end);
}

void TimeAccounts::record(ThreadActivity doing, ThreadId thread, const ItemRange& items, Time from, Time to) {
  if (timeline_ != nullptr) timeline_->record(doing, thread, workload_, items, from, to);
}

std::vector<CoreUse> TimeAccounts::core_use(Time end) const {
  std::vector<CoreUse> cores = cores_;
  for (CoreUse& use : cores) use.spinning = std::max(Time{}, std::min(use.spinning, end - use.busy));
  return cores;
}

ThreadActivity cause_of_wait(const Thread& thread, const ItemPattern* running) {
  if (running == nullptr) {
    return thread.role == TeamRole::at_barrier ? ThreadActivity::barrier
           : thread.role == TeamRole::member   ? ThreadActivity::items
                                               : ThreadActivity::count;
  }
  if (thread.sync_events == running->sync_events.size()) return ThreadActivity::count;
  switch (running->sync_events[thread.sync_events].operation) {
    case SyncOperation::wait:
    case SyncOperation::atomic_wait: return ThreadActivity::signal;
    case SyncOperation::barrier: return ThreadActivity::barrier;
    case SyncOperation::join: return ThreadActivity::join;
    case SyncOperation::ordered_enter: return ThreadActivity::turn;
    case SyncOperation::task_submit:
    case SyncOperation::task_wait:
    case SyncOperation::task_group_end: return ThreadActivity::tasks;
    default: return ThreadActivity::lock;
  }
}

}  // namespace homenode
