// What time went to: of each thread, core and region, and, for the timeline, what each thread did and waited for.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/loop/time_shares.hpp"
#include "sim/program/workload.hpp"
#include "sim/report/report.hpp"
#include "sim/report/timeline.hpp"

namespace homenode {

struct Thread;

class TimeAccounts {
public:
  struct Size {
    std::size_t threads = 0, cores = 0;
  };
  // `spin`: how long a thread spins before it sleeps; zero: the mapping says nothing of it. The timeline may be null. Workload and
  // timeline must outlive the accounts.
  TimeAccounts(const Workload&, Size, Time spin, Timeline*);

  // The thread was busy on the core, with these iterations or, where `items` is empty, for this execution.
  void busy(ThreadActivity, ThreadId, CoreId, const ItemRange& items, Time from, Time to);

  // The thread is awake without work, until it has some: on the core that it has then.
  void start_spinning(ThreadId thread, Time now) { of(thread).spins_since = now; }
  void stop_spinning(ThreadId, CoreId, Time now);

  TimeShares& shares() { return shares_; }
  const TimeShares& shares() const { return shares_; }

  // For the timeline; without one, nothing. A wait that has begun goes on as what it began as. `count`: none begins.
  void start_waiting(ThreadId, ThreadActivity, Time now);
  void stop_waiting(ThreadId, ExecutionId, Time end);

  Time busy_of(ThreadId thread) const { return threads_[thread.index()].busy; }
  const std::vector<Time>& busy_of_region(std::size_t region) const { return region_busy_[region]; }  // by thread
  // Of all threads, parts of busy that no memory model sees.
  Time heap_calls_of_region(std::size_t region) const { return region_heap_calls_[region]; }
  Time runtime_of_region(std::size_t region) const { return region_runtime_[region]; }
  // Busy and spinning, of a run that ends then. A core on which somebody works while another thread of it waits does not spin.
  std::vector<CoreUse> core_use(Time end) const;

private:
  struct ThreadAccount {
    Time busy;
    std::optional<Time> spins_since;
    ThreadActivity waits_for = ThreadActivity::count;  // since waits_since; count: for nothing
    Time waits_since;
  };
  ThreadAccount& of(ThreadId thread) { return threads_[thread.index()]; }
  void record(ThreadActivity, ThreadId, const ItemRange&, Time from, Time to);

  const Workload& workload_;
  Timeline* timeline_;
  Time longest_spin_;
  std::vector<ThreadAccount> threads_;
  std::vector<CoreUse> cores_;
  std::vector<std::vector<Time>> region_busy_;  // by region, by thread
  std::vector<Time> region_heap_calls_, region_runtime_;
  TimeShares shares_;
};

// What a thread that has nothing to do waits for; count: for nothing. `running`: the pattern of the iteration that it has in hand, null
// if it has none.
ThreadActivity cause_of_wait(const Thread&, const ItemPattern* running);

}  // namespace homenode
