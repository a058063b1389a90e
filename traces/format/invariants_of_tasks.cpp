#include "traces/format/invariants_of_tasks.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/program/task_operations.hpp"

namespace homenode {
namespace {

// Of one construct, so that a number in a file does not decide how much memory is taken and how long it takes.
constexpr std::int64_t most_tasks = std::int64_t{1} << 26;

bool has_task_events(const ItemPattern& pattern) {
  return std::any_of(pattern.sync_events.begin(), pattern.sync_events.end(), is_of_tasks);
}

std::vector<SyncEvent> submits_in(const ItemPattern& pattern) {
  std::vector<SyncEvent> submits;
  for (const SyncEvent& event : pattern.sync_events)
    if (event.operation == SyncOperation::task_submit) submits.push_back(event);
  return submits;
}

class TaskChecker {
public:
  explicit TaskChecker(const Workload& workload) : workload_{workload} {}

  std::vector<std::string> run() {
    bool any = false;
    for (std::size_t p = 0; p < workload_.patterns.size(); ++p) {
      has_events_.push_back(has_task_events(workload_.patterns[p]));
      submits_.push_back(submits_in(workload_.patterns[p]));
      any |= has_events_.back();
      if (has_events_.back()) check_pattern(p);
    }
    if (!any && std::none_of(workload_.regions.begin(), workload_.regions.end(),
                             [](const Region& region) { return region.kind == RegionKind::task; }))
      return {};
    for (std::size_t e = 0; e < workload_.executions.size();) {
      std::size_t end = e + 1;
      const std::uint32_t parallel = workload_.executions[e].parallel;
      while (parallel != 0 && end < workload_.executions.size() && workload_.executions[end].parallel == parallel) ++end;
      check_construct(e, end);
      e = end;
    }
    return std::move(problems_);
  }

private:
  struct Item {
    std::size_t execution;
    std::int64_t iteration;
    std::size_t place = 0;  // of a task's execution among those of its construct
  };
  void report(const std::string& what, std::size_t number, const std::string& text) {
    if (problems_.size() < most_problems) problems_.push_back(what + " " + std::to_string(number) + ": " + text);
  }
  bool is_tasks(std::size_t e) const {
    const RegionId region = workload_.executions[e].region;
    return region.index() < workload_.regions.size() && workload_.regions[region.index()].kind == RegionKind::task;
  }

  void check_pattern(std::size_t number) {
    bool announced = false;
    std::uint64_t open = 0, last = 0;
    for (const SyncEvent& event : workload_.patterns[number].sync_events) {
      if (event.sequence < last) report("pattern", number, "synchronisation is not in order of its sequence numbers");
      last = event.sequence;
      if (event.operation == SyncOperation::depend) announced = true;
      if (event.operation == SyncOperation::task_submit || (event.operation == SyncOperation::task_wait && event.match == 1))
        announced = false;
      if (event.operation == SyncOperation::task_group_begin) ++open;
      if (event.operation == SyncOperation::task_group_end && open-- == 0) {
        report("pattern", number, "ends a group of tasks that it did not begin");
        return;
      }
    }
    if (!workload_.complete) return;
    if (announced) report("pattern", number, "names a dependence that no task and no wait follows");
    if (open > 0) report("pattern", number, "begins a group of tasks that it does not end");
  }

  // Executions [first, last) are one construct, or one execution of no construct.
  void check_construct(std::size_t first, std::size_t last) {
    tasks_.clear();
    bodies_.clear();
    created_.clear();
    open_.clear();
    std::uint64_t tasks = 0;
    for (std::size_t e = first; e < last; ++e) {
      if (!is_tasks(e)) continue;
      tasks += static_cast<std::uint64_t>(std::clamp<std::int64_t>(workload_.executions[e].iterations, 0, most_tasks + 1));
      if (tasks > most_tasks) {
        report("execution", e, "brings its construct to more than " + std::to_string(most_tasks) + " tasks");
        return;
      }
      if (workload_.executions[e].parallel == 0) report("execution", e, "consists of tasks that belong to no parallel construct");
      tasks_.push_back(e);
      bodies_.push_back(workload_.body(ExecutionId{e}));
      created_.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(workload_.executions[e].iterations, 0)), false);
    }
    for (std::size_t e = first; e < last; ++e) {
      if (is_tasks(e)) continue;
      const auto body = workload_.body(ExecutionId{e});
      for (const ItemBlock& block : body->blocks) {
        if (!with_events(block)) continue;
        if (workload_.executions[e].parallel == 0) {
          report("execution", e, "has events of tasks outside of a parallel construct");
          return;
        }
        if (submits_of(block).empty()) continue;
        // Each step creates a task that was not there, or is the last: there are at most `most_tasks`.
        for (std::int64_t iteration = block.first; iteration < block.last && follow(block, {e, iteration}); ++iteration) {}
      }
    }
    while (!open_.empty()) {
      const Item item = open_.back();
      open_.pop_back();
      const std::vector<ItemBlock>& blocks = bodies_[item.place]->blocks;
      auto block = std::upper_bound(blocks.begin(), blocks.end(), item.iteration,
                                    [](std::int64_t iteration, const ItemBlock& b) { return iteration < b.first; });
      if (block == blocks.begin() || item.iteration >= (--block)->last) continue;
      if (with_events(*block)) follow(*block, item);
    }
    for (std::size_t place = 0; place < tasks_.size(); ++place) {
      const auto missing = std::find(created_[place].begin(), created_[place].end(), false);
      if (missing != created_[place].end())
        report("execution", tasks_[place], "task " + std::to_string(missing - created_[place].begin()) + " is created by nobody");
    }
  }

  bool with_events(const ItemBlock& block) const {
    return block.pattern.index() < has_events_.size() && has_events_[block.pattern.index()];
  }

  const std::vector<SyncEvent>& submits_of(const ItemBlock& block) const { return submits_[block.pattern.index()]; }

  // The tasks that an item creates; false when something is wrong with one.
  bool follow(const ItemBlock& block, const Item& item) {
    for (const SyncEvent& event : submits_of(block)) {
      if (workload_.executions[item.execution].binding == Binding::replicated) {
        report("execution", item.execution, "creates tasks, and is done by every thread of the team");
        return false;
      }
      if (event.object >= tasks_.size()) {
        report("execution", item.execution,
               "creates a task of execution " + std::to_string(event.object) + " of tasks in a construct that has " +
                   std::to_string(tasks_.size()));
        return false;
      }
      const auto iteration = static_cast<std::int64_t>(static_cast<std::uint64_t>(item.iteration) + event.match);
      std::vector<bool>& created = created_[event.object];
      const std::string task = "task " + std::to_string(iteration) + " of execution " + std::to_string(tasks_[event.object]);
      if (iteration < 0 || static_cast<std::size_t>(iteration) >= created.size()) {
        report("execution", item.execution, "creates " + task + ", which has " + std::to_string(created.size()));
        return false;
      }
      if (created[static_cast<std::size_t>(iteration)]) {
        report("execution", item.execution, "creates " + task + " again");
        return false;
      }
      created[static_cast<std::size_t>(iteration)] = true;
      open_.push_back({tasks_[event.object], iteration, event.object});
    }
    return true;
  }

  const Workload& workload_;
  std::vector<std::string> problems_;
  std::vector<bool> has_events_;                              // by pattern
  std::vector<std::vector<SyncEvent>> submits_;               // by pattern: the events that create a task
  std::vector<std::size_t> tasks_;                            // executions of tasks in the construct
  std::vector<std::shared_ptr<const ExecutionBody>> bodies_;  // theirs
  std::vector<std::vector<bool>> created_;                    // theirs, by iteration
  std::vector<Item> open_;                                    // tasks whose own events are still to be followed
};

}  // namespace

std::vector<std::string> broken_invariants_of_tasks(const Workload& workload) { return TaskChecker{workload}.run(); }

}  // namespace homenode
