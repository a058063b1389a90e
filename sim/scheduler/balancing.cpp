// Which core a thread gets at its creation and when it wakes, and which threads go over to other cores: after Linux's
// find_idlest_group, wake_affine, select_idle_sibling, load_balance and newidle_balance.
#include <algorithm>
#include <optional>

#include "sim/scheduler/scheduler.hpp"

namespace homenode {

namespace {

// What find_idlest_group knows of a group.
struct Group {
  double load = 0;  // threads a core
  std::size_t cores = 0, idle = 0, running = 0;
  CoreId usable = CoreId::none();  // the first that the thread may run on

  // As group_classify has it: 0 cores are left, 1 each has a thread, 2 one has more.
  int busy() const { return running < cores ? 0 : running == cores ? 1 : 2; }
};

// Linux before 5.5: the creator's own group, unless another has less load by half the imbalance.
bool leaves_by_load(const Group& own, const Group& there, double imbalance) { return own.load > (1 + (imbalance - 1) / 2) * there.load; }

// Since 5.5 (57abff067a08): the group that is less busy; of two with cores left the one with more of them, but for a few threads, which
// stay on their creator's node (adjust_numa_imbalance: 2 cores, while it has no more threads than an eighth of its cores).
bool leaves_by_idle_cores(const Group& own, const Group& there, double imbalance) {
  if (own.busy() != there.busy()) return own.busy() > there.busy();
  if (own.busy() > 0) return own.load > imbalance * there.load;
  constexpr std::size_t few = 2, share = 8;
  const bool allowed = own.running + 1 <= std::max<std::size_t>(1, own.cores / share) && there.idle <= own.idle + few;
  return !allowed && there.idle > own.idle;
}

}  // namespace

// From the widest domain down: the creator's own group, or another; then an idle core of it. Which of several idle ones is the seed's
// choice: Linux takes the one that fell idle last.
CoreId Scheduler::for_new(const Thread& thread, CoreId creator, const std::vector<unsigned>& load) {
  const bool by_idle = settings_.new_by_idle_cores > 0;
  const auto less = [by_idle](const Group& one, const Group& other) {
    if (!by_idle) return one.load < other.load;
    if (one.busy() != other.busy()) return one.busy() < other.busy();
    return one.busy() == 0 ? one.idle > other.idle : one.load < other.load;
  };
  CoreId here = creator;
  for (std::size_t level = domains_.levels(); level-- > 1;) {
    std::optional<Group> own, there;
    for (const SchedulingDomains::Cores& cores : domains_.groups(level, here)) {
      Group group;
      for (const CoreId core : cores) {
        group.running += load[core.index()];
        if (load[core.index()] == 0) ++group.idle;
        if (group.usable.is_none() && may_run(thread, core)) group.usable = core;
      }
      if (group.usable.is_none()) continue;
      group.cores = cores.size();
      group.load = static_cast<double>(group.running) / static_cast<double>(group.cores);
      if (std::find(cores.begin(), cores.end(), here) != cores.end())
        own = group;
      else if (!there || less(group, *there))
        there = group;
    }
    const auto leaves = by_idle ? &leaves_by_idle_cores : &leaves_by_load;
    if (there && (!own || leaves(*own, *there, settings_.imbalance))) here = there->usable;
  }
  std::vector<CoreId> best;
  for (const CoreId core : domains_.domain(0, here)) {
    if (!may_run(thread, core)) continue;
    if (!best.empty() && load[core.index()] > load[best.front().index()]) continue;
    if (!best.empty() && load[core.index()] < load[best.front().index()]) best.clear();
    best.push_back(core);
  }
  if (best.empty()) return thread.allowed.front();
  return best.size() == 1 ? best.front() : best[random_() % best.size()];
}

CoreId Scheduler::for_woken(ThreadId id, ThreadId waker, Time now) {
  const Thread& thread = of(id);
  if (thread.allowed.size() == 1 || idle(thread.core, now)) return thread.core;
  CoreId target = thread.core;
  if (!waker.is_none() && may_run(thread, core_of(waker))) {
    const double there = static_cast<double>(running(core_of(waker), now) + 1), here = static_cast<double>(running(thread.core, now));
    if (there <= here * (1 + (settings_.imbalance - 1) / 2)) target = core_of(waker);  // wake_affine
  }
  if (idle(target, now)) return target;
  const SchedulingDomains::Cores& near = domains_.domain(0, target);
  const auto own = static_cast<std::size_t>(std::find(near.begin(), near.end(), target) - near.begin());
  for (std::size_t i = 1; i < near.size(); ++i) {
    const CoreId core = near[(own + i) % near.size()];
    if (may_run(thread, core) && idle(core, now)) return core;
  }
  return target;
}

// Of a core's queue, from its end: a thread that may go there and, at first, has nothing left in the caches.
ThreadId Scheduler::to_pull(CoreId from, CoreId to, bool even_hot, Time now) const {
  const std::vector<ThreadId>& queue = cores_[from.index()].queue;
  for (auto id = queue.rbegin(); id != queue.rend(); ++id) {
    const Thread& thread = threads_[id->index()];
    if (may_run(thread, to) && (even_hot || !thread.ran || now - thread.last_ran >= settings_.cache_hot)) return *id;
  }
  return ThreadId::none();
}

double Scheduler::load(const SchedulingDomains::Cores& cores, Time now) {
  std::size_t sum = 0;
  for (const CoreId core : cores) sum += running(core, now);
  return static_cast<double>(sum) / static_cast<double>(cores.size());
}

std::size_t Scheduler::idle_cores(const SchedulingDomains::Cores& cores, Time now) {
  return static_cast<std::size_t>(std::count_if(cores.begin(), cores.end(), [&](CoreId core) { return idle(core, now); }));
}

// get_sd_balance_interval
Time Scheduler::balance_interval(CoreId core, std::size_t level, bool is_idle) const {
  const auto width = static_cast<double>(domains_.domain(level, core).size());
  return Time::from_seconds(settings_.balance_interval.seconds() * width * (is_idle ? 1 : settings_.busy_factor));
}

// At a tick with somebody queued: each core whose interval is over looks at its domains, from near to far.
void Scheduler::balance(Time now) {
  for (std::size_t c = 0; c < cores_.size(); ++c) {
    const CoreId core{c};
    for (std::size_t level = 0; level < domains_.levels(); ++level) {
      const bool is_idle = idle(core, now);
      Time& last = of(core).last_balance[level];
      if (now - last < balance_interval(core, level, is_idle)) continue;
      last = now + up_to(balance_interval(core, level, is_idle));  // the kernel varies it between min_interval and max_interval, twice that
      balance(core, level, is_idle, now);
    }
  }
}

// load_balance: from the group with the highest load, its longest queue. Groups of single cores even out differences of one thread
// (fix_small_imbalance: a thread more there is worth a move), larger ones what goes beyond the imbalance, or what an idle core can take.
bool Scheduler::balance(CoreId here, std::size_t level, bool is_idle, Time now) {
  const std::vector<SchedulingDomains::Cores> groups = domains_.groups(level, here);
  const SchedulingDomains::Cores* busiest = nullptr;
  double most = 0;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    const double there = load(groups[g], now);
    if (there > most) {
      most = there;
      busiest = &groups[g];
    }
  }
  if (busiest == nullptr) return false;
  const double own = load(groups.front(), now);
  const bool spreads = is_idle && (most > 1 || idle_cores(groups.front(), now) > idle_cores(*busiest, now) + 1);
  const bool evens = groups.front().size() == 1 && busiest->size() == 1 ? most >= own + 1 : most > settings_.imbalance * own;
  if (!spreads && !evens) return false;
  CoreId from = busiest->front();
  for (const CoreId core : *busiest)
    if (of(core).queue.size() > of(from).queue.size()) from = core;
  unsigned& failed = of(here).failed[level];
  const unsigned tries = level + 1 == domains_.levels() && level > 0 ? 2 : 1;  // cache_nice_tries
  const ThreadId thread = to_pull(from, here, failed > tries, now);
  if (thread.is_none()) {
    if (!of(from).queue.empty()) ++failed;
    return false;
  }
  failed = 0;
  of(thread).wish = here;
  follow_wish(thread, now);
  return true;
}

// newidle_balance
bool Scheduler::pull_when_idle(CoreId here, Time now) {
  if (queued_ == 0) return false;
  for (std::size_t level = 0; level < domains_.levels(); ++level)
    if (balance(here, level, true, now)) return true;
  return false;
}

}  // namespace homenode
